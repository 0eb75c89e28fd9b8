# Made by `make stubs`.
from everflow import sparse_add as _sparse_add
from everflow import sparse_concat as _sparse_concat
from everflow import sparse_fill_empty_rows as _sparse_fill_empty_rows
from everflow import sparse_mask as _sparse_mask
from everflow import sparse_maximum as _sparse_maximum
from everflow import sparse_merge as _sparse_merge
from everflow import sparse_minimum as _sparse_minimum
from everflow import sparse_placeholder as _sparse_placeholder
from everflow import sparse_reduce_max as _sparse_reduce_max
from everflow import sparse_reduce_max_sparse as _sparse_reduce_max_sparse
from everflow import sparse_reduce_sum as _sparse_reduce_sum
from everflow import sparse_reduce_sum_sparse as _sparse_reduce_sum_sparse
from everflow import sparse_reorder as _sparse_reorder
from everflow import sparse_reset_shape as _sparse_reset_shape
from everflow import sparse_reshape as _sparse_reshape
from everflow import sparse_retain as _sparse_retain
from everflow import sparse_segment_mean as _sparse_segment_mean
from everflow import sparse_segment_sqrt_n as _sparse_segment_sqrt_n
from everflow import sparse_segment_sum as _sparse_segment_sum
from everflow import sparse_slice as _sparse_slice
from everflow import sparse_softmax as _sparse_softmax
from everflow import sparse_split as _sparse_split
from everflow import sparse_tensor_dense_matmul as _sparse_tensor_dense_matmul
from everflow import sparse_tensor_to_dense as _sparse_tensor_to_dense
from everflow import sparse_to_indicator as _sparse_to_indicator
from everflow import sparse_transpose as _sparse_transpose
import everflow as _tf
from everflow._typing import Any, AxisLike, DTypeLike, ScalarLike, TensorLike

from everflow import SparseConditionalAccumulator as SparseConditionalAccumulator
from everflow import SparseTensor as SparseTensor
add = _sparse_add
concat = _sparse_concat
def cross(inputs: Any, name: str | None = None) -> _tf.SparseTensor: ...
def cross_hashed(inputs: Any, num_buckets: ScalarLike | None = 0, hash_key: Any = None, name: str | None = None) -> _tf.SparseTensor: ...
def expand_dims(sp_input: _tf.SparseTensor, axis: AxisLike | None = None, name: str | None = None) -> _tf.SparseTensor: ...
def eye(num_rows: Any, num_columns: Any = None, dtype: DTypeLike = ..., name: str | None = None) -> _tf.SparseTensor: ...
fill_empty_rows = _sparse_fill_empty_rows
def from_dense(tensor: TensorLike, name: str | None = None) -> _tf.SparseTensor: ...
mask = _sparse_mask
matmul = _sparse_tensor_dense_matmul
maximum = _sparse_maximum
merge = _sparse_merge
minimum = _sparse_minimum
placeholder = _sparse_placeholder
reduce_max = _sparse_reduce_max
reduce_max_sparse = _sparse_reduce_max_sparse
reduce_sum = _sparse_reduce_sum
reduce_sum_sparse = _sparse_reduce_sum_sparse
reorder = _sparse_reorder
reset_shape = _sparse_reset_shape
reshape = _sparse_reshape
retain = _sparse_retain
segment_mean = _sparse_segment_mean
segment_sqrt_n = _sparse_segment_sqrt_n
segment_sum = _sparse_segment_sum
slice = _sparse_slice
softmax = _sparse_softmax
sparse_dense_matmul = _sparse_tensor_dense_matmul
split = _sparse_split
to_dense = _sparse_tensor_to_dense
to_indicator = _sparse_to_indicator
transpose = _sparse_transpose
