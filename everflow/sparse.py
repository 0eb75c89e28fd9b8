"""tf.sparse: tensors given by their non-zero elements."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.framework.composites import SparseTensor
from everflow.ops.math import sparse_segment_mean as segment_mean
from everflow.ops.math import sparse_segment_sqrt_n as segment_sqrt_n
from everflow.ops.math import sparse_segment_sum as segment_sum
from everflow.ops.queues.accumulators import SparseConditionalAccumulator
from everflow.ops.sparse.functions import from_dense
from everflow.ops.sparse.functions import sparse_add as add
from everflow.ops.sparse.functions import sparse_concat as concat
from everflow.ops.sparse.functions import sparse_cross as cross
from everflow.ops.sparse.functions import sparse_cross_hashed as cross_hashed
from everflow.ops.sparse.functions import sparse_expand_dims as expand_dims
from everflow.ops.sparse.functions import sparse_eye as eye
from everflow.ops.sparse.functions import sparse_fill_empty_rows as fill_empty_rows
from everflow.ops.sparse.functions import sparse_mask as mask
from everflow.ops.sparse.functions import sparse_maximum as maximum
from everflow.ops.sparse.functions import sparse_merge as merge
from everflow.ops.sparse.functions import sparse_minimum as minimum
from everflow.ops.sparse.functions import sparse_placeholder as placeholder
from everflow.ops.sparse.functions import sparse_reduce_max as reduce_max
from everflow.ops.sparse.functions import sparse_reduce_max_sparse as reduce_max_sparse
from everflow.ops.sparse.functions import sparse_reduce_sum as reduce_sum
from everflow.ops.sparse.functions import sparse_reduce_sum_sparse as reduce_sum_sparse
from everflow.ops.sparse.functions import sparse_reorder as reorder
from everflow.ops.sparse.functions import sparse_reset_shape as reset_shape
from everflow.ops.sparse.functions import sparse_reshape as reshape
from everflow.ops.sparse.functions import sparse_retain as retain
from everflow.ops.sparse.functions import sparse_slice as slice
from everflow.ops.sparse.functions import sparse_softmax as softmax
from everflow.ops.sparse.functions import sparse_split as split
from everflow.ops.sparse.functions import sparse_tensor_dense_matmul as matmul
from everflow.ops.sparse.functions import sparse_tensor_dense_matmul as sparse_dense_matmul
from everflow.ops.sparse.functions import sparse_tensor_to_dense as to_dense
from everflow.ops.sparse.functions import sparse_to_indicator as to_indicator
from everflow.ops.sparse.functions import sparse_transpose as transpose
