"""`Coordinator`: lets threads ask each other to stop, and hands the first error to the thread that joins them."""

from __future__ import annotations

import contextlib
import sys
import threading
import time

from everflow.framework import errors
from everflow.framework.forking import renewed
from everflow.platform import logging


class Coordinator:
    """Several threads that stop together.

    A thread asks `should_stop()` at each round; what one of them raises, `join` raises.

    Args:
        clean_stop_exception_types: Exceptions that are an end like any other; `OutOfRangeError` if None.

    Example:
        >>> import threading, time
        >>> coord = tf.train.Coordinator()
        >>> def work():
        ...     while not coord.should_stop():
        ...         coord.request_stop()
        >>> threads = [threading.Thread(target=work) for _ in range(3)]
        >>> for thread in threads:
        ...     thread.start()
        >>> coord.join(threads)
    """

    def __init__(self, clean_stop_exception_types=None):
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (errors.OutOfRangeError,)
        self._clean_types = tuple(clean_stop_exception_types)
        self._lock = renewed(threading.Lock())
        self._stop_event = renewed(threading.Event())
        self._registered_threads = set()
        self.clear_stop()

    def _filter_exception(self, ex):
        """None for what only means that the work is done."""
        value = ex[1] if isinstance(ex, tuple) else ex
        return None if isinstance(value, self._clean_types) else ex

    def request_stop(self, ex=None):
        """Ask all threads to stop; an exception (or an `exc_info` tuple) is raised again by `join`."""
        with self._lock:
            ex = self._filter_exception(ex)
            if self._joined:  # nobody is left to raise it
                if isinstance(ex, tuple):
                    raise ex[1].with_traceback(ex[2])
                if ex is not None:
                    raise ex
                return
            if self._stop_event.is_set():
                return
            if ex is not None and self._exc_info_to_raise is None:
                if isinstance(ex, tuple):
                    info = ex
                    logging.info("Error reported to Coordinator: %s", ex[1])
                else:
                    logging.info("Error reported to Coordinator: %s, %s", type(ex), ex)
                    info = sys.exc_info()
                if len(info) != 3 or not info[0] or not isinstance(info[1], BaseException):
                    raise TypeError(
                        f"ex must be a sys.exc_info() tuple or the exception that is being handled, not {ex!r}"
                    )
                self._exc_info_to_raise = info
            self._stop_event.set()

    def clear_stop(self):
        """Begin anew: no stop asked for, no error kept."""
        with self._lock:
            self._joined, self._exc_info_to_raise = False, None
            self._stop_event.clear()

    def should_stop(self):
        """Whether a stop was asked for."""
        return self._stop_event.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self):
        """A context that turns any exception inside into a request to stop."""
        try:
            yield
        except BaseException:  # handed on to the thread that joins
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout=None):
        """Wait until a stop is asked for, at most `timeout` seconds; whether it was."""
        return self._stop_event.wait(timeout)

    def register_thread(self, thread):
        """Have `join` wait for this thread, too."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        """Wait until threads have ended; raise the first error that one reported.

        Once a stop is asked for they have `stop_grace_period_secs` to end; RuntimeError if some are still alive then.
        """
        with self._lock:
            threads = set(self._registered_threads) | set(threads or ())
        while any(t.is_alive() for t in threads) and not self.wait_for_stop(1.0):
            pass
        # All may have ended without a word.
        if not self.should_stop() and not self._joined:
            self.request_stop()
        end = time.monotonic() + stop_grace_period_secs
        alive = [t for t in threads if t.is_alive()]
        while alive and time.monotonic() < end:
            alive[0].join(min(0.1, max(0.0, end - time.monotonic())))
            alive = [t for t in alive if t.is_alive()]
        stragglers = [t.name for t in threads if t.is_alive()]
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            self._raise_reported()
            if stragglers:
                if not ignore_live_threads:
                    raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(stragglers)}")
                logging.info("Coordinator stopped with threads still running: %s", " ".join(stragglers))

    joined = property(lambda self: self._joined, doc="Whether `join` has come to its end.")

    def raise_requested_exception(self):
        """Raise the error that was reported, if there is one."""
        with self._lock:
            self._raise_reported()

    def _raise_reported(self):
        if self._exc_info_to_raise:
            _, error, trace = self._exc_info_to_raise
            raise error.with_traceback(trace)

    def _reported(self, types):
        """Whether an error of these types was reported."""
        return self._exc_info_to_raise is not None and isinstance(self._exc_info_to_raise[1], types)


class LooperThread(threading.Thread):
    """A daemon thread that calls a function every `timer_interval_secs` until its coordinator is asked to stop.

    Args:
        coord: The `tf.train.Coordinator`.
        timer_interval_secs: The seconds between two calls; None for no pause.
        target: The function.
        args: Its arguments.
        kwargs: Its arguments by name.

    Example:
        >>> coord = tf.train.Coordinator()
        >>> thread = tf.train.LooperThread.loop(coord, None, coord.request_stop)
        >>> coord.join([thread])
    """

    def __init__(self, coord, timer_interval_secs, target=None, args=None, kwargs=None):
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__()
        self.daemon = True
        self._coord = coord
        self._interval = timer_interval_secs
        self._loop_target = target
        self._loop_args = args or ()
        self._loop_kwargs = kwargs or {}
        if not target and (args or kwargs):
            raise ValueError("`args` and `kwargs` are for a `target`, and there is none")
        self._coord.register_thread(self)

    @staticmethod
    def loop(coord, timer_interval_secs, target, args=None, kwargs=None):
        """Start a thread that calls `target` over and over."""
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def run(self):
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._interval is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                # The first call is at once, later ones at multiples of the interval.
                due = time.time()
                while not self._coord.wait_for_stop(max(0.0, due - time.time())):
                    due += self._interval
                    self.run_loop()
            self.stop_loop()

    def isAlive(self):
        """Whether it still runs."""
        return self.is_alive()

    def start_loop(self):
        """Called once, before the loop; for subclasses."""

    def stop_loop(self):
        """Called once, after the loop; for subclasses."""

    def run_loop(self):
        """Called over and over; calls the target unless a subclass does something else."""
        if self._loop_target:
            self._loop_target(*self._loop_args, **self._loop_kwargs)
