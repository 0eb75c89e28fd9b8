"""The array family in one place: what other families call as `array.NAME`.

Each function is defined, with its shape rule, in the module of its kind, which is imported when it is first asked for.
"""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from typing import TYPE_CHECKING

from everflow.framework.lazy_names import lazy_names

if TYPE_CHECKING:
    from everflow.ops.array.basic import (
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
    from everflow.ops.array.batched import batch_gather, gather_nd
    from everflow.ops.array.blocks import (
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
    from everflow.ops.array.constants import constant, placeholder, placeholder_with_default
    from everflow.ops.array.diagonals import (
        diag,
        diag_part,
        matrix_band_part,
        matrix_diag,
        matrix_diag_part,
        matrix_set_diag,
    )
    from everflow.ops.array.indexing import (
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
    from everflow.ops.array.joining import concat, parallel_stack, quantized_concat, split, stack, unstack
    from everflow.ops.array.layout import matrix_transpose, pad, reverse, reverse_sequence, roll, tile, transpose
    from everflow.ops.array.sequences import (
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
    from everflow.ops.array.slicing import slice_, slice_helper, slice_variable, strided_slice

__getattr__, __dir__ = lazy_names(__name__, __file__)
