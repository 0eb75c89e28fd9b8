"""What `==` and `!=` mean on tensors and variables: whether they are one object, as in TensorFlow 1, or, once
switched on, whether their values are equal, as in 2.
"""

from __future__ import annotations

from typing import Any

from everflow.framework import raw_ops as raw
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly_outside_functions
from everflow.ops.variables.variable import Variable


def enable_tensor_equality() -> None:
    """Let `==` compare tensors by their values where operations run at once, and in functions that such code calls.

    Elsewhere, in a graph of its own, a tensor stays equal to itself only. Tensors can be keys still, by identity;
    `tensor.experimental_ref()` is one that says so.

    Returns:
        None.

    Example:
        >>> tf.enable_tensor_equality()
        >>> tf.disable_tensor_equality()
    """
    _compare(_equal_values, _unequal_values, True)


def disable_tensor_equality() -> None:
    """Let a tensor be equal to itself only.

    Returns:
        None.

    Example:
        >>> tf.disable_tensor_equality()
        >>> tf.constant(1.0) == tf.constant(1.0)
        False
    """
    _compare(_is, _is_not, False)


def _compare(equal: Any, unequal: Any, by_value: bool) -> None:
    Tensor._USE_EQUALITY = by_value
    for kind in (Tensor, Variable):
        kind.__eq__ = equal  # type: ignore[method-assign]
        kind.__ne__ = unequal  # type: ignore[method-assign]


def _is(self: Any, other: object) -> bool:
    return self is other


def _is_not(self: Any, other: object) -> bool:
    return self is not other


def _equal_values(self: Any, other: object) -> Any:
    return raw.Equal(x=self, y=other) if executing_eagerly_outside_functions() else self is other


def _unequal_values(self: Any, other: object) -> Any:
    return raw.NotEqual(x=self, y=other) if executing_eagerly_outside_functions() else self is not other
