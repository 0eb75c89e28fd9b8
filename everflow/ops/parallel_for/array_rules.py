"""What ops that move values about become for all iterations of a loop at once."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import control_dependencies
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.diagonals import matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag
from everflow.ops.checks.values import assert_equal
from everflow.ops.control_flow.conditionals import cond
from everflow.ops.parallel_for.vectorizer import SparsePart, rule, same, stacked


def behind_first(axis):
    """An axis, or several, of one iteration's tensor, in the tensor of all: those counted from the end stay."""
    return axis + math.cast(math.greater_equal(axis, 0), axis.dtype)


def _behind_first_number(axis):
    return axis + 1 if axis >= 0 else axis


def flattened(tensor):
    """The iterations' dimension joined with the one after it, as ops want that know one batch only."""
    return array.reshape(tensor, array.concat([[-1], array.shape(tensor)[2:]], axis=0))


def unflattened(inputs, tensor):
    """The opposite of `flattened`."""
    return array.reshape(tensor, array.concat([inputs.length, [-1], array.shape(tensor)[1:]], axis=0))


@rule("Identity", "StopGradient")
def _identity(inputs):
    return stacked(inputs.op_like([inputs.stacked(0)]).outputs[0])


@rule("IdentityN")
def _identity_n(inputs):
    made = inputs.op_like(v.tensor for v in inputs.values).outputs
    return [type(v)(t, v.stacked) for v, t in zip(inputs.values, made, strict=True)]


@rule("Reshape")
def _reshape(inputs):
    tensor = inputs.stacked(0)
    return stacked(array.reshape(tensor, array.concat([inputs.length, inputs.same(1)], axis=0)))


@rule("BroadcastTo")
def _broadcast_to(inputs):
    tensor, shape = inputs.stacked(0), inputs.same(1)
    new_shape = array.concat([inputs.length, shape], axis=0)
    # Broadcasting aligns last dimensions, so the new ones go behind that of the iterations.
    more = array.shape(new_shape)[0] - array.rank(tensor)
    ones = array.tile([1], array.reshape(more, [1]))
    old_shape = array.shape(tensor)
    widened = array.reshape(tensor, array.concat([old_shape[:1], ones, old_shape[1:]], axis=0))
    return stacked(raw.BroadcastTo(input=widened, shape=new_shape))


@rule("ExpandDims")
def _expand_dims(inputs):
    return stacked(array.expand_dims(inputs.stacked(0), behind_first(inputs.same(1))))


@rule("Squeeze")
def _squeeze(inputs):
    axes = [_behind_first_number(axis) for axis in inputs.attrs["squeeze_dims"]]
    return stacked(array.squeeze(inputs.stacked(0), axes))


@rule("Transpose")
def _transpose(inputs):
    tensor, order = inputs.stacked(0), inputs.same(1)
    return stacked(array.transpose(tensor, array.concat([[0], order + 1], axis=0)))


@rule("ConcatV2")
def _concat(inputs):
    tensors = inputs.all_stacked(range(len(inputs) - 1))
    return stacked(array.concat(tensors, behind_first(inputs.same(len(inputs) - 1))))


@rule("Pack")
def _pack(inputs):
    return stacked(array.stack(inputs.all_stacked(), axis=_behind_first_number(inputs.attrs["axis"])))


@rule("Unpack")
def _unpack(inputs):
    made = array.unstack(inputs.stacked(0), axis=_behind_first_number(inputs.attrs["axis"]), num=inputs.attrs["num"])
    return [stacked(t) for t in made]


@rule("Split")
def _split(inputs):
    tensor = inputs.stacked(1)
    return [stacked(t) for t in array.split(tensor, inputs.attrs["num_split"], axis=behind_first(inputs.same(0)))]


@rule("SplitV")
def _split_v(inputs):
    tensor, sizes = inputs.stacked(0), inputs.same(1)
    return [stacked(t) for t in array.split(tensor, sizes, axis=behind_first(inputs.same(2)))]


@rule("Pad")
def _pad(inputs):
    tensor, paddings = inputs.stacked(0), inputs.same(1)
    return stacked(array.pad(tensor, array.concat([[[0, 0]], paddings], axis=0), mode="CONSTANT"))


@rule("Tile")
def _tile(inputs):
    tensor, multiples = inputs.stacked(0), inputs.same(1)
    return stacked(array.tile(tensor, array.concat([[1], multiples], axis=0)))


@rule("Slice")
def _slice(inputs):
    tensor = inputs.stacked(0)
    begin = array.concat([[0], inputs.same(1)], axis=0)
    size = array.concat([[-1], inputs.same(2)], axis=0)
    return stacked(raw.Slice(input=tensor, begin=begin, size=size))


def _slice_bounds(inputs, begin, end, strides):
    """The bounds and masks of a strided slice that takes all iterations whole."""
    masks = {
        name: inputs.attrs[name] << 1
        for name in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    }
    masks["begin_mask"] |= 1
    masks["end_mask"] |= 1
    bounds = {
        "begin": array.concat([[0], begin], axis=0),
        "end": array.concat([[0], end], axis=0),
        "strides": array.concat([[1], strides], axis=0),
    }
    return bounds | masks


@rule("StridedSlice")
def _strided_slice(inputs):
    tensor = inputs.stacked(0)
    return stacked(raw.StridedSlice(input=tensor, **_slice_bounds(inputs, *[inputs.same(i) for i in (1, 2, 3)])))


@rule("StridedSliceGrad")
def _strided_slice_grad(inputs):
    shape = array.concat([inputs.length, inputs.same(0)], axis=0)
    bounds = _slice_bounds(inputs, *[inputs.same(i) for i in (1, 2, 3)])
    return stacked(raw.StridedSliceGrad(shape=shape, dy=inputs.stacked(4), **bounds))


@rule("OneHot")
def _one_hot(inputs):
    indices = inputs.stacked(0)
    axis = _behind_first_number(inputs.attrs["axis"])
    return stacked(array.one_hot(indices, *[inputs.same(i) for i in (1, 2, 3)], axis=axis))


@rule("Gather", "GatherV2")
def _gather(inputs):
    indices = inputs.tensor(1)
    axis = np.int32(0) if inputs.op.type == "Gather" else constant_value(inputs.same(2))
    known = axis is not None
    if not known:
        axis = inputs.same(2)
    if not inputs.is_stacked(0):
        params = inputs.tensor(0)
        if not known or axis != 0:
            return stacked(_axis_to_front(array.gather(params, indices, axis=axis), axis, params))
        whole = params.shape.rank and params.shape.size(0) is not None and params.shape.size(0) == indices.shape.size(0)
        if indices is inputs.vectorizer.indices and whole:
            return stacked(params)  # each iteration takes its own row
        return stacked(array.gather(params, indices, axis=0))
    [params, indices] = inputs.all_stacked([0, 1])
    # The rows of all iterations below each other, and indices moved to those of their own iteration.
    rows = flattened(params)
    starts = math.range(inputs.length[0]) * array.shape(params)[1]
    rank = array.rank(indices)
    ones = array.ones([rank - 1], dtype=dtypes.int32)
    starts = array.reshape(starts, array.concat([inputs.length, ones], axis=0))
    indices = indices + math.cast(starts, indices.dtype)
    message = "Gather, where indices and param are both loop dependent, currently requires axis=0"
    if known and axis != 0:
        raise ValueError(f"Error while converting {inputs.op.node_def}. {message}")
    with control_dependencies([assert_equal(axis, 0, message=message)]):
        return stacked(array.gather(rows, indices, axis=0))


def _axis_to_front(tensor, axis, params):
    """A tensor whose iterations are along `axis`, with them in front."""
    axis = cond(axis < 0, lambda: axis + array.rank(params), lambda: axis)
    order = array.concat([[axis], math.range(axis), math.range(axis + 1, array.rank(tensor))], axis=0)
    return cond(math.equal(axis, 0), lambda: tensor, lambda: array.transpose(tensor, order))


@rule("ZerosLike")
def _zeros_like(inputs):
    tensor = inputs.stacked(0)
    return same(array.zeros(array.shape(tensor)[1:], tensor.dtype))


@rule("Shape")
def _shape(inputs):
    return same(array.shape(inputs.stacked(0), out_type=inputs.attrs["out_type"])[1:])


@rule("ShapeN")
def _shape_n(inputs):
    shapes = []
    for value in inputs.values:
        shape = array.shape(value.tensor, out_type=inputs.attrs["out_type"])
        shapes.append(same(shape[1:] if value.stacked else shape))
    return shapes


@rule("Size")
def _size(inputs):
    tensor = inputs.stacked(0)
    count = inputs.length[0]
    size = array.size(tensor, out_type=inputs.attrs["out_type"])
    return same(size // math.cast(count, size.dtype))


@rule("Rank")
def _rank(inputs):
    return same(array.rank(inputs.stacked(0)) - 1)


@rule("MatrixDiag")
def _matrix_diag(inputs):
    return stacked(matrix_diag(inputs.stacked(0)))


@rule("MatrixDiagPart")
def _matrix_diag_part(inputs):
    return stacked(matrix_diag_part(inputs.stacked(0)))


@rule("MatrixSetDiag")
def _matrix_set_diag(inputs):
    return stacked(matrix_set_diag(*inputs.all_stacked()))


@rule("MatrixDiagV2", "MatrixDiagPartV2")
def _matrix_diag_v2(inputs):
    others = [inputs.same(i) for i in range(1, len(inputs))]
    return stacked(inputs.op_like([inputs.stacked(0), *others]).outputs[0])


@rule("MatrixSetDiagV2")
def _matrix_set_diag_v2(inputs):
    return stacked(inputs.op_like([*inputs.all_stacked([0, 1]), inputs.same(2)]).outputs[0])


@rule("MatrixBandPart")
def _matrix_band_part(inputs):
    return stacked(matrix_band_part(inputs.stacked(0), num_lower=inputs.same(1), num_upper=inputs.same(2)))


@rule("Select")
def _select(inputs):
    condition, a, b = inputs.all_stacked()
    # A vector of conditions picks rows, so conditions of more dimensions need all of them in one.
    rank = array.rank(condition)
    tensors = cond(
        math.greater(rank, 1), lambda: [flattened(condition), flattened(a), flattened(b)], lambda: [condition, a, b]
    )
    picked = raw.Select(condition=tensors[0], t=tensors[1], e=tensors[2])
    return stacked(cond(math.greater(rank, 1), lambda: unflattened(inputs, picked), lambda: picked))


@rule("SelectV2")
def _select_v2(inputs):
    return stacked(array.where_v2(*inputs.aligned()))


@rule("ParseSingleExample")
def _parse_single_example(inputs):
    attrs = inputs.attrs
    made = raw.ParseExample(
        serialized=inputs.stacked(0),
        names=array.constant([], "string"),
        sparse_keys=[array.constant(key) for key in attrs["sparse_keys"]],
        dense_keys=[array.constant(key) for key in attrs["dense_keys"]],
        dense_defaults=[inputs.same(i) for i in range(1, len(inputs))],
        sparse_types=attrs["sparse_types"],
        dense_shapes=attrs["dense_shapes"],
    )
    sparse = [*made.sparse_indices, *made.sparse_values, *made.sparse_shapes]
    return [*map(SparsePart, sparse), *map(stacked, made.dense_values)]
