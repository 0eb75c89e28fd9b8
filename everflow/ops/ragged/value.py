"""`RaggedTensorValue`: the rows of a ragged tensor as numpy arrays, as a run returns them."""

from __future__ import annotations

import numpy as np


class RaggedTensorValue:
    """Values and row splits as arrays; `values` is another RaggedTensorValue where more than one dimension is ragged.

    Args:
        values: The values of all rows, one after another.
        row_splits: Where each row begins, and the end of the last.

    Example:
        >>> sess.run(tf.ragged.constant([[1, 2], [3]])).to_list()
        [[1, 2], [3]]
    """

    def __init__(self, values, row_splits):
        if not (
            isinstance(row_splits, (np.ndarray, np.generic))
            and row_splits.dtype in (np.int64, np.int32)
            and row_splits.ndim == 1
        ):
            raise TypeError(f"row_splits must be a vector of int32 or int64 as a numpy array, not {row_splits!r}")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError(f"values must be a numpy array or another RaggedTensorValue, not {type(values)}")
        if isinstance(values, RaggedTensorValue) and row_splits.dtype != values.row_splits.dtype:
            raise ValueError(
                f"All row_splits must have the same dtype, not {row_splits.dtype} and {values.row_splits.dtype}"
            )
        self._values, self._row_splits = values, row_splits

    row_splits = property(lambda self: self._row_splits, doc="Where each row begins and ends in `values`.")
    values = property(lambda self: self._values, doc="All rows, one after the other.")
    dtype = property(lambda self: self._values.dtype, doc="The numpy type of the values.")

    @property
    def flat_values(self):
        """The innermost values."""
        return self._values.flat_values if isinstance(self._values, RaggedTensorValue) else self._values

    @property
    def nested_row_splits(self):
        """The row splits of every ragged dimension, outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensorValue) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self):
        """How many dimensions are ragged."""
        return 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensorValue) else 0)

    @property
    def shape(self):
        return (self._row_splits.shape[0] - 1, None, *self._values.shape[1:])

    def to_list(self):
        """Nested Python lists."""
        rows = self._values.to_list() if isinstance(self._values, RaggedTensorValue) else self._values.tolist()
        return [rows[start:limit] for start, limit in zip(self._row_splits[:-1], self._row_splits[1:], strict=True)]

    def __str__(self):
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self):
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"


def ragged_value(parts):
    """A RaggedTensorValue of arrays: the nested row splits, outermost first, then the flat values."""
    value = parts[-1]
    for splits in reversed(parts[:-1]):
        value = RaggedTensorValue(value, splits)
    return value
