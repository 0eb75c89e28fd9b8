"""Event files: written from a thread of its own, so that training waits for no disk."""

from __future__ import annotations

import atexit
import os
import queue
import socket
import threading
import time
from typing import Any

from everflow.formats import records
from everflow.platform import compat, file_io, logging
from everflow.platform.gfile import GFile
from everflow.protos.event_pb2 import Event

_VERSION = "brain.Event:2"
_FLUSH, _CLOSE = object(), object()


def open_event_file(prefix: str, suffix: str = "") -> tuple[str, GFile]:
    """(path, file) of a new event file, which says what it is in its first event."""
    # The name holds only the second: a file of the same name is added to.
    path = f"{prefix}.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}{suffix}"
    file = GFile(path, "ab")
    file.write(records.encode(Event(wall_time=time.time(), file_version=_VERSION).SerializeToString()))
    return path, file


class EventFileWriter:
    """Writes Event protos to a new event file of a folder."""

    def __init__(
        self,
        logdir: Any,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str | None = None,
    ) -> None:
        self._given_logdir = logdir
        self._logdir = compat.as_str_any(compat.path_to_str(logdir))
        self._flush_secs = flush_secs
        self._suffix = filename_suffix or ""
        self._queue = queue.Queue(max_queue)
        self._closed = True
        self._last_second = 0
        if not file_io.is_directory(self._logdir):
            file_io.recursive_create_dir(self._logdir)
        self.reopen()

    def get_logdir(self) -> Any:
        return self._given_logdir

    def reopen(self) -> None:
        """Go on after `close`, in a new file, which is made when the first event comes."""
        if not self._closed:
            return
        self._closed = False
        self._path, self._next_flush = self._logdir, 0.0
        self._file: GFile | None = None  # made when the first event comes
        self._thread = threading.Thread(target=self._run, daemon=True, name=f"events to {self._logdir}")
        self._thread.start()
        # Many programs never close their writer: what they added is in the file all the same when they end.
        atexit.register(self.close)

    def add_event(self, event: Event) -> None:
        """Queue an event; dropped after `close`, as TensorFlow does."""
        if not self._closed:
            self._queue.put(event)

    def flush(self) -> None:
        """Wait until all events so far are in the file."""
        if self._closed:
            return
        done = threading.Event()
        self._queue.put((_FLUSH, done))
        done.wait()

    def close(self) -> None:
        """Write what is queued and close the file."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        done = threading.Event()
        self._queue.put((_CLOSE, done))
        done.wait()
        self._thread.join()

    def _open(self) -> GFile:
        self._path, self._file = open_event_file(os.path.join(self._logdir, "events"), self._suffix)
        return self._file

    def _write(self, event: Event) -> None:
        file = self._open() if self._file is None else self._file
        file.write(records.encode(event.SerializeToString()))
        if time.time() >= self._next_flush:
            file.flush()
            self._next_flush = time.time() + self._flush_secs

    def _run(self) -> None:
        while True:
            item = self._queue.get()
            if isinstance(item, tuple):
                kind, done = item
                if self._file is not None:
                    self._file.flush()
                    if kind is _CLOSE:
                        self._file.close()
                done.set()
                if kind is _CLOSE:
                    return
                continue
            try:
                self._write(item)
            except OSError as e:
                # The thread must go on, or whoever adds events would wait for ever.
                logging.error("An event could not be written to %s: %s", self._path, e)
