"""`tf.TensorArray` where branches and loops are functional ops: its flow is a list of tensors, a value like any other."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import get_default_graph, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.conditionals import cond
from everflow.ops.math.elementwise import cast
from everflow.ops.tensor_arrays.lists import element_shape_argument
from everflow.ops.tensor_arrays.tensor_array import TensorArray


class ListTensorArray(TensorArray):
    """An array whose every state is a list of tensors; there is no handle that all of them share."""

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None, flow=None,
                 infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):  # fmt: skip
        if handle is not None:
            raise AssertionError("A TensorArray in a function has no handle: give `size`, or `flow` alone")
        if flow is None and size is None:
            raise ValueError("Size must be declared for all arrays that have no flow")
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = dynamic_size or False
        self._element_shape = [] if element_shape is None else [TensorShape(element_shape)]
        self._infer_shape = infer_shape
        self._handle = None
        with name_scope(name, "TensorArrayV2", [size, flow]) as scope:
            if flow is not None:
                self._flow = flow
                return
            self._flow = raw.TensorListReserve(
                element_shape=element_shape_argument(self.element_shape),
                num_elements=size,
                element_dtype=self._dtype,
                name=scope,
            )

    def with_flow(self, flow):
        # In TensorFlow this makes an object anew, which uses up a name.
        get_default_graph().unique_name("TensorArrayV2")
        return super().with_flow(flow)

    def identity(self):
        return self.with_flow(raw.Identity(input=self._flow))

    def grad(self, source, flow=None, name=None):
        raise NotImplementedError(
            "In functions gradients flow through the lists that a TensorArray is made of: it has no grad()."
        )

    def read(self, index, name=None):
        with name_scope(name, "TensorArrayV2Read", [self._flow, index]):
            shape = element_shape_argument(self.element_shape)
            return raw.TensorListGetItem(
                input_handle=self._flow, index=index, element_shape=shape, element_dtype=self._dtype
            )

    def write(self, index, value, name=None):
        with name_scope(name, "TensorArrayV2Write", [self._flow, index, value]):
            value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            self._merge_element_shape(value.shape)
            held = self._long_enough(index) if self._dynamic_size else self._flow
            return self.with_flow(raw.TensorListSetItem(input_handle=held, index=index, item=value))

    def _long_enough(self, index):
        held = self._flow
        too_short = index >= raw.TensorListLength(input_handle=held)
        return cond(too_short, lambda: raw.TensorListResize(input_handle=held, size=index + 1), lambda: held)

    def stack(self, name=None):
        with name_scope(name, "TensorArrayV2Stack", [self._flow]):
            shape = element_shape_argument(self.element_shape)
            return raw.TensorListStack(input_handle=self._flow, element_shape=shape, element_dtype=self._dtype)

    def gather(self, indices, name=None):
        shape = element_shape_argument(self.element_shape)
        return raw.TensorListGather(
            input_handle=self._flow, indices=indices, element_shape=shape, element_dtype=self._dtype, name=name
        )

    def concat(self, name=None):
        shape = self.element_shape
        if shape.rank is not None:
            shape = TensorShape([None, *shape.dims[1:]])
        leading = constant([], dtype=dtypes.int64)
        joined = raw.TensorListConcatV2(
            input_handle=self._flow,
            element_shape=element_shape_argument(shape),
            leading_dims=leading,
            element_dtype=self._dtype,
            name=name,
        )
        return joined.tensor

    def unstack(self, value, name=None):
        with name_scope(name, "TensorArrayUnstack", [self._flow, value]):
            value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            self._merge_element_shape(value.shape[1:])
            return self.with_flow(
                raw.TensorListFromTensor(tensor=value, element_shape=element_shape_argument(value.shape[1:]))
            )

    def scatter(self, indices, value, name=None):
        with name_scope(name, "TensorArrayScatter", [self._flow, value, indices]):
            value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            self._merge_element_shape(value.shape[1:])
            return self.with_flow(
                raw.TensorListScatterIntoExistingList(input_handle=self._flow, tensor=value, indices=indices)
            )

    def split(self, value, lengths, name=None):
        with name_scope(name, "TensorArraySplit", [self._flow, value, lengths]):
            value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            lengths = cast(lengths, dtypes.int64)
            known = constant_value(lengths)
            if (
                self._infer_shape
                and value.shape.rank is not None
                and known is not None
                and known.size
                and (known == known[0]).all()
            ):
                self._merge_element_shape(TensorShape([int(known[0])]).concatenate(value.shape[1:]))
            shape = element_shape_argument(self.element_shape)
            return self.with_flow(raw.TensorListSplit(tensor=value, element_shape=shape, lengths=lengths))

    def size(self, name=None):
        return raw.TensorListLength(input_handle=self._flow, name=name)

    def close(self, name=None):
        return raw.NoOp(name=name)
