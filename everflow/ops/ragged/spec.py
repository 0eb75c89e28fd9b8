"""`RaggedTensorSpec`: the type of a ragged tensor, without its values."""

from __future__ import annotations

import functools

import numpy as np

from everflow.framework import dtypes
from everflow.framework.shapes import TensorShape, as_shape
from everflow.framework.type_specs import TensorSpec, TypeSpec
from everflow.ops.ragged.tensor import RaggedTensor
from everflow.ops.ragged.value import RaggedTensorValue


class RaggedTensorSpec(TypeSpec):
    """Shape, dtype and number of ragged dimensions of a ragged tensor.

    Args:
        shape: The lengths of the axes.
        dtype: The type of the elements.
        ragged_rank: How many dimensions are ragged.
        row_splits_dtype: The type of the row splits.

    Example:
        >>> tf.RaggedTensorSpec([2, None], tf.int32)
        RaggedTensorSpec(TensorShape([Dimension(2), Dimension(None)]), tf.int32, 1, tf.int64)
    """

    def __init__(self, shape=None, dtype=dtypes.float32, ragged_rank=None, row_splits_dtype=dtypes.int64):
        self._shape, self._dtype = as_shape(shape), dtypes.as_dtype(dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Give ragged_rank, or a shape of known rank, from which it follows")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError("ragged_rank must be an int")
        if rank is not None and ragged_rank >= rank:
            raise ValueError("ragged_rank must be less than rank.")
        self._ragged_rank = ragged_rank

    @property
    def value_type(self):
        """The class of the values it describes."""
        return RaggedTensor if self._ragged_rank > 0 else TensorSpec

    def _serialize(self):
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    @property
    def _component_specs(self):
        if self._ragged_rank == 0:
            return [TensorSpec(self._shape, self._dtype)]
        flat = TensorShape([None]).concatenate(self._shape[self._ragged_rank + 1 :])
        rows = self._shape.size(0) if self._shape.rank is not None else None
        outer = TensorSpec([None if rows is None else rows + 1], self._row_splits_dtype)
        inner = [TensorSpec([None], self._row_splits_dtype)] * (self._ragged_rank - 1)
        return [TensorSpec(flat, self._dtype), outer, *inner]

    def _to_components(self, value):
        return (
            [value.flat_values, *value.nested_row_splits]
            if isinstance(value, (RaggedTensor, RaggedTensorValue))
            else [value]
        )

    def _from_components(self, components):
        result = components[0]
        kind = functools.partial(RaggedTensor, internal=True)
        if all(isinstance(part, np.ndarray) for part in components):
            kind = RaggedTensorValue
        for splits in reversed(components[1:]):
            result = kind(result, splits)
        return result

    @classmethod
    def from_value(cls, value):
        """The spec of a ragged tensor or value."""
        return cls(
            shape=value.shape, dtype=value.dtype, ragged_rank=value.ragged_rank, row_splits_dtype=value.row_splits.dtype
        )

    def is_compatible_with(self, spec_or_value):
        """Whether a value of this type could stand for the other, or be it."""
        other = (
            RaggedTensorSpec.from_value(spec_or_value)
            if isinstance(spec_or_value, (RaggedTensor, RaggedTensorValue))
            else spec_or_value
        )
        return super().is_compatible_with(other)

    def most_specific_compatible_type(self, other):
        """The tightest spec that both fit in; ValueError where there is none."""
        return super().most_specific_compatible_type(other)


def _kept_shapes(ragged, shape):
    spec = ragged._type_spec
    if shape is not None:
        spec = RaggedTensorSpec(shape, spec._dtype, spec._ragged_rank, spec._row_splits_dtype)
    return [part.shape for part in spec._component_specs]


def _shape_invariant_to_type_spec(ragged, shape):
    return RaggedTensorSpec(shape, ragged.dtype, ragged.ragged_rank, ragged.row_splits.dtype)


RaggedTensor._shape_invariant_to_type_spec = _shape_invariant_to_type_spec
RaggedTensor._type_spec = property(RaggedTensorSpec.from_value)
RaggedTensor._kept_shapes = _kept_shapes
