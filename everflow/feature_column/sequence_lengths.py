"""How many steps each example of a sparse sequence has."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.scopes import name_scope
from everflow.ops import array, math


def sequence_length_from_sparse_tensor(sp_tensor, num_elements=1):
    """The steps of each row, where every step takes `num_elements` values; rows without values have none."""
    with name_scope(None, "sequence_length") as scope:
        rows, columns = sp_tensor.indices[:, 0], sp_tensor.indices[:, 1]
        # The last place that holds a value, plus one.
        lengths = math.segment_max(columns + array.ones_like(columns), segment_ids=rows)
        lengths = math.cast(math.ceil(lengths / num_elements), dtypes.int64)
        # The segments end with the last row that has values.
        missing = array.shape(sp_tensor)[:1] - array.shape(lengths)[:1]
        return array.concat([lengths, array.zeros(missing, dtype=lengths.dtype)], axis=0, name=scope)
