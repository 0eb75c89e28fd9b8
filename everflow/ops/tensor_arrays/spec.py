"""`tf.TensorArraySpec`: the type of a TensorArray."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec, TypeSpec
from everflow.ops.tensor_arrays.as_lists import ListTensorArray
from everflow.ops.tensor_arrays.lists import element_shape_argument
from everflow.ops.tensor_arrays.tensor_array import TensorArray


class TensorArraySpec(TypeSpec):
    """The type of a TensorArray: what its elements are, and how it takes them.

    Args:
        element_shape: The shape of an element.
        dtype: The type of the elements.
        dynamic_size: Whether it grows when something is written past its end.
        infer_shape: Whether all elements have the shape of the first.

    Example:
        >>> array = tf.TensorArray(tf.float32, size=3, element_shape=[2])
        >>> tf.TensorArraySpec([None], tf.float32).is_compatible_with(array)
        True
    """

    def __init__(self, element_shape=None, dtype=dtypes.float32, dynamic_size=False, infer_shape=True):
        self._element_shape = TensorShape(element_shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    value_type = property(lambda self: TensorArray)
    variant_shape = TensorShape([])  # of the list as which datasets pass it

    @staticmethod
    def from_value(value):
        """The spec of a TensorArray."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"A TensorArraySpec is of a TensorArray, not of {type(value)}")
        return TensorArraySpec(value.element_shape, value.dtype, value.dynamic_size, value.infer_shape)

    def _serialize(self):
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    def is_compatible_with(self, other):
        return super().is_compatible_with(
            TensorArraySpec.from_value(other) if isinstance(other, TensorArray) else other
        )

    def most_specific_compatible_type(self, other):
        if not self.is_compatible_with(other):
            raise ValueError(f"Types are not compatible: {self} and {other}")
        return super().most_specific_compatible_type(other)

    @property
    def _component_specs(self):
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value):
        if isinstance(value, ListTensorArray):
            return [value.flow]
        with name_scope("convert_tensor_array"):
            shape = element_shape_argument(value.element_shape)
            return [raw.TensorListFromTensor(tensor=value.stack(), element_shape=shape)]

    def _from_components(self, tensors):
        known = None if self._element_shape.rank is None else self._element_shape
        return ListTensorArray(
            self._dtype,
            flow=tensors[0],
            dynamic_size=self._dynamic_size,
            infer_shape=self._infer_shape,
            element_shape=known,
        )
