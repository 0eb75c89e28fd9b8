"""Functions that are told of every op a build function makes, and may put other tensors in place of its outputs.

What a callback makes itself is not told to anybody, or it would never end.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everflow.framework.graph import Graph
    from everflow.framework.operation import Tensor

OpCallback = Callable[..., Sequence[Any] | None]


class _Listening(threading.local):
    callbacks: tuple[OpCallback, ...] = ()


listening = _Listening()


def op_callback(callback_fn: OpCallback) -> AbstractContextManager[None]:
    """A context whose ops are told to `callback_fn(op_type, inputs, attrs, outputs, op_name=None, graph=None)`.

    What it returns takes the place of the outputs, unless that is None. In nested contexts the innermost comes first.
    """
    if not callable(callback_fn):
        raise ValueError(f"op_callback() takes a function, not {callback_fn!r}")
    return _entered((callback_fn, *listening.callbacks))


@contextlib.contextmanager
def _entered(callbacks: tuple[OpCallback, ...]) -> Iterator[None]:
    outer, listening.callbacks = listening.callbacks, callbacks
    try:
        yield
    finally:
        listening.callbacks = outer


def should_invoke_op_callbacks() -> bool:
    """Whether a callback of this thread listens now."""
    return bool(listening.callbacks)


def invoke_op_callbacks(
    op_type: str,
    inputs: Sequence[Tensor],
    attrs: tuple[Any, ...],
    outputs: Sequence[Tensor],
    op_name: str | None = None,
    graph: Graph | None = None,
) -> Sequence[Any]:
    """Tell the callbacks of this thread of an op; returns its outputs, or what stands for them."""
    told = listening.callbacks
    with _entered(()):
        for callback in told:
            new = callback(op_type, inputs, attrs, outputs, op_name=op_name, graph=graph)
            if new is None:
                continue
            if len(new) != len(outputs):
                raise ValueError(
                    f"An op callback returned {len(new)} tensors for a {op_type} op, which has {len(outputs)} outputs"
                )
            outputs = new
    return outputs
