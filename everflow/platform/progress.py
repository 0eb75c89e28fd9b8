"""How far long work has come: one line on a terminal, or a bar in a notebook, that appears after a second and goes when the
work is done. Nothing of it is written where nobody looks: into pipes and files.

The line lies below the cursor and is wiped before the program prints, so that it never mixes with what is printed.
`EVERFLOW_PROGRESS=off` has none at all.
"""

from __future__ import annotations

import atexit
import html
import os
import shutil
import sys
import threading
import time
from types import TracebackType
from typing import Any, TextIO

from everflow.framework.forking import renewed

_DELAY = 1.0  # seconds before anything is shown: what takes less needs no bar
_PAUSE = 0.2  # seconds between two drawings
_lock = renewed(threading.RLock())  # programs print from several threads, and a print wipes the line
_works: list[int] = []  # ids of what is under way, the latest last: it is the one that is shown


class Work:
    """Something that takes a while. `with Work("Saving a.ckpt", total=10, unit="bytes") as work: work.advance(3)`.

    Args:
        what: What is done, as in "Training".
        total: How many units there are; None where nobody knows.
        unit: What is counted; "bytes" are shown as MB.
        done: How many were there at the beginning.
    """

    def __init__(self, what: str, total: int | None = None, unit: str = "steps", done: int = 0) -> None:
        self.what, self.total, self.unit, self.done = what, total, unit, done
        self.notes: list[str] = []
        self._begin, self._first = time.monotonic(), done
        self._next = self._begin + _DELAY
        self._surface: _Terminal | _Notebook | None = None

    def __enter__(self) -> Work:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, frames: TracebackType | None) -> None:
        self.close()

    def advance(self, units: int = 1, **values: Any) -> None:
        """So many more units are done; values are shown behind, as in "loss = 0.5"."""
        self.done += units
        if time.monotonic() >= self._next:
            self.notes = [f"{name} = {value}" for name, value in values.items()]
            self._draw()

    def close(self) -> None:
        """It is done, or will never be."""
        self._next = float("inf")
        with _lock:
            if self._surface is not None:
                _works.remove(id(self))
                self._surface.leave(self)
                self._surface = None

    def __del__(self) -> None:
        if self._surface is not None:  # begun and dropped, such as the iteration of a dataset
            self.close()

    def text(self) -> str:
        """The line."""
        seconds = time.monotonic() - self._begin
        rate = (self.done - self._first) / seconds if seconds else 0.0
        parts = [f"{self.what}: {self._counted()}", *self.notes]
        parts.append(f"{rate / 1e6:.0f} MB/s" if self.unit == "bytes" else f"{rate:.3g} {self.unit}/s")
        if self.total is not None and rate and self.total > self.done:
            parts.append(f"{_duration((self.total - self.done) / rate)} left")
        return ", ".join(parts)

    def _counted(self) -> str:
        if self.unit == "bytes":
            of = "" if self.total is None else f" of {self.total / 1e6:,.0f}"
            return f"{self.done / 1e6:,.0f}{of} MB"
        return f"{self.done:,}{'' if self.total is None else f' of {self.total:,}'} {self.unit}"

    def _draw(self) -> None:
        with _lock:
            self._next = time.monotonic() + _PAUSE
            if self._surface is None:
                self._surface = _surface()
                if self._surface is None:
                    self._next = float("inf")
                    return
                _works.append(id(self))
            if _works[-1] == id(self):
                self._surface.show(self)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _surface() -> _Terminal | _Notebook | None:
    """Where somebody looks, if anywhere."""
    if os.environ.get("EVERFLOW_PROGRESS") == "off":
        return None
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and hasattr(shell, "kernel"):
        return _Notebook()
    stream = _real(sys.stderr)
    is_terminal = stream is not None and hasattr(stream, "isatty") and stream.isatty()
    return _terminal if is_terminal and os.environ.get("TERM", "dumb") != "dumb" else None


# --- a terminal ----------------------------------------------------------------------------------


class _Wiping:
    """A standard stream while the line is there: wipes it before something is printed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        _terminal.wipe()
        return self._stream.write(text)

    def writelines(self, lines: Any) -> None:
        _terminal.wipe()
        self._stream.writelines(lines)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _real(stream: Any) -> Any:
    return stream._stream if isinstance(stream, _Wiping) else stream


class _Terminal:
    """The line below the cursor of a terminal."""

    def __init__(self) -> None:
        self._is_shown = False
        # They stay when they are no longer standard streams: `print` of Python 3.11 doesn't hold the one it writes to.
        self._streams: dict[str, _Wiping] = {}

    def show(self, work: Work) -> None:
        text = work.text()[: shutil.get_terminal_size().columns - 1]
        # Make room below without leaving the column, remember the place, write below it, and go back.
        if self._write(f"\x1bD\x1b[A\x1b7\x1b[B\r\x1b[2K{text}\x1b8") and not self._is_shown:
            self._is_shown = True
            for name in ("stdout", "stderr"):
                if (stream := _real(getattr(sys, name))) is not None:
                    if name not in self._streams or self._streams[name]._stream is not stream:
                        self._streams[name] = _Wiping(stream)
                    setattr(sys, name, self._streams[name])

    def wipe(self) -> None:
        with _lock:
            if not self._is_shown:
                return
            self._is_shown = False
            for name in ("stdout", "stderr"):
                setattr(sys, name, _real(getattr(sys, name)))  # unless the program has put another one there
            self._write("\x1b7\x1b[B\r\x1b[2K\x1b8")

    def leave(self, work: Work) -> None:
        self.wipe()

    def _write(self, text: str) -> bool:
        stream = _real(sys.stderr)
        for other in (_real(sys.stdout), stream):
            if other is not None and not other.closed:
                other.flush()  # what was printed comes first
        if stream is None or stream.closed:
            return False
        stream.write(text)
        stream.flush()
        return True


_terminal = _Terminal()
atexit.register(_terminal.wipe)


# --- a notebook ----------------------------------------------------------------------------------


class _Notebook:
    """A bar below a cell, which stays with what was done in the end."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, work: Work, is_over: bool = False) -> None:
        text = work.text()
        value = "" if work.total is None else f' max="{work.total}" value="{work.done}"'
        bar = "" if is_over and not value else f"<progress{value}></progress> "  # without a value, it moves for ever
        shown = {"text/plain": text, "text/html": bar + html.escape(text)}
        if self._handle is None:
            display = sys.modules["IPython"].display.display  # `_surface` has seen it
            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

    def leave(self, work: Work) -> None:
        self.show(work, is_over=True)
