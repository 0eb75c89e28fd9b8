"""Functions of tf.compat.v2 that more than the order of their arguments tells from tf's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.operation import Tensor
from everflow.framework.seeds import get_seed
from everflow.ops.math.counting import counted
from everflow.ops.math.reductions import all_axes
from everflow.ops.nn import convolution


def dilation2d(
    input: Any,
    filters: Any,
    strides: Sequence[int],
    padding: str,
    data_format: str,
    dilations: Sequence[int],
    name: str | None = None,
) -> Any:
    """The greatest sums of a picture's places and a filter's, channel by channel: grayscale dilation.

    Args:
        input: Pictures, [batch, height, width, channels].
        filters: The filter, [height, width, channels].
        strides: Steps of the window, 4 numbers.
        padding: "SAME" or "VALID".
        data_format: "NHWC".
        dilations: Distances of the filter's places, 4 numbers.
        name: A name for the operation.

    Returns:
        A tensor of the pictures' type.

    Raises:
        ValueError: For another `data_format`.
    """
    _only_channels_last(data_format)
    return convolution.dilation2d(input, filters, strides, dilations, padding, name)


def erosion2d(
    value: Any,
    filters: Any,
    strides: Sequence[int],
    padding: str,
    data_format: str,
    dilations: Sequence[int],
    name: str | None = None,
) -> Any:
    """The least differences of a picture's places and a filter's, channel by channel: grayscale erosion.

    The arguments are those of `dilation2d`, with the pictures called `value`.
    """
    _only_channels_last(data_format)
    return convolution.erosion2d(value, filters, strides, dilations, padding, name)


def _only_channels_last(data_format: str) -> None:
    if data_format != "NHWC":
        raise ValueError(f"data_format must be 'NHWC', channels last, not {data_format!r}.")


def fractional_max_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> Any:
    """Max pooling over regions of unequal size, drawn at random.

    Args:
        value: Pictures, [batch, height, width, channels].
        pooling_ratio: By how much height and width shrink: a number, two, or 4 with 1 at both ends.
        pseudo_random: Whether sizes are drawn in an even way.
        overlapping: Whether regions share their borders.
        seed: If not 0, the same regions each time.
        name: A name for the operation.

    Returns:
        (what was pooled, borders of the rows, borders of the columns).
    """
    return raw.FractionalMaxPool(value, _ratios(pooling_ratio), pseudo_random, overlapping, **_seeds(seed), name=name)


def fractional_avg_pool(
    value: Any,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> Any:
    """Average pooling over regions of unequal size, drawn at random.

    The arguments are those of `fractional_max_pool`, with 4 numbers for `pooling_ratio`.
    """
    return raw.FractionalAvgPool(value, pooling_ratio, pseudo_random, overlapping, **_seeds(seed), name=name)


def _ratios(ratio: Any) -> list[float]:
    given = list(ratio) if isinstance(ratio, (list, tuple)) else [ratio]
    if len(given) == 1:
        given *= 2
    if len(given) == 2:
        return [1.0, *given, 1.0]
    if len(given) == 4:
        return given
    raise ValueError(f"pooling_ratio is a number, or 1, 2 or 4 of them, not {len(given)}.")


def _seeds(seed: int) -> dict[str, Any]:
    if seed == 0:
        return {"deterministic": False, "seed": 0, "seed2": 0}
    of_graph, of_op = get_seed(seed)
    return {"deterministic": True, "seed": of_graph, "seed2": of_op}


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How often each number from 0 up to the largest occurs in `arr`, or the sum of the weights of each.

    Args:
        arr: Whole numbers, not negative.
        weights: A weight for each number of `arr`.
        minlength: The least length of the result.
        maxlength: The greatest length of the result; larger numbers are not counted.
        dtype: The type of the result, where there are no weights.
        name: The name of the operation in the graph.

    Returns:
        A vector.

    Example:
        >>> sess.run(tf.compat.v2.math.bincount([1, 1, 3], name="counts"))
        array([0, 2, 0, 1], dtype=int32)
    """
    return counted(arr, weights, minlength, maxlength, dtype, name)


def reduce_max(
    sp_input: SparseTensor,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: Any = None,
) -> Any:
    """The largest of a SparseTensor's values along axes, all by default.

    Args:
        sp_input: The SparseTensor.
        axis: The axis or axes to reduce; all of them if None.
        keepdims: Whether axes that are reduced stay, with the length 1.
        output_is_sparse: Whether the result is a SparseTensor rather than a tensor.
        name: A name for the operation.

    Returns:
        A tensor or SparseTensor without these axes.
    """
    return _reduced("Max", sp_input, axis, keepdims, output_is_sparse, name)


def reduce_sum(
    sp_input: SparseTensor,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: Any = None,
) -> Any:
    """The sum of a SparseTensor's values along axes, all by default; the arguments are those of `reduce_max`."""
    return _reduced("Sum", sp_input, axis, keepdims, output_is_sparse, name)


def _reduced(kind: str, sp_input: SparseTensor, axis: Any, keepdims: Any, sparse: bool, name: Any) -> Any:
    build = getattr(raw, f"SparseReduce{kind}{'Sparse' if sparse else ''}")
    parts = (sp_input.indices, sp_input.values, sp_input.dense_shape, all_axes(sp_input, axis))
    made = build(*parts, keep_dims=bool(keepdims), name=name)
    return SparseTensor(*made) if sparse else made
