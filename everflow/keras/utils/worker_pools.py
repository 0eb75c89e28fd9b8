"""Threads that do jobs, each itself or by a process of its own.

Every process has a pipe that nobody else reads or writes. A pool in which processes share queues, as Python's own, can
wait for ever for a lock of a process that was ended while it held it.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.pool
import queue
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from multiprocessing.connection import Connection

# Pools of processes that may still run.
running_pools: weakref.WeakSet[Processes] = weakref.WeakSet()

_Job = tuple[Future, Callable, tuple]


class Threads:
    """So many threads, which take jobs in the order of `submit`."""

    def __init__(self, count: int):
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._work, args=(i,), daemon=True) for i in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable, *args) -> Future:
        """What will have the result of a call."""
        job: Future = Future()
        self._jobs.put((job, function, args))
        return job

    def _work(self, number: int) -> None:
        while (taken := self._jobs.get()) is not None:
            job, function, args = taken
            if not job.set_running_or_notify_cancel():
                continue
            try:
                job.set_result(self._result(number, function, args))
            except BaseException as error:
                job.set_exception(error)

    def _result(self, number: int, function: Callable, args: tuple) -> object:
        return function(*args)

    def _dismiss(self) -> None:
        for _ in self._threads:
            self._jobs.put(None)

    def close(self) -> None:
        """Let the threads end when all jobs are done, and wait for that."""
        self._dismiss()
        for thread in self._threads:
            thread.join()

    def terminate(self) -> None:
        """Give up the jobs that nobody has begun."""
        try:
            while True:
                taken = self._jobs.get_nowait()
                if taken is not None:
                    taken[0].cancel()
        except queue.Empty:
            self._dismiss()


class Processes(Threads):
    """So many processes, each of which calls `begin` first."""

    def __init__(self, count: int, begin: Callable[[], None]):
        self.processes: list[multiprocessing.Process] = []
        self._pipes: list[Connection] = []
        for _ in range(count):
            ours, theirs = multiprocessing.Pipe()
            process = multiprocessing.Process(target=_serve, args=(theirs, begin), daemon=True)
            process.start()
            theirs.close()  # So that we notice when the process is no more.
            self.processes.append(process)
            self._pipes.append(ours)
        running_pools.add(self)
        super().__init__(count)

    def _result(self, number, function, args):
        try:
            self._pipes[number].send((function, args))
            is_good, result = self._pipes[number].recv()
        except (EOFError, OSError):
            raise CancelledError("The process that worked on this batch was ended.") from None
        if is_good:
            return result
        raise result

    def close(self):
        super().close()
        for pipe, process in zip(self._pipes, self.processes):
            pipe.close()
            process.terminate()  # It only waits; pipes that later processes know of don't end for it.
            process.join()

    def terminate(self):
        """Give up all jobs, and end the processes."""
        super().terminate()
        for process in self.processes:
            process.terminate()


def _serve(pipe: Connection, begin: Callable[[], None]) -> None:
    """What a process does: calls one after the other, as they come."""
    begin()
    while True:
        try:
            function, args = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send((True, function(*args)))
        except Exception as error:
            _send_error(pipe, error)


def _send_error(pipe: Connection, error: Exception) -> None:
    try:
        pipe.send((False, multiprocessing.pool.ExceptionWithTraceback(error, error.__traceback__)))
    except Exception:  # an error that can't be pickled is told in words
        pipe.send((False, RuntimeError(f"{type(error).__name__}: {error}")))
