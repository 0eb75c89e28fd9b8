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
from everflow.ops.array_batched import batch_gather, gather_nd
from everflow.ops.array_blocks import (
    batch_to_space,
    batch_to_space_nd,
    depth_to_space,
    extract_image_patches,
    extract_image_patches_v2,
    extract_volume_patches,
    required_space_to_batch_paddings,
    space_to_batch,
    space_to_batch_nd,
    space_to_depth,
)
from everflow.ops.array_diagonals import diag, diag_part, matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag
from everflow.ops.array_indexing import (
    dynamic_partition,
    dynamic_stitch,
    gather,
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
from everflow.ops.array_sequences import (
    argsort,
    boolean_mask,
    edit_distance,
    meshgrid,
    repeat,
    repeat_with_axis,
    searchsorted,
    sequence_mask,
    sort,
)
from everflow.ops.array_slicing import slice_, slice_helper, slice_variable, strided_slice
from everflow.ops.constants import constant, placeholder, placeholder_with_default
