"""Gradients of array ops; those of gathers and patches have files of their own."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.registry import gradient, not_differentiable
from everflow.framework.scopes import colocate_with
from everflow.framework.slicing import MASKS
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.constants import constant

not_differentiable(
    "Shape",
    "ShapeN",
    "Size",
    "Rank",
    "ConcatOffset",
    "OneHot",
    "ZerosLike",
    "OnesLike",
    "BroadcastGradientArgs",
    "EditDistance",
    "InvertPermutation",
    "StopGradient",
)


# Passing on and reshaping


@gradient("Identity", "RefIdentity", "EnsureShape")
def _identity_grad(op, grad):
    return grad


@gradient("IdentityN")
def _identity_n_grad(op, *grads):
    return grads


@gradient("PreventGradient")
def _prevent_gradient_grad(op, grad):
    raise LookupError(f"Gradient explicitly disabled. Reason: {op.get_attr('message')!r}")


@gradient("Reshape", "ExpandDims")
def _reshape_grad(op, grad):
    return array.reshape(grad, array.shape(op.inputs[0])), None


@gradient("Squeeze")
def _squeeze_grad(op, grad):
    return array.reshape(grad, array.shape(op.inputs[0]))


@gradient("BroadcastTo")
def _broadcast_to_grad(op, grad):
    source_shape = array.shape(op.inputs[0])
    axes = raw.BroadcastGradientArgs(s0=op.inputs[1], s1=source_shape).r1
    return array.reshape(math.reduce_sum(grad, axis=axes, keepdims=True), source_shape), None


@gradient("Fill")
def _fill_grad(op, grad):
    return None, math.reduce_sum(grad)


# Joining and splitting


@gradient("Pack")
def _pack_grad(op, grad):
    return array.unstack(grad, num=op.attrs["N"], axis=op.attrs["axis"])


@gradient("Unpack")
def _unpack_grad(op, *grads):
    return array.stack(list(grads), axis=op.attrs["axis"])


@gradient("ConcatV2")
def _concat_v2_grad(op, grad):
    return [*_concat_grad(grad, op.inputs[:-1], op.inputs[-1]), None]


@gradient("Concat")
def _concat_v1_grad(op, grad):
    return [None, *_concat_grad(grad, op.inputs[1:], op.inputs[0])]


# Above this many parts one Split replaces a Slice for each.
_MANY_PARTS = 16


def _concat_grad(grad, parts, axis):
    if len(parts) == 1:
        return [grad]
    if not axis.is_eager and _is_constant(axis) and _output_context(axis.op) is not _output_context(grad.op):
        axis = constant(constant_value(axis), dtype=axis.dtype)  # a copy in the loop or branch that the gradient is in
    where = math.floormod(axis, array.rank(parts[0]), name="mod")
    if isinstance(grad, IndexedSlices):
        return _concat_grad_of_slices(grad, parts, axis, where)
    sizes = _shapes_of(parts)
    if len(sizes) > _MANY_PARTS:
        lengths = array.squeeze(array.slice_(array.stack(sizes, axis=1), [where, 0], [1, -1]))
        return array.split(grad, lengths, where)
    offsets = raw.ConcatOffset(concat_dim=where, shape=sizes)
    return [array.slice_(grad, begin, size) for begin, size in zip(offsets, sizes, strict=True)]


def _is_constant(tensor):
    op = getattr(tensor, "op", None)  # tensors of eager execution have none
    return op is not None and op.type == "Const"


def _output_context(op):
    """The loop or branch that an op's outputs are in."""
    context = op._get_control_flow_context()
    return context.outer_context if context is not None and op.type in ("Exit", "RefExit") else context


def _shapes_of(tensors):
    """Shapes as constants where all are known, else from one ShapeN."""
    sizes = []
    for t in tensors:
        sizes.append(array.shape(t))
        if not _is_constant(sizes[-1]):
            return raw.ShapeN(input=list(tensors))
    return sizes


def _concat_grad_of_slices(grad, parts, axis, where):
    static = constant_value(axis)
    if static is None:
        raise ValueError(f"Slices can only be split along an axis that is known while building; {axis.name} isn't")
    if static < 0:
        rank = constant_value(array.rank(parts[0]))
        if rank is None:
            raise ValueError(
                f"Slices can't be split along axis {static}: the rank of {parts[0].name} is unknown; count from 0"
            )
        static = static % rank  # not in place: the graph's own constant
    sizes = [array.shape(t) for t in parts]
    grads = []
    if static > 0:
        # All rows stay; each part gets its columns of them.
        rank = array.shape(sizes[0])
        before = array.fill(array.expand_dims(where, 0), 0)
        after = array.fill(math.subtract(math.subtract(rank, where, name="sub"), 1, name="sub"), 0)
        mask = array.concat([before, [1], after], 0)
        begin = array.fill(rank, 0)
        for size in sizes:
            values = array.slice_(grad.values, begin, array.concat([[-1], array.slice_(size, [1], [-1])], 0))
            grads.append(IndexedSlices(values, grad.indices, size))
            begin = math.add(begin, math.multiply(size, mask, name="mul"))
        return grads
    # Each part gets the rows that fall into it.
    start = constant(0, dtype=grad.indices.dtype)
    for size in sizes:
        length = math.cast(array.gather(size, where), grad.indices.dtype)
        end = start + length
        inside = math.logical_and(math.greater_equal(grad.indices, start), math.less(grad.indices, end))
        chosen = array.squeeze(array.where(inside), axis=[1])
        indices = math.subtract(array.gather(grad.indices, chosen), start, name="sub")
        grads.append(IndexedSlices(array.gather(grad.values, chosen), indices, size))
        start = end
    return grads


@gradient("Split")
def _split_grad(op, *grads):
    return None, array.concat(list(grads), op.inputs[0])


@gradient("SplitV")
def _split_v_grad(op, *grads):
    return array.concat(list(grads), op.inputs[2]), None, None


# Slices and pads


@gradient("Slice")
def _slice_grad(op, grad):
    source, begin = op.inputs[0], op.inputs[1]
    rank = array.rank(source)
    size = array.shape(op.outputs[0], out_type=begin.dtype)
    layout = array.stack([rank, 1])
    before = array.reshape(begin, layout)
    after = array.reshape(array.shape(source, out_type=begin.dtype) - size - begin, layout)
    return array.pad(grad, array.concat([before, after], 1)), None, None


def _masks(op):
    return {name: op.attrs[name] for name in MASKS}


@gradient("StridedSlice")
def _strided_slice_grad(op, grad):
    source, begin, end, strides = op.inputs
    shape = array.shape(source, out_type=begin.dtype)
    return (
        raw.StridedSliceGrad(shape=shape, begin=begin, end=end, strides=strides, dy=grad, **_masks(op)),
        None,
        None,
        None,
    )


@gradient("StridedSliceGrad")
def _strided_slice_grad_grad(op, grad):
    begin, end, strides = op.inputs[1:4]
    return None, None, None, None, array.strided_slice(grad, begin, end, strides, **_masks(op))


@gradient("Pad", "PadV2")
def _pad_grad(op, grad):
    source, paddings = op.inputs[0], op.inputs[1]
    before = array.slice_(paddings, [0, 0], array.stack([array.rank(source), 1]))
    begin = array.reshape(before, [-1])
    size = array.shape(source, out_type=begin.dtype)
    return [array.slice_(grad, begin, size)] + [None] * (len(op.inputs) - 1)


@gradient("MirrorPad")
def _mirror_pad_grad(op, grad):
    return raw.MirrorPadGrad(input=grad, paddings=op.inputs[1], mode=op.attrs["mode"]), None


@gradient("MirrorPadGrad")
def _mirror_pad_grad_grad(op, grad):
    return raw.MirrorPad(input=grad, paddings=op.inputs[1], mode=op.attrs["mode"]), None


# Layout


@gradient("Tile")
def _tile_grad(op, grad):
    source, multiples = op.inputs
    shape = array.shape(source, out_type=multiples.dtype)
    split = array.reshape(array.transpose(array.stack([multiples, shape])), [-1])
    axes = math.range(0, array.size(split), 2)
    if isinstance(grad, IndexedSlices):
        rows = math.cast(shape[0], grad.indices.dtype)
        grad = math.unsorted_segment_sum(grad.values, math.mod(grad.indices, rows), rows)
        split = array.concat([[1], split[1:]], axis=0)
    result = math.reduce_sum(array.reshape(grad, split), axes)
    result.set_shape(source.shape)
    return result, None


@gradient("Transpose")
def _transpose_grad(op, grad):
    return array.transpose(grad, array.invert_permutation(op.inputs[1])), None


@gradient("ConjugateTranspose")
def _conjugate_transpose_grad(op, grad):
    return array.transpose(grad, array.invert_permutation(op.inputs[1]), conjugate=True), None


@gradient("ReverseV2")
def _reverse_v2_grad(op, grad):
    return array.reverse(grad, op.inputs[1]), None


@gradient("Reverse")
def _reverse_grad(op, grad):
    return raw.Reverse(tensor=grad, dims=op.inputs[1]), None


@gradient("ReverseSequence")
def _reverse_sequence_grad(op, grad):
    lengths = op.inputs[1]
    return array.reverse_sequence(grad, lengths, seq_axis=op.attrs["seq_dim"], batch_axis=op.attrs["batch_dim"]), None


@gradient("Roll")
def _roll_grad(op, grad):
    _, shift, axis = op.inputs
    return array.roll(grad, math.negative(shift), axis), None, None


@gradient("SpaceToBatchND")
def _space_to_batch_nd_grad(op, grad):
    return array.batch_to_space_nd(grad, op.inputs[1], op.inputs[2]), None, None


@gradient("BatchToSpaceND")
def _batch_to_space_nd_grad(op, grad):
    return array.space_to_batch_nd(grad, op.inputs[1], op.inputs[2]), None, None


@gradient("SpaceToBatch")
def _space_to_batch_grad(op, grad):
    return raw.BatchToSpace(input=grad, crops=op.inputs[1], block_size=op.attrs["block_size"]), None


@gradient("BatchToSpace")
def _batch_to_space_grad(op, grad):
    return raw.SpaceToBatch(input=grad, paddings=op.inputs[1], block_size=op.attrs["block_size"]), None


def _checked_format(op, inverse):
    data_format = op.attrs["data_format"].decode()
    if data_format == "NCHW_VECT_C":
        raise ValueError(
            f"Cannot compute {op.type} gradient with NCHW_VECT_C. {inverse} with NCHW_VECT_C requires qint8 data type."
        )
    return data_format


@gradient("SpaceToDepth")
def _space_to_depth_grad(op, grad):
    return array.depth_to_space(grad, op.attrs["block_size"], data_format=_checked_format(op, "DepthToSpace"))


@gradient("DepthToSpace")
def _depth_to_space_grad(op, grad):
    return array.space_to_depth(grad, op.attrs["block_size"], data_format=_checked_format(op, "SpaceToDepth"))


# Choosing, partitions, scatters


@gradient("Select")
def _select_grad(op, grad):
    condition, x, _ = op.inputs
    zeros = array.zeros_like(x)
    return None, array.where(condition, grad, zeros), array.where(condition, zeros, grad)


@gradient("SelectV2")
def _select_v2_grad(op, grad):
    condition, x, y = op.inputs
    zeros = array.zeros([], dtype=grad.dtype.base_dtype)
    chosen = array.where_v2(condition, grad, zeros)
    x_shape, output_shape = array.shape(x), array.shape(op.outputs[0])
    x_grad = _summed_to(chosen, x_shape, output_shape)
    rest = array.where_v2(condition, zeros, grad)
    return None, x_grad, _summed_to(rest, array.shape(y), output_shape)


def _summed_to(grad, shape, output_shape):
    axes = raw.BroadcastGradientArgs(s0=shape, s1=output_shape).r0
    return array.reshape(math.reduce_sum(grad, keepdims=True, axis=axes), shape)


@gradient("DynamicPartition")
def _dynamic_partition_grad(op, *grads):
    data, partitions = op.inputs
    prefix = array.shape(partitions)
    positions = array.reshape(math.range(math.reduce_prod(prefix)), prefix)
    parted = array.dynamic_partition(positions, partitions, op.attrs["num_partitions"])
    whole = array.dynamic_stitch(parted, list(grads))
    return array.reshape(whole, array.shape(data)), None


@gradient("DynamicStitch", "ParallelDynamicStitch")
def _dynamic_stitch_grad(op, grad):
    indices = [math.cast(t, dtypes.int32) for t in op.inputs[: op.attrs["N"]]]
    if isinstance(grad, IndexedSlices):
        rows = array.shape(op.outputs[0])[0]
        grad = math.unsorted_segment_sum(grad.values, grad.indices, rows)
    return [None] * len(indices) + [array.gather(grad, index) for index in indices]


@gradient("ScatterNd")
def _scatter_nd_grad(op, grad):
    return None, array.gather_nd(grad, op.inputs[0]), None


@gradient("ScatterNdNonAliasingAdd")
def _scatter_nd_non_aliasing_add_grad(op, grad):
    return grad, None, array.gather_nd(grad, op.inputs[1])


@gradient("TensorScatterUpdate")
def _tensor_scatter_update_grad(op, grad):
    _, indices, updates = op.inputs
    updates_grad = array.gather_nd(grad, indices)
    kept = array.tensor_scatter_update(array.identity(grad), indices, array.zeros_like(updates, dtype=grad.dtype))
    return kept, None, updates_grad


@gradient("TensorScatterAdd")
def _tensor_scatter_add_grad(op, grad):
    updates_grad = array.gather_nd(grad, op.inputs[1])
    return array.identity(grad), None, updates_grad


@gradient("TensorScatterSub")
def _tensor_scatter_sub_grad(op, grad):
    updates_grad = array.gather_nd(grad, op.inputs[1])
    tensor_grad = array.identity(grad)
    return tensor_grad, None, math.negative(updates_grad)


# Diagonals


@gradient("Diag")
def _diag_grad(op, grad):
    return array.diag_part(grad)


@gradient("DiagPart")
def _diag_part_grad(op, grad):
    return array.diag(grad)


@gradient("MatrixDiag")
def _matrix_diag_grad(op, grad):
    return array.matrix_diag_part(grad)


@gradient("MatrixDiagV2")
def _matrix_diag_v2_grad(op, grad):
    return array.matrix_diag_part(grad, k=op.inputs[1]), None, None, None, None


@gradient("MatrixDiagPart")
def _matrix_diag_part_grad(op, grad):
    sides = op.inputs[0].shape[-2:]
    if sides.is_fully_defined() and sides[0] == sides[1]:
        return array.matrix_diag(grad)
    return array.matrix_set_diag(array.zeros_like(op.inputs[0]), grad)


@gradient("MatrixDiagPartV2")
def _matrix_diag_part_v2_grad(op, grad):
    return array.matrix_set_diag(array.zeros_like(op.inputs[0]), grad, k=op.inputs[1]), None, None


@gradient("MatrixSetDiag")
def _matrix_set_diag_grad(op, grad):
    source = op.inputs[0].shape.merge_with(grad.shape)
    batch = source[:-2].merge_with(op.inputs[1].shape[:-1])
    sides = source[-2:]
    if batch.is_fully_defined() and sides.is_fully_defined():
        diagonal_shape = batch.as_list() + [min(sides.as_list())]
    else:
        with colocate_with(grad):
            shape, rank = array.shape(grad), array.rank(grad)
            lead = array.slice_(shape, [0], [math.subtract(rank, 2, name="sub")])
            last = array.slice_(shape, [math.subtract(rank, 2, name="sub")], [2])
            diagonal_shape = array.concat([lead, [math.reduce_min(last)]], 0)
    kept = array.matrix_set_diag(grad, array.zeros(diagonal_shape, dtype=grad.dtype))
    return kept, array.matrix_diag_part(grad)


@gradient("MatrixSetDiagV2")
def _matrix_set_diag_v2_grad(op, grad):
    _, diagonal, k = op.inputs
    kept = array.matrix_set_diag(grad, array.zeros_like(diagonal), k=k)
    return kept, array.matrix_diag_part(grad, k=k), None


@gradient("MatrixBandPart")
def _matrix_band_part_grad(op, grad):
    return array.matrix_band_part(grad, op.inputs[1], op.inputs[2]), None, None
