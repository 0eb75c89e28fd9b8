"""Dense tensors of ids as sparse ones, without a value that stands for nothing."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math


def _nothing(dtype):
    return "" if dtype == dtypes.string else dtype.as_numpy_dtype()


def dense_to_sparse_tensor(dense_tensor, ignore_value=None):
    """The elements that differ from `ignore_value` (zero, or an empty string), as a SparseTensor."""
    with name_scope("DenseToSparseTensor"):
        dense_tensor = convert_to_tensor(dense_tensor)
        ignored = _nothing(dense_tensor.dtype) if ignore_value is None else ignore_value
        ignored = math.cast(ignored, dense_tensor.dtype, name="ignore_value")
        indices = array.where(math.not_equal(dense_tensor, ignored), name="indices")
        values = array.gather_nd(dense_tensor, indices, name="values")
        return SparseTensor(indices, values, array.shape(dense_tensor, out_type=dtypes.int64, name="dense_shape"))


def indicators_to_sparse_ids(indicators, ignore_value=None, dtype=dtypes.int64):
    """Rows of indicators as rows of the positions where they are on."""
    with name_scope("IndicatorsToSparseIds"):
        indicators = convert_to_tensor(indicators, name="indicators")
        ignored = ignore_value if ignore_value is not None else _nothing(indicators.dtype)
        missing = convert_to_tensor(ignored, dtype=indicators.dtype, name="missing")
        # Where something is on, by row; its place in the row is the id, its rank there the place in the result.
        on = math.not_equal(indicators, missing, name="is_present")
        places = array.where(on)
        rows, ids = places[:, :-1], math.cast(places[:, -1], dtype)
        before = math.cumsum(math.cast(on, dtypes.int64), axis=-1, exclusive=True)
        order = array.gather_nd(before, places)
        longest = math.reduce_max(math.reduce_sum(math.cast(on, dtypes.int64), axis=-1))
        shape = array.concat([array.shape(indicators, out_type=dtypes.int64)[:-1], array.reshape(longest, [1])], 0)
        return SparseTensor(array.concat([rows, array.expand_dims(order, -1)], 1), ids, shape)


def sparse_row_envelope(sparse_input, row_axis=0, col_axis=1, name=None):
    """For each row, one more than the last column with a value; 0 for an empty row."""
    with name_scope(name, "sparse_row_envelope", [sparse_input]):
        rows, columns = sparse_input.indices[:, row_axis], sparse_input.indices[:, col_axis]
        count = math.cast(sparse_input.dense_shape[row_axis], dtypes.int32)
        lengths = math.unsorted_segment_max(columns + 1, rows, count)
        zeros = array.zeros_like(lengths)
        return array.where(lengths > zeros, lengths, zeros)


def bucketize(input_tensor, boundaries, name=None):
    """Which bucket each value is in: how many of the sorted `boundaries` are not above it."""
    return raw.Bucketize(input=input_tensor, boundaries=boundaries, name=name)
