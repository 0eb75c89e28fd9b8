"""`ErrorRendezvous`: threads leave the errors they meet, and one of them raises the one that matters."""

from __future__ import annotations

import contextlib
import sys
import threading
import time

from everflow.framework import errors
from everflow.platform import logging

# What follows from other errors: reported only when nothing else is known.
_UNINTERESTING = (errors.CancelledError,)


class ErrorRendezvous:
    """Errors of several sources, each done or failed."""

    def __init__(self, num_sources):
        self._num_sources = num_sources
        self._errors = {}
        self._lock = threading.Lock()

    def record_error(self, source, exc_info, session=None):
        """Keep an error; the first one that is no mere consequence closes the session soon."""
        _, value, _ = exc_info
        with self._lock:
            logging.error("Error recorded from %s: %s", source, value)
            if value is not None and self._errors.get(source) is None:
                self._errors[source] = exc_info

    def record_done(self, source):
        """A source ended without an error."""
        with self._lock:
            logging.info("%s marked as finished", source)
            self._errors.setdefault(source, None)

    @contextlib.contextmanager
    def catch_errors(self, source, session=None):
        """A context whose error is kept, not raised."""
        try:
            yield
        except Exception:  # every kind is kept, and raised by `raise_errors`
            self.record_error(source, sys.exc_info(), session)
        else:
            self.record_done(source)

    def raise_errors(self, timeout_sec=0):
        """Wait for the sources, and raise the first error that is no mere consequence, or else the first."""
        until = time.time() + timeout_sec
        while len(self._errors) < self._num_sources and time.time() < until:
            time.sleep(0.05)
        kept = [info for info in self._errors.values() if info is not None]
        kept.sort(key=lambda info: isinstance(info[1], _UNINTERESTING))
        if kept:
            _, value, traceback = kept[0]
            raise value.with_traceback(traceback)
