"""Functions that are called after each operation, and those among them that look for infinities and NaNs."""

from __future__ import annotations

import contextlib
import enum
import functools

import numpy as np

from everflow.eager import graph
from everflow.platform import logging


class ExecutionCallback(enum.Enum):
    """What to do about an infinity or a NaN."""

    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


class InfOrNanError(Exception):
    """An operation gave infinities or NaNs."""

    def __init__(self, op_type, op_name, output_index, num_outputs, value):
        self.op_type, self.op_name, self.output_index, self.num_outputs = op_type, op_name, output_index, num_outputs
        self.value = value
        counts = {"inf(s)": int(np.isinf(value).sum()), "nan(s)": int(np.isnan(value).sum())}
        found = " and ".join(f"{count} {what}" for what, count in counts.items() if count)
        super().__init__(
            f"Output {output_index + 1} of {num_outputs} of {op_type} (name: {op_name!r}) contains {found} "
            f"among {value.size} element(s): {value}"
        )


def add_execution_callback(callback):
    """Call `callback(op_type, inputs, attrs, outputs, op_name)` after each operation that runs at once."""
    graph.execution_callbacks.append(callback)


def clear_execution_callbacks():
    """Call nothing any more."""
    graph.execution_callbacks.clear()


def inf_nan_callback(
    op_type, inputs, attrs, outputs, op_name, check_inf=True, check_nan=True, action=ExecutionCallback.RAISE
):
    """A callback that raises, warns or prints where an operation gives infinities or NaNs."""
    action = ExecutionCallback(action)
    for index, tensor in enumerate(outputs):
        if not tensor.dtype.is_floating and not tensor.dtype.is_complex:
            continue
        value = np.asarray(tensor.numpy())
        if value.dtype.kind not in "fc":
            value = value.astype(np.float32)
        if not (check_inf and np.isinf(value).any() or check_nan and np.isnan(value).any()):
            continue
        error = InfOrNanError(op_type, op_name, index, len(outputs), value)
        if action is ExecutionCallback.RAISE:
            raise error
        if action is ExecutionCallback.WARN:
            logging.warning(str(error))
        elif action is ExecutionCallback.PRINT:
            print(f"Warning: {error}")


def inf_callback(op_type, inputs, attrs, outputs, op_name, action=ExecutionCallback.RAISE):
    """`inf_nan_callback` for infinities."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_nan=False, action=action)


def nan_callback(op_type, inputs, attrs, outputs, op_name, action=ExecutionCallback.RAISE):
    """`inf_nan_callback` for NaNs."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_inf=False, action=action)


def _current():
    """The callback that `seterr` set, or None."""
    partials = (c for c in graph.execution_callbacks if isinstance(c, functools.partial))
    return next((c for c in partials if c.func is inf_nan_callback), None)


def seterr(inf_or_nan=None):
    """Say what to do about infinities and NaNs: "ignore", "print", "raise" or "warn"; returns what was said before.

    >>> tfe.seterr(inf_or_nan="raise")
    """
    wanted = None if inf_or_nan is None else ExecutionCallback(inf_or_nan)
    current = _current()
    before = {"inf_or_nan": ExecutionCallback.IGNORE if current is None else current.keywords["action"]}
    if wanted is not None:
        if current is not None:
            graph.execution_callbacks.remove(current)
        if wanted is not ExecutionCallback.IGNORE:
            add_execution_callback(functools.partial(inf_nan_callback, action=wanted))
    return before


@contextlib.contextmanager
def errstate(inf_or_nan=None):
    """A context of `seterr`.

    >>> with tfe.errstate(inf_or_nan="raise"):
    ...     tf.log(0.0)
    """
    before = seterr(inf_or_nan=inf_or_nan)
    try:
        yield
    finally:
        seterr(**before)
