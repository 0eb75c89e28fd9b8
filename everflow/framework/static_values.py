"""Values known before running.

Two strengths, as in TensorFlow: `constant_value` follows a few op types, and decides what build functions make;
`known_value` and `known_shape` evaluate whole constant subgraphs, and feed shape rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.framework import dtypes, slicing
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape, broadcast_gradient_axes, unknown_shape

if TYPE_CHECKING:
    from everflow.framework.operation import Operation

# Of a value with no more elements than this, a function that is traced for it knows what it is.
_MAX_CAPTURED = 128
# Subgraphs with larger values than this are not evaluated while building.
_MAX_ELEMENTS = 1 << 16


def is_tensor(x: object) -> bool:
    """Whether x is a tensor, sparse or ragged tensor or variable.

    Args:
        x: Any object.

    Returns:
        A bool.

    Example:
        >>> tf.is_tensor(tf.constant(1.0)), tf.is_tensor(1.0)
        (True, False)
    """
    if isinstance(x, Tensor) or hasattr(x, "_is_tensor_like") or hasattr(x, "dense_shape") and hasattr(x, "op"):
        return True
    return bool(getattr(x, "is_tensor_like", False))


def constant_value(tensor: Any, partial: bool = False) -> np.ndarray | None:
    """The value of a tensor, as `get_static_value` tells of it; None for what is no tensor."""
    if not isinstance(tensor, Tensor):
        return None
    if tensor.is_eager:
        return _value_of(tensor)
    function = _CONSTANT.get(tensor.op.type)
    value = None if function is None else function(tensor, partial) if function is _pack else function(tensor)
    if value is not None:
        # The value is used for decisions, so it must not be fed over.
        tensor.graph.prevent_feeding(tensor)
    return value


def _value_of(tensor: Tensor) -> np.ndarray | None:
    """The value of a tensor that has one."""
    return None if tensor.dtype in (dtypes.resource, dtypes.variant) else np.asarray(tensor)


def _const(tensor: Tensor) -> np.ndarray:
    return tensor.op.attrs["value"].array


def _outside(tensor: Tensor) -> Tensor | None:
    """What an input of a function's body stands for, of the graph around it; None for what is no capture."""
    captures = getattr(tensor.graph, "_captures", None)
    return next((outside for outside, inside in (captures or {}).items() if inside is tensor), None)


def _captured(tensor: Tensor) -> np.ndarray | None:
    """The value of a small eager tensor that a body captured. It is as a constant there."""
    outside = _outside(tensor)
    small = outside is not None and outside.is_eager and (outside.shape.num_elements() or 0) <= _MAX_CAPTURED
    return _value_of(outside) if small and outside is not None else None


def _static_shape(tensor: Tensor) -> np.ndarray | None:
    shape = tensor.op.inputs[0].shape
    return np.array(shape.as_list(), tensor.op.attrs["out_type"].as_numpy_dtype) if shape.is_fully_defined() else None


def _static_size(tensor: Tensor) -> np.ndarray | None:
    shape = tensor.op.inputs[0].shape
    return (
        np.array(shape.num_elements(), tensor.op.attrs["out_type"].as_numpy_dtype) if shape.is_fully_defined() else None
    )


def _static_rank(tensor: Tensor) -> np.ndarray | None:
    rank = tensor.op.inputs[0].shape.rank
    return None if rank is None else np.array(rank, np.int32)


def _inputs_constant(
    tensor: Tensor,
    evaluate: Callable[[Operation, list[np.ndarray]], np.ndarray],
) -> np.ndarray | None:
    values = _all_known([constant_value(t) for t in tensor.op.inputs])
    return None if values is None else evaluate(tensor.op, values)


def _all_known(values: Sequence[np.ndarray | None]) -> list[np.ndarray] | None:
    """The values, or None where one of them is not known."""
    known = [v for v in values if v is not None]
    return known if len(known) == len(values) else None


def _pack(tensor: Tensor, partial: bool) -> np.ndarray | None:
    op = tensor.op
    if not op.inputs:
        return None
    # Axis is not looked at by TensorFlow here either; only stacks along the first one are followed.
    if op.attrs["axis"] != 0:
        return None
    values = [constant_value(t, partial) for t in op.inputs]
    if any(v is None for v in values):
        return np.array(values, dtype=object) if partial else None
    return np.array(values)


def _equal(tensor: Tensor) -> np.ndarray | None:
    """Comparisons of what is known; for partly known vectors, None."""
    values = _all_known([constant_value(t) for t in tensor.op.inputs])
    if values is None:
        return None
    return np.equal(*values) if tensor.op.type == "Equal" else np.not_equal(*values)


def _sizes(shape: TensorShape) -> list[Any]:
    """The sizes of a shape that is fully known."""
    return shape.as_list()


def _fill(tensor: Tensor) -> np.ndarray | None:
    shape, value = tensor.shape, constant_value(tensor.op.inputs[1])
    if value is None or not shape.is_fully_defined():
        return None
    return np.full(_sizes(shape), value, dtype=value.dtype)


def _concat_offset(tensor: Tensor) -> np.ndarray | None:
    values = _all_known([constant_value(t) for t in tensor.op.inputs])
    if values is None:
        return None
    axis, offset = int(values[0]), 0
    for i, shape in enumerate(values[1:]):
        if i == tensor.value_index:
            result = np.zeros_like(shape)
            result[axis] = offset
            return result
        offset += shape[axis]
    return None


_CONSTANT: dict[str, Callable[..., Any]] = {
    "Const": _const,
    "Placeholder": _captured,
    "Shape": _static_shape,
    "Size": _static_size,
    "Rank": _static_rank,
    "Pack": _pack,
    "Fill": _fill,
    "Equal": _equal,
    "NotEqual": _equal,
    "ConcatOffset": _concat_offset,
    **{
        name: lambda tensor, name=name: _inputs_constant(tensor, lambda op, values: EVALUATORS[name](op, *values))
        for name in ("Range", "Cast", "Concat", "ConcatV2")
    },
}


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as a numpy array where a short look at the graph shows it, else None.

    With `partial`, a stack of which some parts are known gives an object array with None for the rest.

    Args:
        tensor: The tensor. What is no tensor is its own value.
        partial: Whether a value of which parts are known is given.

    Returns:
        An array, or None.

    Example:
        >>> tf.get_static_value(tf.constant([1, 2]))
        array([1, 2], dtype=int32)
        >>> tf.get_static_value(tf.placeholder(tf.int32)) is None
        True
        >>> tf.get_static_value(10)
        10
    """
    return constant_value(tensor, partial) if is_tensor(tensor) else tensor


def constant_value_as_shape(tensor: Tensor) -> TensorShape:
    """The TensorShape that a vector of sizes holds, as far as a short look at the graph shows it."""
    return _as_shape(tensor, constant_value)


def maybe_set_static_shape(tensor: Tensor, shape: Any) -> None:
    """Set what is known of a shape that is a tensor as a tensor's static shape, where its rule doesn't know it whole:
    rules don't see what bodies capture.
    """
    if not tensor.is_eager and not tensor.shape.is_fully_defined() and isinstance(shape, Tensor):
        tensor.set_shape(constant_value_as_shape(shape))


def shaped(tensor: Tensor, shape: Any) -> Tensor:
    """The tensor, with what is known of a shape that is a tensor as its static shape."""
    maybe_set_static_shape(tensor, shape)
    return tensor


def known_shape(tensor: Tensor) -> TensorShape:
    """The TensorShape that a vector of sizes holds, as far as constant subgraphs and shapes of inputs show it."""
    return _as_shape(tensor, known_value)


def _as_shape(tensor: Tensor, value_of: Callable[[Tensor], np.ndarray | None]) -> TensorShape:
    shape = tensor.shape.with_rank(1) if tensor.shape.rank != 0 else tensor.shape
    if tensor.shape.rank == 0:
        value = value_of(tensor)
        if value is None:
            raise ValueError(
                "A scalar stands for a shape only if it is a constant -1, an unknown shape; the value of this one is not known."
            )
        if value != -1:
            raise ValueError(f"A scalar stands for a shape only if it is -1, an unknown shape; this one is {value}.")
        return unknown_shape()
    if shape == TensorShape([0]):
        return TensorShape([])
    if tensor.is_eager:
        return TensorShape([int(s) if s >= 0 else None for s in np.asarray(tensor)])
    op = tensor.op
    if value_of is constant_value and op.type == "Placeholder" and (outside := _outside(tensor)) is not None:
        return _as_shape(outside, value_of)
    if op.type == "Shape":
        return op.inputs[0].shape
    if op.type == "ShapeN" and value_of is not constant_value:
        return op.inputs[tensor.value_index].shape
    if op.type == "Pack" and op.attrs["axis"] == 0 and value_of(tensor) is None:
        # A -1 among the parts stands for an unknown size.
        sizes = [value_of(t) for t in op.inputs]
        return TensorShape([None if s is None or s < 0 else int(s) for s in sizes])
    if op.type in ("ConcatV2", "Concat") and value_of(tensor) is None:
        result = TensorShape([])
        for part in op.inputs[:-1] if op.type == "ConcatV2" else op.inputs[1:]:
            result = result.concatenate(_as_shape(part, value_of))
        rank = shape.size(0)
        return result if rank is None else result.with_rank(rank)
    if op.type == "StridedSlice":
        found = _sliced_shape(op, value_of)
        if found is not None:
            return found
    value = value_of(tensor)
    if value is not None:
        if value_of is known_value and any(s < -1 for s in value):
            raise ValueError(f"A shape has sizes, and -1 for those that are not known; this one is {value.tolist()}.")
        return TensorShape([int(s) if s >= 0 else None for s in value])
    return unknown_shape(rank=shape.size(0))


def _sliced_shape(op: Operation, value_of: Callable[[Tensor], np.ndarray | None]) -> TensorShape | None:
    """The shape that a plain slice of a shape tensor holds, or None where the slice is not a plain one."""
    known = _all_known([constant_value(t) for t in op.inputs[1:]])
    if known is None or any(len(v) != 1 for v in known):
        return None
    begin, end, strides = known
    attrs = op.attrs
    if attrs["new_axis_mask"] or attrs["shrink_axis_mask"] or attrs["ellipsis_mask"]:
        return None
    start = None if attrs["begin_mask"] & 1 else int(begin[0])
    stop = None if attrs["end_mask"] & 1 else int(end[0])
    source = _as_shape(op.inputs[0], value_of)
    dims = source.dims
    if dims is None:
        return None
    return TensorShape(dims[slice(start, stop, int(strides[0]))])


def known_value(tensor: Any) -> np.ndarray | None:
    """The value of a tensor as a numpy array where everything it is computed from is constant, else None."""
    if not isinstance(tensor, Tensor):
        return None
    if tensor.is_eager:
        return _value_of(tensor)
    # TensorFlow sees through the door of a loop here, but not further inside a subgraph.
    if tensor.op.type == "Enter":
        return _evaluate(tensor.op.inputs[0], {}, 1)
    return _evaluate(tensor, {}, 0, pieced=True)


def _evaluate(
    tensor: Tensor,
    memo: dict[Any, np.ndarray | None],
    depth: int,
    pieced: bool = False,
) -> np.ndarray | None:
    """`pieced` while all on the way here only puts shapes together: TensorFlow reads those piece by piece, each from
    its static shape.
    """
    if tensor.is_eager:
        return _value_of(tensor)
    op = tensor.op
    key = (op._id, tensor.value_index) if op._id >= 0 else id(tensor)
    if key in memo:
        return memo[key]
    memo[key] = None
    evaluate = EVALUATORS.get(op.type)
    value = None
    if op.type == "Const":
        value = op.attrs["value"].array
    elif op.type == "Placeholder":
        value = _captured(tensor)
    elif op.type == "Shape" or op.type == "ShapeN" and (depth == 0 or pieced or _is_constant(op)):
        shape = op.inputs[tensor.value_index].shape
        if shape.is_fully_defined():
            value = np.array(shape.as_list(), op.attrs["out_type"].as_numpy_dtype)
        elif not pieced:
            measured = _evaluate(op.inputs[tensor.value_index], memo, depth + 1)
            value = None if measured is None else np.array(measured.shape, op.attrs["out_type"].as_numpy_dtype)
    elif op.type in ("Size", "Rank") and depth > 0 and (static := _CONSTANT[op.type](tensor)) is not None:
        # TensorFlow's evaluation takes these from static shapes inside a subgraph only, and gives up on meeting one a
        # second time.
        return static
    elif op.type == "ConcatOffset":
        inputs = _all_known([_evaluate(t, memo, depth + 1) for t in op.inputs])
        if inputs is not None:
            axis = int(inputs[0])
            value = np.zeros_like(inputs[1])
            value[axis] = sum(int(s[axis]) for s in inputs[1 : 1 + tensor.value_index])
    elif evaluate is not None and depth < 64 and len(op.outputs) == 1:
        inner = depth if op.type == "Pack" and depth == 0 else depth + 1
        pieced = pieced and (
            op.type in ("Concat", "ConcatV2") or op.type == "StridedSlice" and not op.attrs["shrink_axis_mask"]
        )
        inputs = _all_known([_evaluate(t, memo, inner, pieced) for t in op.inputs])
        if inputs is not None and sum(v.size for v in inputs) <= _MAX_ELEMENTS:
            value = _guarded(evaluate, op, inputs)
    elif op.type in SPLITTERS and depth < 64:
        inputs = _all_known([_evaluate(t, memo, depth + 1) for t in op.inputs])
        if inputs is not None and sum(v.size for v in inputs) <= _MAX_ELEMENTS:
            split = SPLITTERS[op.type]
            value = _guarded(lambda op, *inputs: split(op, *inputs)[tensor.value_index], op, inputs, tensor)
    memo[key] = value
    return value


# Subgraphs of more operations than this are not looked through.
_MOST_OPS = 500
# Op types through which a value comes that is not the same in every run.
_NOT_CONSTANT = {"Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "Enter", "NextIteration", "Merge", "Switch"}


def _is_constant(op: Operation) -> bool:
    """Whether TensorFlow could run the op while drawing: everything that it is computed from, not too much, is constant."""
    seen, pending = {op}, [op]
    while pending:
        op = pending.pop()
        if op.type == "Const":
            continue
        if op.type in _NOT_CONSTANT or op.definition.is_stateful or not op.inputs or len(seen) > _MOST_OPS:
            return False
        if any(t.is_eager for t in op.inputs):
            return False
        further = {t.op for t in op.inputs} - seen
        seen |= further
        pending += further
    return True


def _guarded(
    evaluate: Callable[..., Any],
    op: Operation,
    inputs: Sequence[np.ndarray],
    output: Tensor | None = None,
) -> np.ndarray | None:
    """An evaluator's result; None where running would raise, since that error belongs to the run."""
    output = op.outputs[0] if output is None else output
    shape = output.shape.num_elements()
    if shape is not None and shape > _MAX_ELEMENTS:
        return None
    with np.errstate(all="ignore"):
        try:
            value = evaluate(op, *inputs)
        except (ValueError, IndexError, ZeroDivisionError, OverflowError):
            return None
    if value is None:
        return None
    value, dtype = np.asarray(value), output.dtype.base_dtype
    return value.astype(dtype.as_numpy_dtype) if dtype is not dtypes.string else value


def _running(function: Callable[..., Any], op: Operation, x: np.ndarray, axis: np.ndarray) -> np.ndarray:
    if op.attrs["exclusive"] or op.attrs["reverse"]:
        raise ValueError("Nothing but plain running sums and products is known")
    return function(x, axis=int(axis), dtype=x.dtype)


def _floor_divide(op: Operation, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind in "iu" and np.any(y == 0):
        raise ZeroDivisionError
    return np.floor_divide(x, y)


def _truncated_divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if np.any(y == 0):
        raise ZeroDivisionError
    return (np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))).astype(x.dtype)


def _floor_mod(op: Operation, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind in "iu" and np.any(y == 0):
        raise ZeroDivisionError
    return np.mod(x, y)


def _reduce(function: Callable[..., Any]) -> Callable[..., Any]:
    def evaluate(op: Operation, x: np.ndarray, axes: np.ndarray) -> Any:
        axis = tuple(int(a) for a in np.ravel(axes))
        start = {"initial": _STARTS[function](op.inputs[0].dtype.base_dtype)} if function in _STARTS else {}
        return function(x, axis=axis, keepdims=op.attrs["keep_dims"], **start)

    return evaluate


# What the largest, and the least, of nothing is.
_STARTS: dict[Callable[..., Any], Callable[[dtypes.DType], Any]] = {
    np.max: lambda dtype: -np.inf if dtype.is_floating else dtype.min,
    np.min: lambda dtype: np.inf if dtype.is_floating else dtype.max,
}


def _dynamic_stitch(op: Operation, *inputs: np.ndarray) -> np.ndarray:
    indices, values = inputs[: len(inputs) // 2], inputs[len(inputs) // 2 :]
    inner = values[0].shape[indices[0].ndim :]
    result = np.zeros((max(int(i.max(initial=-1)) for i in indices) + 1, *inner), values[0].dtype)
    for where, what in zip(indices, values):
        result[where.ravel()] = what.reshape(-1, *inner)
    return result


def _known_range(axis: slicing.Axis) -> tuple[int, int]:
    """(begin, size) of an axis of a slice whose bounds are all known."""
    if axis.begin is None or axis.size is None:
        raise ValueError("a bound of the slice is not known")
    return axis.begin, axis.size


def _strided_slice(op: Operation, x: np.ndarray, begin: np.ndarray, end: np.ndarray, strides: np.ndarray) -> np.ndarray:
    masks = {name: op.attrs[name] for name in slicing.MASKS}
    index: list[Any] = []
    for axis in slicing.resolve(x.shape, begin.tolist(), end.tolist(), strides.tolist(), **masks):
        if axis.kind == "range":
            start, size = _known_range(axis)
            index.append([start + i * axis.stride for i in range(size)])
        else:
            index.append(axis.begin if axis.kind == "shrink" else None)
    # One axis at a time, since numpy would pair up several index lists.
    position = 0
    for entry in index:
        if entry is None:
            x = np.expand_dims(x, position)
        else:
            x = np.take(x, np.array(entry, np.int64), axis=position)
        position += np.ndim(entry) if entry is not None else 1
    return x


def _squeeze(op: Operation, x: np.ndarray) -> np.ndarray:
    dims = tuple(op.attrs["squeeze_dims"])
    return np.squeeze(x, dims or None)


def _scatter_nd(op: Operation, indices: np.ndarray, updates: np.ndarray, shape: np.ndarray) -> np.ndarray:
    out = np.zeros(shape, updates.dtype)
    np.add.at(out, tuple(np.moveaxis(indices, -1, 0)), updates)
    return out


def _one_hot(
    op: Operation,
    indices: np.ndarray,
    depth: np.ndarray,
    on_value: np.ndarray,
    off_value: np.ndarray,
) -> np.ndarray:
    hot = np.where(np.expand_dims(indices, -1) == np.arange(int(depth)), on_value, off_value)
    return np.moveaxis(hot, -1, op.attrs["axis"])


def _unique(op: Operation, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    _, first, inverse = np.unique(x, return_index=True, return_inverse=True)
    order = np.argsort(first)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(order.size)
    return x[first[order]], ranks[inverse.reshape(-1)].astype(op.attrs["out_idx"].as_numpy_dtype)


def _sparse_reshape(
    op: Operation,
    indices: np.ndarray,
    shape: np.ndarray,
    new_shape: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    sizes, count = new_shape.tolist(), math.prod(shape.tolist())
    if -1 in sizes:
        sizes[sizes.index(-1)] = count // -math.prod(sizes)
    if math.prod(sizes) != count:
        raise ValueError(f"{count} elements don't fit into {sizes}")
    flat = np.ravel_multi_index(tuple(indices.T), tuple(shape))
    return np.stack(np.unravel_index(flat, sizes), 1), np.array(sizes, np.int64)


def _top_k(op: Operation, x: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(-x.astype(np.float64), axis=-1, kind="stable")[..., : int(k)]
    return np.take_along_axis(x, order, -1), order.astype(np.int32)


def _bincount(op: Operation, x: np.ndarray, size: np.ndarray, weights: np.ndarray) -> np.ndarray:
    counted = x.ravel() < size
    given = weights.ravel()[counted] if weights.size else None
    return np.bincount(x.ravel()[counted], given, minlength=int(size))


def _unsorted_segments(combine: np.ufunc, start: Callable[[np.dtype], Any]) -> Callable[..., Any]:
    """A segment op: what has a negative id is left out, and a segment without anything has a start value."""

    def evaluate(op: Operation, x: np.ndarray, ids: np.ndarray, count: np.ndarray) -> np.ndarray:
        out = np.full((int(count), *x.shape[ids.ndim :]), start(x.dtype), x.dtype)
        kept = ids >= 0
        combine.at(out, ids[kept], x[kept])
        return out

    return evaluate


def _binary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda op, x, y: function(x, y)


def _unary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda op, x: function(x)


def _sizes_of_parts(x: np.ndarray, sizes: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """A split's sizes, with what the others leave in place of -1."""
    return np.where(sizes < 0, x.shape[int(axis)] - sizes[sizes >= 0].sum(), sizes)


# Numpy forms of the ops that shape arithmetic is made of.
_UNARY: dict[str, Callable[..., Any]] = {
    "Identity": lambda x: x, "StopGradient": lambda x: x, "Neg": np.negative, "Abs": np.abs, "Floor": np.floor, "Ceil": np.ceil,
    "Rint": np.rint, "Round": np.rint, "LogicalNot": np.logical_not, "Square": np.square, "Sqrt": np.sqrt, "Sign": np.sign,
    "InvertPermutation": np.argsort, "ZerosLike": np.zeros_like, "OnesLike": np.ones_like,
}  # fmt: skip
_BINARY: dict[str, Callable[..., Any]] = {
    "Add": np.add, "AddV2": np.add, "Sub": np.subtract, "Mul": np.multiply, "RealDiv": np.true_divide, "Pow": np.power,
    "Maximum": np.maximum, "Minimum": np.minimum, "Less": np.less, "LessEqual": np.less_equal, "Greater": np.greater,
    "GreaterEqual": np.greater_equal, "Equal": np.equal, "NotEqual": np.not_equal, "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or,
}  # fmt: skip
_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "Sum": np.sum, "Prod": np.prod, "Max": np.max, "Min": np.min, "All": np.all, "Any": np.any,
}  # fmt: skip
EVALUATORS: dict[str, Callable[..., Any]] = {
    **{name: _unary(function) for name, function in _UNARY.items()},
    **{name: _binary(function) for name, function in _BINARY.items()},
    **{name: _reduce(function) for name, function in _REDUCTIONS.items()},
    "Cumsum": lambda op, x, axis: _running(np.cumsum, op, x, axis),
    "Cumprod": lambda op, x, axis: _running(np.cumprod, op, x, axis),
    "FloorDiv": _floor_divide,
    "FloorMod": _floor_mod,
    "Div": lambda op, x, y: _truncated_divide(x, y) if x.dtype.kind in "iu" else np.true_divide(x, y),
    "Cast": lambda op, x: x.astype(op.attrs["DstT"].as_numpy_dtype),
    "Range": lambda op, start, limit, delta: np.arange(start, limit, delta, dtype=start.dtype),
    "Concat": lambda op, axis, *values: np.concatenate(values, axis=int(axis)),
    "ConcatV2": lambda op, *values: np.concatenate(values[:-1], axis=int(values[-1])),
    "Pack": lambda op, *values: np.stack(values, axis=op.attrs["axis"]),
    "Fill": lambda op, dims, value: np.full(dims, value),
    "Reshape": lambda op, x, shape: np.reshape(x, shape[:]),
    "ExpandDims": lambda op, x, axis: np.expand_dims(x, int(np.ravel(axis)[0])),
    "Squeeze": _squeeze,
    "Gather": lambda op, x, indices: np.take(x, indices, axis=0),
    "GatherV2": lambda op, x, indices, axis: np.take(x, indices, axis=int(axis)),
    "Transpose": lambda op, x, perm: np.transpose(x, perm),
    "Tile": lambda op, x, multiples: np.tile(x, multiples),
    "ReverseV2": lambda op, x, axis: np.flip(x, tuple(int(a) for a in axis)),
    "Roll": lambda op, x, shift, axis: np.roll(x, np.ravel(shift).tolist(), np.ravel(axis).tolist()),
    "Select": lambda op, c, x, y: np.where(c, x, y) if c.ndim in (0, x.ndim) else np.stack([a if k else b for k, a, b in zip(c, x, y)]),
    "SelectV2": lambda op, c, x, y: np.where(c, x, y),
    "Slice": lambda op, x, begin, size: x[tuple(slice(b, None if s == -1 else b + s) for b, s in zip(begin[:], size[:]))],
    "StridedSlice": _strided_slice,
    "BroadcastTo": lambda op, x, shape: np.broadcast_to(x, shape),
    "BroadcastArgs": lambda op, x, y: np.array(np.broadcast_shapes(tuple(x), tuple(y))),
    "AddN": lambda op, *values: sum(values[1:], values[0]),
    "Pad": lambda op, x, paddings: np.pad(x, paddings),
    "PadV2": lambda op, x, paddings, value: np.pad(x, paddings, constant_values=value),
    "DynamicStitch": _dynamic_stitch,
    "ParallelDynamicStitch": _dynamic_stitch,
    "Size": lambda op, x: np.array(x.size),
    "Rank": lambda op, x: np.array(x.ndim),
    "Where": lambda op, x: np.argwhere(x),
    "GatherNd": lambda op, x, indices: x[tuple(np.moveaxis(indices, -1, 0))],
    "ScatterNd": _scatter_nd,
    "OneHot": _one_hot,
    "ArgMax": lambda op, x, axis: np.argmax(x, int(axis)),
    "ArgMin": lambda op, x, axis: np.argmin(x, int(axis)),
    "MatMul": lambda op, x, y: (x.T if op.attrs["transpose_a"] else x) @ (y.T if op.attrs["transpose_b"] else y),
    "Bincount": _bincount,
    "UnsortedSegmentSum": _unsorted_segments(np.add, lambda dtype: 0),
    "UnsortedSegmentProd": _unsorted_segments(np.multiply, lambda dtype: 1),
    "UnsortedSegmentMax": _unsorted_segments(np.maximum, lambda dtype: dtypes.as_dtype(dtype).min),
    "UnsortedSegmentMin": _unsorted_segments(np.minimum, lambda dtype: dtypes.as_dtype(dtype).max),
    "LinSpace": lambda op, start, stop, num: np.linspace(start, stop, int(num), dtype=start.dtype),
}  # fmt: skip
# The same for ops of several outputs.
SPLITTERS: dict[str, Callable[..., Any]] = {
    "Split": lambda op, axis, x: np.split(x, op.attrs["num_split"], axis=int(axis)),
    "SplitV": lambda op, x, sizes, axis: np.split(x, np.cumsum(_sizes_of_parts(x, sizes, axis))[:-1], axis=int(axis)),
    "BroadcastGradientArgs": lambda op, x, y: [
        np.array(axes, x.dtype) for axes in broadcast_gradient_axes(tuple(x), tuple(y))
    ],
    "ListDiff": lambda op, x, y: [
        x[~np.isin(x, y)],
        np.flatnonzero(~np.isin(x, y)).astype(op.attrs["out_idx"].as_numpy_dtype),
    ],
    "ShapeN": lambda op, *values: [np.array(x.shape, op.attrs["out_type"].as_numpy_dtype) for x in values],
    "DynamicPartition": lambda op, x, parts: [x[parts == i] for i in range(op.attrs["num_partitions"])],
    "Unique": _unique,
    "SparseReshape": _sparse_reshape,
    "TopKV2": _top_k,
    "Switch": lambda op, x, pred: (None, x) if pred else (x, None),
    "Unpack": lambda op, x: [np.take(x, i, axis=op.attrs["axis"]) for i in range(op.attrs["num"])],
}
