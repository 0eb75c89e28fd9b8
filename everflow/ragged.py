"""tf.ragged: tensors whose rows have different lengths."""

# ruff: noqa: F401  The re-exports are the purpose of this file; names are TensorFlow's own.

from __future__ import annotations

from everflow.ops.ragged import (
    RaggedTensorValue,
    boolean_mask,
    constant,
    constant_value,
    map_flat_values,
    placeholder,
    range,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
    stack,
    stack_dynamic_partitions,
)
