"""Event files: written from a thread of its own, so that training waits for no disk."""

from __future__ import annotations

import os
import queue
import socket
import threading
import time

from everflow.formats import records
from everflow.platform import file_io, logging
from everflow.platform.gfile import GFile
from everflow.protos.event_pb2 import Event

_VERSION = "brain.Event:2"
_FLUSH, _CLOSE = object(), object()


class EventFileWriter:
    """Writes Event protos to a new event file of a folder."""

    def __init__(self, logdir, max_queue=10, flush_secs=120, filename_suffix=None):
        self._logdir = os.fspath(logdir)
        self._flush_secs = flush_secs
        self._suffix = filename_suffix or ""
        self._queue = queue.Queue(max_queue)
        self._closed = True
        self._last_second = 0
        if not file_io.is_directory(self._logdir):
            file_io.recursive_create_dir(self._logdir)
        self.reopen()

    def get_logdir(self):
        return self._logdir

    def reopen(self):
        """Go on after `close`, in a new file."""
        if not self._closed:
            return
        self._closed = False
        # The name holds only the second: a file of the same name is added to.
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}{self._suffix}"
        self._path = os.path.join(self._logdir, name)
        self._file = GFile(self._path, "ab")
        self._write(Event(wall_time=time.time(), file_version=_VERSION))
        self._file.flush()
        self._thread = threading.Thread(target=self._run, daemon=True, name=f"events to {self._logdir}")
        self._thread.start()

    def add_event(self, event):
        """Queue an event; dropped after `close`, as TensorFlow does."""
        if not self._closed:
            self._queue.put(event)

    def flush(self):
        """Wait until all events so far are in the file."""
        if self._closed:
            return
        done = threading.Event()
        self._queue.put((_FLUSH, done))
        done.wait()

    def close(self):
        """Write what is queued and close the file."""
        if self._closed:
            return
        self._closed = True
        done = threading.Event()
        self._queue.put((_CLOSE, done))
        done.wait()
        self._thread.join()

    def _write(self, event):
        self._file.write(records.encode(event.SerializeToString()))

    def _run(self):
        next_flush = time.time() + self._flush_secs
        while True:
            item = self._queue.get()
            if isinstance(item, tuple):
                kind, done = item
                self._file.flush()
                if kind is _CLOSE:
                    self._file.close()
                    done.set()
                    return
                done.set()
                continue
            try:
                self._write(item)
                if time.time() >= next_flush:
                    self._file.flush()
                    next_flush = time.time() + self._flush_secs
            except OSError as e:
                # The thread must go on, or whoever adds events would wait for ever.
                logging.error("An event could not be written to %s: %s", self._path, e)
