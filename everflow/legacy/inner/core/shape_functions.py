"""TensorFlow's `framework.common_shapes`: what shape functions in Python were made of; the rules of ops are those of
`everflow.framework.registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everflow.framework import registry
from everflow.framework.operation import Operation, Tensor
from everflow.framework.shapes import Dimension, TensorShape
from everflow.ops.array.basic import broadcast_static_shape


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


def unknown_shape(op: Operation) -> list[TensorShape]:
    """The shapes of an op of whose results nothing is known."""
    return [TensorShape(None) for _ in op.outputs]


def call_cpp_shape_fn(op: Operation, require_shape_fn: bool = True) -> dict[str, Any]:
    """What a shape function finds out about an op, as {"shapes": ..., ...}."""
    return {"shapes": shapes_by_rule(op), "handle_data": [None] * len(op.outputs), "inputs_needed": b""}


def get_conv_output_size(
    input_size: Sequence[Any], filter_size: Sequence[Any], strides: Sequence[int], padding_type: bytes
) -> tuple[Any, ...]:
    """The sizes that a convolution's windows give.

    Args:
        input_size: The sizes of what it goes over.
        filter_size: Those of the window.
        strides: The steps of the window.
        padding_type: b"SAME" or b"VALID".

    Returns:
        For each its size, None where that isn't known.
    """
    if padding_type not in (b"SAME", b"VALID"):
        raise ValueError(f"A padding is b'SAME' or b'VALID', not {padding_type!r}")
    found = []
    for size, window, stride in zip(input_size, filter_size, strides, strict=True):
        size, window = Dimension(size), Dimension(window)
        if size.value is not None and window.value is not None and window.value > size.value:
            raise ValueError(f"A window of {window.value} doesn't fit into {size.value}")
        left = size if padding_type == b"SAME" else size - window + 1
        found.append(None if left.value is None else (left + stride - 1) // stride)
    return tuple(found)


def get2d_conv_output_size(
    input_height: Any,
    input_width: Any,
    filter_height: Any,
    filter_width: Any,
    row_stride: int,
    col_stride: int,
    padding_type: bytes,
) -> tuple[Any, ...]:
    """`get_conv_output_size` for rows and columns."""
    return get_conv_output_size(
        (input_height, input_width), (filter_height, filter_width), (row_stride, col_stride), padding_type
    )


def separable_conv2d_shape(op: Operation) -> list[TensorShape]:
    """The shape of a convolution of each channel by itself, and then over channels, by the shapes of its inputs."""
    shapes = (t.shape.with_rank(4) for t in (op.inputs[0], op.inputs[1], op.inputs[2]))
    image, by_channel, over_channels = shapes
    over_channels[0].merge_with(1), over_channels[1].merge_with(1)
    over_channels[2].assert_is_compatible_with(image[3] * by_channel[3])
    rows, columns = get_conv_output_size(
        image.dims[1:3], by_channel.dims[:2], op.get_attr("strides")[1:3], op.get_attr("padding")
    )
    return [TensorShape([image[0], rows, columns, over_channels[3]])]


def _broadcast_shape_helper(shape_x: TensorShape, shape_y: TensorShape) -> list[Dimension] | None:
    """The dimensions of two shapes of known rank put together, None where they don't go together."""
    try:
        return broadcast_static_shape(shape_x, shape_y).dims
    except ValueError:
        return None


matmul_shape = conv2d_shape = depthwise_conv2d_native_shape = shapes_by_rule
avg_pool_shape = max_pool_shape = shapes_by_rule
