"""TensorFlow's `framework.common_shapes`: what shape functions in Python were made of; the rules of ops are those of
`everflow.framework.registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everflow.framework import registry
from everflow.framework.operation import Operation, Tensor
from everflow.framework.shapes import TensorShape


def has_fully_defined_shape(tensor: Tensor) -> bool:
    """Whether all sizes of a tensor are known; of one that executes eagerly they are."""
    return tensor.is_eager or tensor.shape.is_fully_defined()


def rank(tensor: Tensor) -> int | None:
    """The number of a tensor's dimensions, None where it isn't known."""
    return tensor.shape.ndims


def scalar_shape(unused_op: Operation) -> list[TensorShape]:
    """The shapes of an op that gives one number."""
    return [TensorShape([])]


def no_outputs(unused_op: Operation) -> list[TensorShape]:
    """The shapes of an op without results."""
    return []


def unchanged_shape(op: Operation) -> list[TensorShape]:
    """The shapes of an op whose result has the shape of its first input."""
    return [op.inputs[0].shape]


def unchanged_shape_with_rank(rank: int) -> Callable[[Operation], list[TensorShape]]:
    """`unchanged_shape` for inputs of a rank."""
    return lambda op: [op.inputs[0].shape.with_rank(rank)]


def unchanged_shape_with_rank_at_least(rank: int) -> Callable[[Operation], list[TensorShape]]:
    """`unchanged_shape` for inputs of a rank or a higher one."""
    return lambda op: [op.inputs[0].shape.with_rank_at_least(rank)]


def unchanged_shape_with_rank_at_most(rank: int) -> Callable[[Operation], list[TensorShape]]:
    """`unchanged_shape` for inputs of a rank or a lower one."""
    return lambda op: [op.inputs[0].shape.with_rank_at_most(rank)]


def shapes_by_rule(op: Operation) -> list[TensorShape]:
    """The shapes that an op's own rule gives its results."""
    found: Any = registry.find_shape_rule(op.type)(op)
    return list(found) if isinstance(found, Sequence) and not isinstance(found, TensorShape) else [found]


matmul_shape = conv2d_shape = depthwise_conv2d_native_shape = shapes_by_rule
avg_pool_shape = max_pool_shape = shapes_by_rule
