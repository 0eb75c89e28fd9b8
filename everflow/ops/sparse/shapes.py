"""Static shapes of sparse ops: three tensors for each sparse tensor, of which the rank is mostly known and the count
mostly not.
"""

from __future__ import annotations

from everflow.framework.registry import shape_rule
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import known_shape, known_value
from everflow.ops.array.basic import known_ints
from everflow.ops.shape_rules import scalar_output, vector_output


def _parts(count, rank):
    """The shapes of indices, values and dense shape."""
    return [TensorShape([count, rank]), TensorShape([count]), TensorShape([rank])]


def _rank(shape_tensor, indices=None):
    """The rank of a sparse tensor, from its dense shape or its indices."""
    found = shape_tensor.shape.with_rank(1).size(0)
    if found is None and indices is not None and indices.shape.rank == 2:
        found = indices.shape.size(1)
    return found


def _count(indices, values):
    return indices.shape.with_rank(2).dims[0].merge_with(values.shape.with_rank(1).dims[0]).value


@shape_rule("SparseToDense")
def _to_dense(op):
    return known_shape(op.inputs[1])


@shape_rule("SparseReorder")
def _reorder(op):
    indices, values, dense = op.inputs
    dense.shape.with_rank(1)
    return [indices.shape.with_rank(2), values.shape.with_rank(1)]


@shape_rule("SparseReshape")
def _reshape(op):
    indices, _, new_shape = op.inputs
    rank = new_shape.shape.with_rank(1).size(0)
    return [TensorShape([indices.shape.with_rank(2)[0], rank]), TensorShape([rank])]


@shape_rule("SparseConcat")
def _concat(op):
    n = op.attrs["N"]
    indices, values, dense = op.inputs[:n], op.inputs[n : 2 * n], op.inputs[2 * n :]
    counts = [_count(i, v) for i, v in zip(indices, values, strict=True)]
    rank = None
    for s, i in zip(dense, indices, strict=True):
        found = _rank(s, i)
        if rank is not None and found is not None and found != rank:
            raise ValueError(f"Dimensions must be equal, but are {rank} and {found}")
        rank = found if rank is None else rank
    return _parts(None if None in counts else sum(counts), rank)


@shape_rule("SparseSplit")
def _split(op):
    n, rank = op.attrs["num_split"], _rank(op.inputs[3])
    indices, values, dense = _parts(None, rank)
    return [indices] * n + [values] * n + [dense] * n


@shape_rule("SparseSlice")
def _slice(op):
    return _parts(None, _rank(op.inputs[2], op.inputs[0]))


@shape_rule("SparseSliceGrad")
def _slice_grad(op):
    return TensorShape([op.inputs[1].shape.with_rank(2)[0]])


@shape_rule("SparseFillEmptyRows")
def _fill_empty_rows(op):
    indices, values, dense, default = op.inputs
    if default.shape.rank not in (None, 0):
        raise ValueError(f"Shape must be rank 0 but is rank {default.shape.rank}")
    sizes = known_shape(dense)
    rows = sizes.size(0) if sizes.rank else None
    rank = _rank(dense, indices)
    return [TensorShape([None, rank]), TensorShape([None]), TensorShape([rows]), TensorShape([_count(indices, values)])]


@shape_rule("SparseFillEmptyRowsGrad")
def _fill_empty_rows_grad(op):
    return [op.inputs[0].shape.with_rank(1), TensorShape([])]


@shape_rule("SparseAdd")
def _add(op):
    return _parts(None, _rank(op.inputs[2], op.inputs[0]))


@shape_rule("SparseAddGrad")
def _add_grad(op):
    return [TensorShape([t.shape.with_rank(2)[0]]) for t in op.inputs[1:3]]


@shape_rule("SparseSparseMaximum", "SparseSparseMinimum")
def _of_both(op):
    return [TensorShape([None, None]), TensorShape([None])]


@shape_rule("SparseSoftmax")
def _softmax(op):
    return op.inputs[1].shape.with_rank(1)


@shape_rule("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv")
def _cwise(op):
    return TensorShape([op.inputs[0].shape.with_rank(2)[0]])


@shape_rule("SparseTensorDenseAdd")
def _dense_add(op):
    return op.inputs[3].shape


@shape_rule("SparseTensorDenseMatMul")
def _matmul(op):
    op.inputs[0].shape.with_rank(2)
    a, b = known_shape(op.inputs[2]).with_rank(2), op.inputs[3].shape.with_rank(2)
    inner, rows = a.sizes if op.attrs["adjoint_a"] else a.sizes[::-1]
    other, columns = b.sizes[::-1] if op.attrs["adjoint_b"] else b.sizes
    if inner is not None and other is not None and inner != other:
        raise ValueError(f"Dimensions must be equal, but are {inner} and {other}")
    return TensorShape([rows, columns])


@shape_rule("SparseReduceSum", "SparseReduceMax")
def _reduce(op):
    sizes, axes = known_value(op.inputs[2]), known_ints(op.inputs[3])
    if sizes is None or axes is None:
        return None
    rank = len(sizes)
    if any(not -rank <= a < rank for a in axes):
        return None  # it raises when it runs
    gone = {a % rank for a in axes}
    if op.attrs["keep_dims"]:
        return TensorShape([1 if i in gone else int(s) for i, s in enumerate(sizes)])
    return TensorShape([int(s) for i, s in enumerate(sizes) if i not in gone])


@shape_rule("SparseCross", "SparseFeatureCross", "SparseFeatureCrossV2")
def _cross(op):
    return _parts(None, 2)


@shape_rule("SerializeSparse")
def _serialize(op):
    return TensorShape([3])


@shape_rule("SerializeManySparse")
def _serialize_many(op):
    return TensorShape([None, 3])


@shape_rule("DeserializeManySparse", "TakeManySparseFromTensorsMap", "DeserializeSparse")
def _deserialize(op):
    return _parts(None, None)


shape_rule("AddSparseToTensorsMap")(scalar_output)
shape_rule("AddManySparseToTensorsMap")(vector_output)


def _set_rank(*ranks):
    found = [r for r in ranks if r is not None]
    for r in found:
        if r < 2:
            raise ValueError(f"Shape must be at least rank 2 but is rank {r}")
        if r != found[0]:
            raise ValueError(f"Shape must be rank {found[0]} but is rank {r}")
    return found[0] if found else None


@shape_rule("DenseToDenseSetOperation")
def _dense_sets(op):
    first, second = (t.shape for t in op.inputs)
    rank = _set_rank(first.rank, second.rank)
    if first.rank is not None and second.rank is not None:
        for i, (a, b) in enumerate(zip(first.sizes[:-1], second.sizes[:-1], strict=True)):
            if a is not None and b is not None and a != b:
                raise ValueError(
                    f"Dimension {i} in both shapes must be equal, but are {a} and {b}. Shapes are {first[:-1]} and {second[:-1]}."
                )
    return _parts(None, rank)


@shape_rule("DenseToSparseSetOperation")
def _mixed_sets(op):
    return _parts(None, _set_rank(op.inputs[0].shape.rank, _rank(op.inputs[3], op.inputs[1])))


@shape_rule("SparseToSparseSetOperation")
def _sparse_sets(op):
    return _parts(None, _set_rank(_rank(op.inputs[2], op.inputs[0]), _rank(op.inputs[5], op.inputs[3])))
