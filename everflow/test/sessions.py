"""The sessions that tests get: one that logs what fails, and what stands for one while operations run at once."""

from __future__ import annotations

from everflow.framework import errors
from everflow.platform import logging
from everflow.runtime.session import Session


class ErrorLoggingSession(Session):
    """A session that logs errors of runs before they are raised, except for those that end an input."""

    def run(self, *args, **kwargs):
        try:
            return super().run(*args, **kwargs)
        except errors.OutOfRangeError:
            raise
        except Exception as error:
            logging.error(str(error))
            raise


class FakeEagerSession:
    """A session for tests that execute eagerly: `run` gives the values that tensors have."""

    def __init__(self, test_case):
        self._test_case = test_case

    def run(self, fetches, *args, **kwargs):
        """The values of a structure of tensors, variables or functions that make them; nothing can be fed."""
        if kwargs.pop("feed_dict", None):
            raise RuntimeError(
                "There is nothing to feed when executing eagerly: run() gives the values that tensors have"
            )
        if args or kwargs:
            raise RuntimeError(
                f"run() takes nothing but what to fetch when executing eagerly, not {[*args, *sorted(kwargs)]}"
            )
        return self._test_case.evaluate(fetches)


class EagerSessionWarner:
    """What `session()` gives when executing eagerly: there is none to use."""

    def __getattr__(self, attr):
        raise AttributeError(
            f"There is no session to ask for {attr!r} when executing eagerly: use self.evaluate(), or draw a graph with"
            " `with tf.Graph().as_default():`",
            name=attr,
        )
