"""`map_fn` over the rows of ragged tensors, with results that may be ragged themselves."""

from __future__ import annotations

import dataclasses

from everflow.framework import dtypes, nest
from everflow.framework.scopes import name_scope
from everflow.ops import array
from everflow.ops.control_flow.loops import while_loop
from everflow.ops.control_flow.maps import map_fn as map_dense
from everflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor, nvals
from everflow.ops.ragged.value import RaggedTensorValue
from everflow.ops.tensor_arrays.tensor_array import TensorArray


@dataclasses.dataclass(frozen=True, eq=False)
class RaggedTensorType:
    """What a mapped function gives when its results are put together to a ragged tensor."""

    dtype: dtypes.DType
    ragged_rank: int
    row_splits_dtype: dtypes.DType = dtypes.int64


def map_fn(
    fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, name=None
):
    """`fn` applied to each row of `elems`: tensors, ragged or not. A `dtype` that is a RaggedTensorType says that its
    results are rows of a ragged tensor.
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    flat = nest.flatten(elems)
    kinds = [None] if dtype is None else nest.flatten(dtype)
    ragged_elems = any(isinstance(e, RaggedTensor | RaggedTensorValue) for e in flat)
    if not ragged_elems and not any(isinstance(k, RaggedTensorType) for k in kinds):
        return map_dense(fn, elems, dtype, parallel_iterations, back_prop, swap_memory, infer_shape, name)
    with name_scope(name, "map", flat):
        flat = [as_ragged_or_tensor(e, "elem") for e in flat]
        if flat[0].shape.rank == 0:
            raise ValueError("elems must have at least one dimension to go along; got a scalar")
        like = dtype if dtype is not None else elems
        kinds = nest.flatten(dtype) if dtype is not None else [e.dtype for e in flat]
        count = nvals(flat[0], dtypes.int32)
        results = [_arrays(kind, count, infer_shape) for kind in kinds]

        def compute(i, arrays):
            made = fn(nest.pack_sequence_as(elems, [e[i] for e in flat]))
            nest.assert_same_structure(like, made)
            made = [as_ragged_or_tensor(m) for m in nest.flatten(made)]
            return i + 1, [_written(*each, i) for each in zip(kinds, arrays, made, strict=True)]

        _, results = while_loop(
            lambda i, _: i < count,
            compute,
            (array.constant(0), results),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return nest.pack_sequence_as(like, [_joined(*each) for each in zip(kinds, results, strict=True)])


def _arrays(kind, count, infer_shape):
    """Where results are kept: of a ragged one its values, and for each dimension the lengths of rows."""
    if not isinstance(kind, RaggedTensorType):
        return [TensorArray(kind, size=count, infer_shape=infer_shape)]
    if kind.ragged_rank == 0:
        return [TensorArray(kind.dtype, size=count, infer_shape=infer_shape)]
    values = TensorArray(kind.dtype, size=count, infer_shape=infer_shape)
    outer = TensorArray(kind.row_splits_dtype, size=count, infer_shape=False, element_shape=[])
    inner = [TensorArray(kind.row_splits_dtype, size=count, infer_shape=False) for _ in range(kind.ragged_rank - 1)]
    return [values, outer, *inner]


def _written(kind, arrays, value, i):
    wanted = kind if isinstance(kind, RaggedTensorType) else RaggedTensorType(dtypes.as_dtype(kind), 0)
    rank = value.ragged_rank if isinstance(value, RaggedTensor) else 0
    if wanted.dtype != value.dtype:
        raise ValueError(f"The function was to give values of {wanted.dtype.name}; these are of {value.dtype.name}")
    if rank != max(wanted.ragged_rank - 1, 0) or isinstance(kind, RaggedTensorType) and kind.ragged_rank == 0:
        raise ValueError(f"A result of ragged_rank={wanted.ragged_rank} is not what rows of ragged_rank {rank} make")
    parts = [value.flat_values if rank else value]
    if wanted.ragged_rank:
        parts.append(nvals(value, wanted.row_splits_dtype))
        if rank and value.row_splits.dtype != wanted.row_splits_dtype:
            raise ValueError(
                f"The function was to give row_splits of {wanted.row_splits_dtype.name}; these are of "
                f"{value.row_splits.dtype.name}. with_row_splits_dtype() changes them"
            )
        parts += value.nested_row_lengths() if rank else ()
    return [a.write(i, part) for a, part in zip(arrays, parts, strict=True)]


def _joined(kind, arrays):
    values, *lengths = arrays
    if not lengths:
        return values.stack()
    outer, *inner = lengths
    splits = [outer.stack(), *(each.concat() for each in inner)]
    return RaggedTensor.from_nested_row_lengths(values.concat(), splits, validate=False)
