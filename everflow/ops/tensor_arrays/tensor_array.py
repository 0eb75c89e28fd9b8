"""`tf.TensorArray`: an array of tensors that lives for one run, written and read by index, also inside loops.

Each write returns a new object; what orders writes and reads is the `flow`, a float scalar passed from one to the next.
"""

from __future__ import annotations

import contextlib

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import gradient, not_differentiable, shape_rule
from everflow.framework.scopes import colocate_with, control_dependencies, device, executing_eagerly, name_scope
from everflow.framework.shapes import TensorShape, as_shape, scalar, unknown_shape
from everflow.framework.static_values import constant_value
from everflow.ops import array
from everflow.ops.control_flow.switches import draws_functions
from everflow.ops.math.elementwise import cast
from everflow.ops.shape_rules import scalar_output
from everflow.ops.tensor_arrays.flows import HasFlow


class TensorArray(HasFlow):
    """An array of tensors of one dtype, with elements written once and read as often as `clear_after_read` allows.

    Each write gives a new TensorArray object, through which the next step goes: that is what orders them.

    Args:
        *args: The type of the elements, and then any of the arguments below.
        **kwargs: `size`, `dynamic_size`, `clear_after_read`, `tensor_array_name`, `infer_shape`, `element_shape`.

    Example:
        >>> array = tf.TensorArray(tf.float32, size=2).write(0, 1.0).write(1, 2.0)
        >>> sess.run(array.stack())
        array([1., 2.], dtype=float32)
    """

    def __new__(cls, *args, **kwargs):
        if cls is TensorArray:
            if executing_eagerly():
                from everflow.ops.tensor_arrays.eager import EagerTensorArray as cls  # builds on this module
            elif draws_functions():
                from everflow.ops.tensor_arrays.as_lists import ListTensorArray as cls  # builds on this module
        return object.__new__(cls)

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None, flow=None,
                 infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):  # fmt: skip
        made_with = {
            "size": size,
            "dynamic_size": dynamic_size,
            "clear_after_read": clear_after_read,
            "tensor_array_name": tensor_array_name or None,
        }
        given = [argument for argument, value in made_with.items() if value is not None]
        if handle is not None and (given or flow is None):
            raise ValueError(
                f"An array that is there is given by its handle and flow alone; got flow={flow} and {given}"
            )
        if handle is None and size is None:
            raise ValueError("A new TensorArray wants a size")
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = dynamic_size or False
        self._colocate_with_first_write_call = colocate_with_first_write_call
        # The tensor written first; shared, as the list below, by all objects of one array.
        self._colocate_with = [] if colocate_with_first_write_call else None
        self._element_shape = [] if element_shape is None else [TensorShape(element_shape)]
        self._infer_shape = infer_shape
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                self._handle, self._flow = handle, flow
                return
            # No device for the handle: the first write decides where the array is.
            with contextlib.ExitStack() as stack:
                if colocate_with_first_write_call:
                    stack.enter_context(device(None))
                    stack.enter_context(colocate_with(None, ignore_existing=True))
                self._handle, self._flow = raw.TensorArrayV3(
                    size=size,
                    dtype=self._dtype,
                    element_shape=element_shape,
                    identical_element_shapes=infer_shape,
                    dynamic_size=self._dynamic_size,
                    clear_after_read=True if clear_after_read is None else clear_after_read,
                    tensor_array_name=tensor_array_name or "",
                    name=scope,
                )

    flow = property(lambda self: self._flow, doc="The scalar that orders what is done to the array.")
    dtype = property(lambda self: self._dtype)
    handle = property(lambda self: self._handle)
    dynamic_size = property(lambda self: self._dynamic_size)
    infer_shape = property(lambda self: self._infer_shape)

    @property
    def element_shape(self):
        """What is known of the elements' shape."""
        return self._element_shape[0] if self._element_shape else unknown_shape()

    def _merge_element_shape(self, shape):
        known = self.element_shape
        if not shape.is_compatible_with(known):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {known} ")
        if self._infer_shape and (self._element_shape or shape.rank is not None):
            self._element_shape[:] = [known.merge_with(shape)]

    @contextlib.contextmanager
    def _colocated(self, value):
        if not self._colocate_with_first_write_call:
            yield
            return
        if not self._colocate_with:
            self._colocate_with.append(value)
        with colocate_with(self._colocate_with[0]):
            yield

    def with_flow(self, flow):
        """The same array at another point of its flow."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._flow = flow
        return other

    def identity(self):
        """The same array, ordered after the control dependencies around."""
        flow = raw.Identity(input=self._flow)
        # In TensorFlow this makes an object anew, which uses up a name.
        flow.graph.unique_name("TensorArray")
        return self.with_flow(flow)

    def grad(self, source, flow=None, name=None):
        """The array of gradients that belongs to this one in the gradient computation named `source`."""
        if flow is None:
            flow = self.flow
        with name_scope(name, "TensorArrayGrad", [self._handle]), colocate_with(self._handle):
            handle, _ = raw.TensorArrayGradV3(handle=self._handle, source=source, flow_in=flow, name=name)
            with control_dependencies([handle]):
                flow = raw.Identity(input=flow, name="gradient_flow")
            array = TensorArray(
                self._dtype,
                handle=handle,
                flow=flow,
                infer_shape=self._infer_shape,
                colocate_with_first_write_call=False,
            )
            array._element_shape = self._element_shape
            return array

    def read(self, index, name=None):
        """The element at an index."""
        value = raw.TensorArrayReadV3(
            handle=self._handle, index=index, flow_in=self._flow, dtype=self._dtype, name=name
        )
        if self._element_shape:
            value.set_shape(self._element_shape[0])
        return value

    def write(self, index, value, name=None):
        """The array with `value` at an index."""
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            self._merge_element_shape(value.shape)
            with self._colocated(value):
                flow = raw.TensorArrayWriteV3(
                    handle=self._handle, index=index, value=value, flow_in=self._flow, name=name
                )
            return self.with_flow(flow)

    def stack(self, name=None):
        """All elements as one tensor with a new first dimension."""
        with colocate_with(self._handle), name_scope(name, "TensorArrayStack", [self._handle]):
            return self.gather(_range(self.size()), name=name)

    def gather(self, indices, name=None):
        """Some elements as one tensor with a new first dimension."""
        value = raw.TensorArrayGatherV3(
            handle=self._handle,
            indices=indices,
            flow_in=self._flow,
            dtype=self._dtype,
            element_shape=self._element_shape[0] if self._element_shape else None,
            name=name,
        )
        if self._element_shape and self._element_shape[0].rank is not None:
            value.set_shape([None] + self._element_shape[0].dims)
        return value

    def concat(self, name=None):
        """All elements joined along their first dimension."""
        element = self._element_shape[0] if self._element_shape else None
        value, _ = raw.TensorArrayConcatV3(
            handle=self._handle,
            flow_in=self._flow,
            dtype=self._dtype,
            element_shape_except0=None if element is None or element.rank is None else element[1:],
            name=name,
        )
        if element is not None and element.rank is not None:
            value.set_shape([None] + element.dims[1:])
        return value

    def unstack(self, value, name=None):
        """The array with the slices of a tensor along its first dimension as elements."""
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            count = array.shape(value)[0]
            return self.scatter(_range(count), value, name=name)

    def scatter(self, indices, value, name=None):
        """The array with the slices of a tensor at these indices."""
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            self._merge_element_shape(value.shape[1:])
            with self._colocated(value):
                flow = raw.TensorArrayScatterV3(
                    handle=self._handle, indices=indices, value=value, flow_in=self._flow, name=name
                )
            return self.with_flow(flow)

    def split(self, value, lengths, name=None):
        """The array with pieces of a tensor, of these lengths along its first dimension, as elements."""
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = convert_to_tensor(value, dtype=self._dtype, name="value")
            with self._colocated(value):
                lengths = cast(lengths, dtypes.int64)
                known = constant_value(lengths)
                if (
                    value.shape.rank is not None
                    and known is not None
                    and known.ndim == 1
                    and known.size
                    and (known == known[0]).all()
                ):
                    self._merge_element_shape(TensorShape([int(known[0])]).concatenate(value.shape[1:]))
                flow = raw.TensorArraySplitV3(
                    handle=self._handle, value=value, lengths=lengths, flow_in=self._flow, name=name
                )
            return self.with_flow(flow)

    def size(self, name=None):
        """How many elements there are."""
        return raw.TensorArraySizeV3(handle=self._handle, flow_in=self._flow, name=name)

    def close(self, name=None):
        """Drop the elements before the run ends."""
        return raw.TensorArrayCloseV3(handle=self._handle, name=name)


def _range(limit):
    with name_scope(None, "range", [0, limit, 1]) as name:
        start = convert_to_tensor(0, dtype=dtypes.int32, name="start")
        delta = convert_to_tensor(1, dtype=dtypes.int32, name="delta")
        return raw.Range(start=start, limit=limit, delta=delta, name=name)


def _versions(*kinds):
    return [f"TensorArray{kind}{version}" for kind in kinds for version in ("V2", "V3")] + [
        f"TensorArray{kind}" for kind in kinds
    ]


@shape_rule(
    "TensorArray",
    "TensorArrayV2",
    "TensorArrayV3",
    "TensorArrayGrad",
    "TensorArrayGradV2",
    "TensorArrayGradV3",
    "TensorArrayGradWithShape",
)
def _handle_shapes(op):
    if "Grad" not in op.type:
        op.inputs[0].shape.with_rank(0)
    # A handle is a pair of names, or in the third version a resource that looks the same.
    return [TensorShape([2]), scalar()][: len(op.outputs)]


shape_rule(*_versions("Size"))(scalar_output)


@shape_rule(*_versions("Split"))
def _split_shape(op):
    op.inputs[2].shape.with_rank(1)
    return scalar()


def _declared_shape(handle):
    """The shape that all elements were said to have where the array was made, or None; what was written later doesn't
    count.
    """
    while not handle.is_eager and handle.op.type in ("Enter", "Switch", "Identity", "TensorArrayGradV3"):
        handle = handle.op.inputs[0]
    if handle.is_eager or handle.op.type != "TensorArrayV3":
        return None
    shape = as_shape(handle.op.attrs["element_shape"])
    return shape if handle.op.attrs["identical_element_shapes"] or shape.is_fully_defined() else None


@shape_rule(*_versions("Write"))
def _write_shape(op):
    handle, index, value, _ = op.inputs
    index.shape.with_rank(0)
    value.shape.merge_with(_declared_shape(handle))
    return scalar()


@shape_rule(*_versions("Scatter"))
def _scatter_shape(op):
    handle, indices, value, _ = op.inputs
    indices.shape.with_rank(1)[0].merge_with(value.shape.with_rank_at_least(1)[0])
    value.shape[1:].merge_with(_declared_shape(handle))
    return scalar()


@shape_rule(*_versions("Read"))
def _read_shape(op):
    handle, index, _ = op.inputs
    index.shape.with_rank(0)
    declared = _declared_shape(handle)
    return unknown_shape() if declared is None else declared


@shape_rule(*_versions("Gather"))
def _gather_shape(op):
    handle, indices, _ = op.inputs
    element = _declared_shape(handle)
    return indices.shape.with_rank(1).concatenate(op.attrs.get("element_shape") if element is None else element)


@shape_rule(*_versions("Concat"))
def _concat_shapes(op):
    return [unknown_shape(), TensorShape([None])]


not_differentiable(
    *[f"TensorArray{kind}{v}" for kind in ("", "Grad", "Size", "Close") for v in ("", "V2", "V3")],
    "TensorArrayGradWithShape",
)


def _grad_source(op_or_tensor):
    """The name of the `tf.gradients` call that makes a tensor: gradients of gradients need arrays of their own."""
    # In the body of a backward function it is the call outside.
    outside = getattr(getattr(op_or_tensor, "graph", None), "gradient_source", None)
    if outside:
        return outside
    parts = op_or_tensor.name.split("/")
    inside = [i for i, part in enumerate(parts) if part.startswith("gradients")]
    if not inside:
        raise ValueError(
            f"No part of the name {op_or_tensor.name!r} begins with 'gradients', so it is of no gradient's TensorArray"
        )
    return "/".join(parts[: inside[-1] + 1])


def _grad_array(op, dtype, flow, source):
    array = TensorArray(dtype, handle=op.inputs[0], flow=flow, colocate_with_first_write_call=False)
    return array.grad(source=_grad_source(source), flow=flow)


@gradient("TensorArrayRead", "TensorArrayReadV2", "TensorArrayReadV3")
def _read_grad(op, grad):
    array = _grad_array(op, op.attrs["dtype"], op.inputs[2], grad)
    return [None, None, array.write(op.inputs[1], grad).flow]


@gradient("TensorArrayWrite", "TensorArrayWriteV2", "TensorArrayWriteV3")
def _write_grad(op, flow):
    array = _grad_array(op, op.attrs["T"], flow, flow)
    return [None, None, array.read(op.inputs[1]), flow]


@gradient("TensorArrayGather", "TensorArrayGatherV2", "TensorArrayGatherV3")
def _gather_grad(op, grad):
    array = _grad_array(op, op.attrs["dtype"], op.inputs[2], grad)
    return [None, None, array.scatter(op.inputs[1], grad).flow]


@gradient("TensorArrayScatter", "TensorArrayScatterV2", "TensorArrayScatterV3")
def _scatter_grad(op, flow):
    array = _grad_array(op, op.attrs["T"], flow, flow)
    return [None, None, array.gather(op.inputs[1]), flow]


@gradient("TensorArrayConcat", "TensorArrayConcatV2", "TensorArrayConcatV3")
def _concat_grad(op, grad, unused_lengths_grad):
    array = _grad_array(op, op.attrs["dtype"], op.inputs[1], grad)
    return [None, array.split(grad, lengths=op.outputs[1]).flow]


@gradient("TensorArraySplit", "TensorArraySplitV2", "TensorArraySplitV3")
def _split_grad(op, flow):
    array = _grad_array(op, op.attrs["T"], flow, flow)
    return [None, array.concat(), None, flow]
