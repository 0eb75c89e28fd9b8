"""Ragged tensors: rows of different lengths. The modules here register their ops' rules and RaggedTensor's operators
when imported.
"""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

import functools as _functools

from everflow.ops.array.ragged_rows import register_forms as _register_forms
from everflow.ops.ragged import batches, conversion, functions, operators, places, reductions
from everflow.ops.ragged.factory import constant, constant_value, placeholder
from everflow.ops.ragged.functions import boolean_mask, map_flat_values, range, stack, stack_dynamic_partitions
from everflow.ops.ragged.segments import row_splits_to_segment_ids, segment_ids_to_row_splits
from everflow.ops.ragged.spec import RaggedTensorSpec
from everflow.ops.ragged.tensor import RaggedTensor
from everflow.ops.ragged.value import RaggedTensorValue

_register_forms(
    kinds=(RaggedTensorValue,),
    elementwise=operators.elementwise,
    batch_gather=batches.batch_gather,
    reduce_join=reductions.reduce_join,
    **{
        f"unsorted_segment_{kind}": _functools.partial(reductions.segment, kind)
        for kind in ("sum", "prod", "max", "min", "mean", "sqrt_n")
    },
    **{name: getattr(functions, name) for name in ("concat", "dynamic_partition", "expand_dims", "gather", "stack")},
    **{name: getattr(places, name) for name in ("gather_nd", "one_hot", "rank", "size", "squeeze", "tile", "where")},
)
