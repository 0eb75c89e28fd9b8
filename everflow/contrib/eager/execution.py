"""Devices, and whether operations have run when they return. Here they always have: both modes do the same."""

from __future__ import annotations

import contextlib

from everflow.config import experimental
from everflow.eager.mode import ASYNC, SYNC, enable_eager_execution
from everflow.platform.app import run as run_app
from everflow.runtime.devices import CPU


def set_execution_mode(mode):
    """Ask for SYNC or ASYNC execution; None is the default."""
    if mode not in (None, SYNC, ASYNC):
        raise ValueError(f"An execution mode is tfe.SYNC, tfe.ASYNC or None, not {mode}")
    experimental.set_synchronous_execution(None if mode is None else mode == SYNC)


@contextlib.contextmanager
def execution_mode(mode):
    """A context of `set_execution_mode`."""
    before = experimental.get_synchronous_execution()
    set_execution_mode(mode)
    try:
        yield
    finally:
        experimental.set_synchronous_execution(before)


def async_wait():
    """Wait for operations that have not run yet: there are none."""


def async_clear_error():
    """Forget an error of an operation that ran later: there is none."""


def list_devices():
    """The names of the devices that operations run on."""
    return [CPU]


def num_gpus():
    """How many GPUs operations run on."""
    return 0


def run(main=None, argv=None):
    """Turn eager execution on, then run the program as `tf.app.run` does."""
    enable_eager_execution()
    run_app(main, argv)
