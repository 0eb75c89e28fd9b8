"""Runs that still go on in other threads when the program ends: queue runners, a server's calls, threads of one's own.

Python takes the ground from under them: a thread that comes back from a kernel in C++ after that aborts the process. So
they are ended first. No step looks whether it should; an exception is put into each thread that is in a run, and it is
waited for until it is out of its kernel.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import sys
import threading
import time
import traceback
from types import FrameType

# How long an ending program waits for kernels, in seconds, and how long between two looks.
_PATIENCE = 10.0
_PAUSE = 0.002

_PACKAGE = __name__.split(".")[0]
# Whose functions are on the stack of a thread that is in a run, besides those of its plan.
_RUNNING = tuple(f"{_PACKAGE}.{floor}." for floor in ("kernels", "runtime", "native"))
# Where a thread waits without a kernel around it: for a queue's next element, for another thread.
_WAITING = ("threading", "queue", "selectors", "socket")


def _module_of(frame: FrameType) -> str:
    return frame.f_globals.get("__name__", "")


def _is_of_run(frame: FrameType) -> bool:
    """Whether a run is what this frame is about; not the loop of a thread that waits for something to do."""
    if not frame.f_code.co_filename.startswith("<plan ") and not _module_of(frame).startswith(_RUNNING):
        return False
    return frame.f_back is None or _module_of(frame.f_back) != "threading"


def _may_be_in_kernel(stack: list[FrameType]) -> bool:
    """Not where it waits, nor where the program's own functions are called (`tf.py_func`) and take their time."""
    if _module_of(stack[0]) in _WAITING:
        return False
    return not any(_module_of(frame) == f"{_PACKAGE}.kernels.script" for frame in stack)


def _in_runs() -> dict[int, list[FrameType]]:
    """The threads that are in runs, without this one, and their stacks from the innermost frame."""
    found = {}
    for thread, frame in sys._current_frames().items():
        stack = [frame, *(caller for caller, _ in traceback.walk_stack(frame.f_back))]
        if thread != threading.get_ident() and any(map(_is_of_run, stack)):
            found[thread] = stack
    return found


@functools.cache
def end_runs_first() -> None:
    """From now on a program that ends ends the runs of its other threads before."""
    atexit.register(_end_runs)


def _end_runs() -> None:
    told: set[int] = set()
    end = time.monotonic() + _PATIENCE
    while threads := _in_runs():
        for thread in threads.keys() - told:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(SystemExit))
        told = set(threads)  # one that is out and in again, because it took no exception to heart, is told again
        if not any(map(_may_be_in_kernel, threads.values())) or time.monotonic() > end:
            break
        del threads  # the frames hold their values
        time.sleep(_PAUSE)
