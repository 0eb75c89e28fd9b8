"""`Operation`, a node of a graph, and `Tensor`, one of its outputs."""

from __future__ import annotations

import contextlib
import linecache
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from everflow.framework import attributes, devices, op_defs, registry
from everflow.framework.errors import InvalidArgumentError, OperatorNotAllowedInGraphError, OutOfRangeError
from everflow.framework.private_members import OperationMembers
from everflow.framework.shapes import TensorShape, as_shape, unknown_shape
from everflow.protos import (
    attr_value_pb2,
    node_def_pb2,
    printing,  # noqa: F401  makes node definitions print in order
)

if TYPE_CHECKING:
    from types import FrameType

    import numpy as np

    from everflow.framework.dtypes import DType
    from everflow.framework.graph import Graph
    from everflow.framework.hints import (
        Attributes,
        ControlFlowContext,
        DeviceRequest,
        FeedDict,
        Frame,
        GradientFunction,
        SessionLike,
        ShapeLike,
    )
    from everflow.protos import op_def_pb2

_COLOCATION_PREFIX = "loc:@"
_PACKAGE_ROOT = __file__.rpartition("framework")[0]
_LAUNCHER = (
    _PACKAGE_ROOT + "cli" + __file__[len(_PACKAGE_ROOT) - 1] + "run.py"
)  # `everflow run`; what is below it is not the program's


class _Absent:
    """A member that symbolic tensors haven't, and what to do instead. `hasattr` finds nothing."""

    def __init__(self, instead: str) -> None:
        self._instead = instead

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, tensor: Any, owner: type) -> Any:
        called = f" {tensor.name}" if tensor is not None else ""
        said = f"{owner.__name__!r} object{called} has no attribute {self._name!r}: {self._instead}"
        raise AttributeError(said, name=self._name)


class Tensor:
    """A symbolic handle to one output of an Operation: it has no value until a Session computes it.

    Args:
        op: The operation that makes it.
        value_index: Which output of the operation it is.
        dtype: The type of the elements.

    Example:
        >>> t = tf.zeros([2, 3], name="t")
        >>> t
        <tf.Tensor 't:0' shape=(2, 3) dtype=float32>
        >>> t.shape, t.dtype, t.op.type
        (TensorShape([Dimension(2), Dimension(3)]), tf.float32, 'Const')
    """

    # Whether it has a value; `eager.EagerTensor` does.
    is_eager = False

    # Only tensors that have a value have this.
    _value: Any
    # `ops` installs it, with the operators below.
    __getitem__: Callable[..., Any]

    # Makes numpy leave `array + tensor` to the tensor.
    __array_priority__ = 100
    # Whether `==` compares values; `enable_tensor_equality` says so.
    _USE_EQUALITY = False

    # Operators that ops/ installs; variables and sparse tensors take them from here.
    OVERLOADABLE_OPERATORS = {
        "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__div__", "__rdiv__", "__truediv__",
        "__rtruediv__", "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__lt__", "__le__", "__gt__", "__ge__",
        "__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__", "__getitem__", "__pow__", "__rpow__",
        "__invert__", "__neg__", "__abs__", "__matmul__", "__rmatmul__",
    }  # fmt: skip

    def __init__(self, op: Operation, value_index: int, dtype: DType) -> None:
        self._op = op
        self._value_index = value_index
        self._dtype = dtype
        self._shape = _UNKNOWN
        self._consumers: list[Operation] = []
        # For resources: [(dtype, shape)] of what the handle refers to.
        self._handle_data: list[tuple[DType, TensorShape]] | None = None

    @property
    def op(self) -> Operation:
        """The Operation that makes this tensor."""
        return self._op

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def graph(self) -> Graph:
        return self._op.graph

    @property
    def value_index(self) -> int:
        """Which output of its op this is."""
        return self._value_index

    @property
    def name(self) -> str:
        """ "op_name:index"."""
        return f"{self._op.name}:{self._value_index}"

    @property
    def device(self) -> str:
        return self._op.device

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape before running."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """What is known of the shape before running."""
        return self._shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Merge what is known of the shape; ValueError where it contradicts what is known."""
        try:
            self._shape = self._shape.merge_with(as_shape(shape))
        except ValueError as e:
            raise ValueError(f"{e}: the second can't be set for {self.name}") from None

    def _shape_as_list(self) -> list[int | None] | None:
        return None if self._shape.rank is None else self._shape.as_list()

    _c_api_shape = get_shape

    def _rank(self) -> int | None:
        return self.shape.rank

    def _shape_tuple(self) -> tuple[int | None, ...] | None:
        return self._shape.sizes

    @property
    def _made_by(self) -> str:
        """The op type that made it; "" where it has only a value."""
        return self._op.type

    @property
    def _op_name(self) -> str:
        """The name of its op; a stand-in where it has only a value."""
        return self._op.name

    def is_in(self, graph: Graph) -> bool:
        """Whether a graph's operations can take this tensor as it is."""
        return self._op.graph is graph

    def consumers(self) -> list[Operation]:
        """The operations that take this tensor as an input."""
        return list(self._consumers)

    def _as_node_def_input(self) -> str:
        return self._op.name if self._value_index == 0 else f"{self._op.name}:{self._value_index}"

    def _as_tf_output(self) -> Tensor:
        return self

    def eval(self, feed_dict: FeedDict | None = None, session: SessionLike | None = None) -> Any:
        """Compute this tensor in a session (the default one unless given)."""
        from everflow.framework.scopes import require_session  # builds on this module

        return require_session(session, self.graph, "evaluate tensor", "eval").run(self, feed_dict)

    def experimental_ref(self) -> Reference:
        """A hashable stand-in that compares by identity."""
        return Reference(self)

    def __str__(self) -> str:
        parts = [f'Tensor("{self.name}"']
        if self._shape.rank is not None:
            parts.append(f"shape={self._shape}")
        parts.append(f"dtype={self._dtype.name}")
        if self.device:
            parts.append(f"device={self.device}")
        return ", ".join(parts) + ")"

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self._shape} dtype={self._dtype.name}>"

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __len__(self) -> int:
        raise TypeError(
            f"{self.name} has no length before it is run: a symbolic tensor tells what is known of it in `shape`."
        )

    def __iter__(self) -> Iterator[Any]:
        if type(self).__iter__ is not Tensor.__iter__:
            yield from type(self).__iter__(self)  # a tensor with a value, by way of `tf.Tensor.__iter__(t)`
        else:
            yield from self._refuse_iteration()

    def _refuse_iteration(self) -> Iterator[Any]:
        raise OperatorNotAllowedInGraphError(
            f"iterating over `tf.Tensor` is not allowed in Graph execution: {self.name} has no value until it is run."
            " Use tf.unstack, tf.map_fn or tf.while_loop."
        )

    def __contains__(self, value: object) -> bool:
        return value in self.__iter__()

    def __bool__(self) -> bool:
        raise OperatorNotAllowedInGraphError(
            f"Using a `tf.Tensor` as a `bool` asks for its value, but {self.name} has no value until it is run."
            " Use `if t is not None:` to test whether a tensor is there, tf.cond to branch on its value."
        )

    __nonzero__ = __bool__

    numpy: Callable[[], Any] = _Absent(  # type: ignore[assignment]
        "it has no value until it is run. Use sess.run(tensor) or tensor.eval(), or eager execution."
    )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise NotImplementedError(
            f"Cannot convert a symbolic Tensor to an array: {self.name} has no value until it is run."
        )

    def __copy__(self) -> Tensor:
        return self

    @staticmethod
    def _override_operator(operator: str, func: Callable[..., Any]) -> None:
        """Install `func` as an operator of tensors; each may be installed once."""
        if operator in vars(Tensor):
            raise ValueError(f"operator {operator} cannot be overwritten again.")
        if operator not in Tensor.OVERLOADABLE_OPERATORS:
            raise ValueError(f"Overriding {operator} is disallowed")
        setattr(Tensor, operator, func)


_UNKNOWN = unknown_shape()


class Reference:
    """Wraps a tensor or a variable so that it can be a key, whatever `==` means on it."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def deref(self) -> Any:
        """What is wrapped."""
        return self._wrapped

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)


class _InputList(tuple):
    """An op's inputs. A tuple that also equals a list of the same tensors, as TensorFlow's list type does."""

    def __eq__(self, other: Any) -> bool:
        return len(self) == len(other) and all(a is b for a, b in zip(self, other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)

    def __getitem__(self, key: Any) -> Any:
        return list(tuple.__getitem__(self, key)) if isinstance(key, slice) else tuple.__getitem__(self, key)

    def __add__(self, other: Iterable[Any]) -> list[Any]:  # type: ignore[override]  # a list, as in TensorFlow
        return list(self) + list(other)

    def __radd__(self, other: Iterable[Any]) -> list[Any]:
        return list(other) + list(self)


class DeviceScope(NamedTuple):
    """A `tf.device`: what is asked for in canonical form, as it was written, and where."""

    request: DeviceRequest
    written: Any
    place: tuple[str, int]


class Colocation(NamedTuple):
    """A `colocate_with`: the operation whose device is asked for, and where."""

    op: Operation
    place: tuple[str, int]


class Operation(OperationMembers):
    """A node of a graph: an op type, inputs, attributes. Made by `Graph.create_op`, not by hand.

    Args:
        graph: The graph it is in.
        op_type: What it does: the name of an op definition.
        name: Its name, unique in the graph.
        inputs: The tensors it takes.
        control_inputs: The operations that run before it.
        output_dtypes: The types of its outputs.
        attrs: Its attributes by name.
        op_def: The definition of its type.
        traceback: The lines of the program that made it.

    Example:
        >>> op = tf.add(1.0, 2.0, name="sum").op
        >>> op.type, op.name, [t.name for t in op.inputs]
        ('Add', 'sum', ['sum/x:0', 'sum/y:0'])
    """

    def __init__(
        self,
        graph: Graph,
        op_type: str,
        name: str,
        inputs: Sequence[Tensor],
        control_inputs: Iterable[Operation],
        output_dtypes: Sequence[DType],
        attrs: Attributes,
        op_def: op_defs.OpDef,
        traceback: list[Frame],
    ) -> None:
        self._graph = graph
        self._type = op_type
        self._name = name
        self._inputs = _InputList(inputs)
        self._control_inputs = list(control_inputs)
        self._control_outputs: list[Operation] = []
        self._device = ""
        self.attrs = attrs
        self._op_def = op_def
        self._frames = traceback
        self._control_flow_context: ControlFlowContext | None = None
        self._gradient_function: GradientFunction | None = None
        self._original_op: Operation | None = None
        # The contexts around it that ask for devices, outermost first.
        self._device_scopes: tuple[DeviceScope, ...] = ()
        self._colocations: tuple[Colocation, ...] = ()
        self._id = -1
        self.outputs = [Tensor(self, i, dtype) for i, dtype in enumerate(output_dtypes)]

    def _link(self) -> None:
        """Make the sources of its edges know it; called once it is sure to be part of the graph."""
        for tensor in self._inputs:
            tensor._consumers.append(self)
        for op in self._control_inputs:
            op._control_outputs.append(self)

    def _unlink(self) -> None:
        """Make the sources of its edges forget it: it is taken back."""
        for tensor in self._inputs:
            tensor._consumers.remove(self)
        for op in self._control_inputs:
            op._control_outputs.remove(self)

    @property
    def name(self) -> str:
        return self._name

    @property
    def type(self) -> str:
        """The op type, e.g. "MatMul"."""
        return self._type

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def inputs(self) -> _InputList:
        """The tensors it takes."""
        return self._inputs

    @property
    def _id_value(self) -> int:
        return self._id

    @property
    def control_inputs(self) -> list[Operation]:
        """The operations that must run before it."""
        return list(self._control_inputs)

    @property
    def device(self) -> str:
        """The device asked for, "" where none was."""
        return self._device

    @property
    def op_def(self) -> op_def_pb2.OpDef:
        """The definition of its op type, as an OpDef proto."""
        from everflow.framework import op_def_protos  # builds on this module

        return op_def_protos.to_proto(self._op_def)

    @property
    def definition(self) -> op_defs.OpDef:
        """The definition of its op type."""
        return self._op_def

    @property
    def _input_types(self) -> list[DType]:
        """What types it takes: refs where its definition says so."""
        position, refs = 0, set()
        for arg in self._op_def.inputs if self._op_def.changes_refs else ():
            count = len(op_defs.arg_dtypes(arg, self.attrs))
            refs.update(range(position, position + count) if arg.is_ref else ())
            position += count
        return [t.dtype._as_ref if i in refs else t.dtype.base_dtype for i, t in enumerate(self._inputs)]

    @property
    def _output_types(self) -> list[int]:
        return [t.dtype.as_datatype_enum for t in self.outputs]

    @property
    def node_def(self) -> node_def_pb2.NodeDef:
        """The node as a NodeDef proto."""
        node = node_def_pb2.NodeDef(name=self._name, op=self._type, device=self._device)
        node.input.extend(t._as_node_def_input() for t in self._inputs)
        node.input.extend(sorted("^" + op.name for op in self._control_inputs))
        for key, value in self.attrs.items():
            node.attr[key].CopyFrom(attributes.to_proto(value))
        attributes.write_owners(node, self.attrs)
        return node

    @property
    def traceback(self) -> list[tuple[str, int, str, str]]:
        """Where it was made: (file, line, function, text) of each frame, outermost first."""
        return [
            (file, line, function, linecache.getline(file, line).strip())
            for file, line, function in reversed(self._frames)
        ]

    @property
    def _traceback(self) -> list[tuple[str, int, str, str]]:
        return self.traceback

    @_traceback.setter
    def _traceback(self, frames: Iterable[Sequence[Any]]) -> None:
        self._frames = [(frame[0], frame[1], frame[2]) for frame in frames][::-1]

    @property
    def traceback_with_start_lines(self) -> list[tuple[str, int, str, str, int]]:
        """As `traceback`, with the first line of each function added."""
        return [(*frame, 0) for frame in self.traceback]

    @property
    def user_frame(self) -> tuple[str, int, str, str] | None:
        """The innermost frame outside this package, or None: the line of the user's that made it."""
        for file, line, function in self._frames:
            if not file.startswith(_PACKAGE_ROOT):
                return file, line, function, linecache.getline(file, line).strip()
        return None

    def values(self) -> tuple[Tensor, ...]:
        """The outputs, as a tuple."""
        return tuple(self.outputs)

    def get_attr(self, name: str) -> Any:
        """The value of an attribute; ValueError where there is none of that name."""
        if name not in self.attrs:
            raise ValueError(f"Operation '{self._name}' has no attr named '{name}'.")
        return attributes.as_user_sees(self.attrs[name])

    def _set_attr(self, attr_name: str, attr_value: Any) -> None:
        """Set an attribute from an AttrValue proto (or a Python value)."""
        if isinstance(attr_value, attr_value_pb2.AttrValue):
            attr_value = attributes.from_proto(attr_value)
        self.attrs[attr_name] = attr_value
        self._graph._mutations += 1

    def _clear_attr(self, attr_name: str) -> None:
        self.attrs.pop(attr_name, None)
        self._graph._mutations += 1

    def _set_device(self, device: str | devices.DeviceSpec | None) -> None:
        self._set_device_from_string(
            devices.canonical_name(device) if isinstance(device, devices.DeviceSpecV2) else device or ""
        )

    def _set_device_from_string(self, device: str) -> None:
        self._device = device
        self._graph._mutations += 1

    def colocation_groups(self) -> list[bytes]:
        """Names of the groups it shares a device with, as bytes "loc:@name"."""
        default = [f"{_COLOCATION_PREFIX}{self._name}".encode()]
        groups = [g for g in self.attrs.get("_class", []) if g.startswith(_COLOCATION_PREFIX.encode())]
        return groups or default

    def _get_control_flow_context(self) -> ControlFlowContext | None:
        return self._control_flow_context

    def _set_control_flow_context(self, ctx: ControlFlowContext | None) -> None:
        self._control_flow_context = ctx

    def _update_input(self, index: int, tensor: Tensor) -> None:
        """Take another tensor as an input; back edges of loops are made with this."""
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensor must be a Tensor: {tensor}")
        if tensor.graph is not self._graph:
            raise ValueError(f"{tensor!r} is of another graph than operation {self._name!r}")
        self._graph._check_not_finalized()
        inputs = list(self._inputs)
        if index >= len(inputs):
            raise OutOfRangeError(
                None, None, f"Operation {self._name!r} has {len(inputs)} inputs: there is no input {index} to update"
            )
        replaced, inputs[index] = inputs[index], tensor
        before, self._inputs = self._inputs, _InputList(inputs)
        if not tensor.shape.is_compatible_with(replaced.shape):
            try:
                registry.inferred_shapes(self)
            except ValueError as e:
                self._inputs = before
                raise InvalidArgumentError(self.node_def, self, str(e)) from None
        if self in replaced._consumers:
            replaced._consumers.remove(self)
        tensor._consumers.append(self)
        self._graph._mutations += 1

    def _append_input(self, tensor: Tensor) -> None:
        """Take a further tensor as the last input."""
        if tensor.graph is not self._graph:
            raise ValueError(f"{tensor!r} is of another graph than operation {self._name!r}")
        self._graph._check_not_finalized()
        self._inputs = _InputList((*self._inputs, tensor))
        tensor._consumers.append(self)
        self._graph._mutations += 1

    def _add_control_inputs(self, ops: Iterable[Operation]) -> None:
        for op in ops:
            if not isinstance(op, Operation):
                raise TypeError(f"op must be an Operation: {op}")
            if op.graph is not self._graph:
                raise ValueError(f"{op!r} must be from the same graph as {self!r}.")
            if op not in self._control_inputs:
                self._control_inputs.append(op)
                op._control_outputs.append(self)
        self._graph._mutations += 1

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _remove_all_control_inputs(self) -> None:
        for op in self._control_inputs:
            op._control_outputs.remove(self)
        self._control_inputs = []
        self._graph._mutations += 1

    def run(self, feed_dict: FeedDict | None = None, session: SessionLike | None = None) -> None:
        """Run this operation in a session (the default one unless given)."""
        from everflow.framework.scopes import require_session  # builds on this module

        require_session(session, self._graph, "execute operation", "run").run(self, feed_dict)

    def __str__(self) -> str:
        return str(self.node_def)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self._name}' type={self._type}>"


def users_place() -> tuple[str, int]:
    """(file, line) of the innermost caller outside this package; of the outermost where all are inside."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith((_PACKAGE_ROOT, contextlib.__file__)) and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def capture_frames(skip: int = 1) -> list[Frame]:
    """(file, line, function) of each frame of the caller, innermost first; cheap, since it reads no source."""
    frame: FrameType | None = sys._getframe(skip)
    frames = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename == _LAUNCHER:
            break
        frames.append((code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return frames
