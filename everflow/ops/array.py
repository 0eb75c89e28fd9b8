"""The array family in one place: what other families call as `array.NAME`.

Each function is defined, with its shape rule, in the `array_*` module of its kind.
"""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.ops.array_basic import (
    bitcast,
    broadcast_dynamic_shape,
    broadcast_static_shape,
    broadcast_to,
    ensure_shape,
    expand_dims,
    fill,
    guarantee_const,
    identity,
    identity_n,
    ones,
    ones_like,
    prevent_gradient,
    rank,
    rank_internal,
    reshape,
    shape,
    shape_internal,
    shape_n,
    size,
    size_internal,
    squeeze,
    stop_gradient,
    zeros,
    zeros_like,
)
from everflow.ops.array_indexing import (
    dynamic_partition,
    dynamic_stitch,
    gather,
    gather_nd,
    invert_permutation,
    one_hot,
    parallel_dynamic_stitch,
    scatter_nd,
    setdiff1d,
    tensor_scatter_add,
    tensor_scatter_sub,
    tensor_scatter_update,
    unique,
    unique_with_counts,
    unravel_index,
    where,
    where_v2,
)
from everflow.ops.array_joining import concat, parallel_stack, quantized_concat, split, stack, unstack
from everflow.ops.array_layout import matrix_transpose, pad, reverse, reverse_sequence, roll, tile, transpose
from everflow.ops.array_slicing import slice_, slice_helper, slice_variable, strided_slice
from everflow.ops.constants import constant, placeholder, placeholder_with_default
