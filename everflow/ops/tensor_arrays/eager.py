"""`tf.TensorArray` when executing eagerly: a Python list of tensors, so that tapes see through it."""

from __future__ import annotations

import operator

from everflow.framework import dtypes, errors
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.tensor_arrays.tensor_array import TensorArray


class EagerTensorArray(TensorArray):
    """An array of tensors that are there. Writing changes it in place, and gives it back."""

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None, flow=None,
                 infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):  # fmt: skip
        if size is None:
            raise ValueError("Executing eagerly, a TensorArray needs its size: pass size=, 0 with dynamic_size=True.")
        if handle is not None:
            raise ValueError("Executing eagerly, a TensorArray has no handle: leave handle= away.")
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = dynamic_size or False
        self._clear_after_read = True if clear_after_read is None else clear_after_read
        self._element_shape = [] if element_shape is None else [TensorShape(element_shape)]
        self._infer_shape = infer_shape
        self._read_before: set[int] = set()
        self._tensors: list = [None] * operator.index(constant_value(convert_to_tensor(size)).tolist())
        self._flow = constant(0, dtype=dtypes.int32)
        self._handle = None

    def with_flow(self, flow):
        return self

    def identity(self):
        return self

    def grad(self, source, flow=None, name=None):
        raise NotImplementedError("TensorArray.grad is for graphs; a tape gets gradients of a TensorArray without it")

    def _position(self, index):
        position = int(index)
        if position < 0:
            raise errors.OutOfRangeError(None, None, f"Tried to read from index {position}, which is negative")
        if position >= len(self._tensors):
            raise errors.OutOfRangeError(
                None, None, f"Tried to read from index {position} but array has {len(self._tensors)} elements"
            )
        return position

    def read(self, index, name=None):
        position = self._position(index)
        tensor = self._tensors[position]
        if tensor is None:
            if position in self._read_before:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Could not read index {position} twice: it was cleared when first read, unless clear_after_read=False",
                )
            tensor = self._tensors[position] = self._zeros()
        if self._clear_after_read:
            self._tensors[position] = None
            self._read_before.add(position)
        return tensor

    def _seen(self, index):
        """An element, which stays: only `read` clears what it gives."""
        tensor = self._tensors[self._position(index)]
        return self._zeros() if tensor is None else tensor

    def _zeros(self):
        shape = self.element_shape
        if not shape.is_fully_defined():
            raise ValueError(f"An element that was not written has no value, since its shape is not known: {shape}")
        return array.zeros(shape, self._dtype)

    def write(self, index, value, name=None):
        position = int(index)
        if position < 0:
            raise errors.OutOfRangeError(None, None, f"Tried to write to index {position}, which is negative")
        if position >= len(self._tensors):
            if not self._dynamic_size:
                raise errors.OutOfRangeError(
                    None,
                    None,
                    f"Tried to write to index {position} but array has {len(self._tensors)} elements, and no dynamic_size",
                )
            self._tensors += [None] * (position - len(self._tensors) + 1)
        value = convert_to_tensor(value, preferred_dtype=self._dtype)
        if value.dtype != self._dtype:
            raise errors.InvalidArgumentError(
                None, None, f"The TensorArray is of dtype {self._dtype.name}; what is written is {value.dtype.name}"
            )
        self._merge_element_shape(value.shape)
        self._tensors[position] = value
        return self

    def stack(self, name=None):
        return self.gather(range(len(self._tensors)))

    def gather(self, indices, name=None):
        if not isinstance(indices, range):
            indices = constant_value(convert_to_tensor(indices)).tolist()
        found = [self._seen(i) for i in indices]
        # None at all have no shape either, whatever is known of the elements.
        return array.stack(found) if found else array.zeros([0], self._dtype)

    def concat(self, name=None):
        return array.concat([self._seen(i) for i in range(len(self._tensors))], 0)

    def unstack(self, value, name=None):
        parts = array.unstack(convert_to_tensor(value, preferred_dtype=self._dtype))
        if len(parts) > len(self._tensors) and not self._dynamic_size:
            raise ValueError(
                f"{len(parts)} tensors don't go into a TensorArray of {len(self._tensors)} without dynamic_size"
            )
        self._tensors = parts
        if parts:
            self._merge_element_shape(parts[0].shape)
        return self

    def scatter(self, indices, value, name=None):
        indices, parts = constant_value(convert_to_tensor(indices)).tolist(), array.unstack(convert_to_tensor(value))
        for index, part in zip(indices, parts):
            self.write(index, part)
        return self

    def split(self, value, lengths, name=None):
        lengths = convert_to_tensor(lengths)
        value = convert_to_tensor(value, preferred_dtype=self._dtype)
        if lengths.shape.rank != 1 or value.shape.rank == 0:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Lengths of shape {lengths.shape} for a value of shape {value.shape}: the lengths must be a vector, and the value one at least",
            )
        lengths = constant_value(lengths).tolist()
        if sum(lengths) != value.shape.as_list()[0]:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"The lengths add up to {sum(lengths)}, not to the first size of {value.shape}",
            )
        if len(lengths) > len(self._tensors) and not self._dynamic_size:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"{len(lengths)} parts don't go into a TensorArray of {len(self._tensors)} without dynamic_size",
            )
        self._tensors = array.split(value, lengths)
        return self

    def size(self, name=None):
        return constant(len(self._tensors))

    def close(self, name=None):
        self._tensors = []
