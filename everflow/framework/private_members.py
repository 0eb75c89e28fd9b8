"""Members of operations and graphs that start with an underscore and that old programs and tests ask for: other views of
what `operation.py`, `graph_scopes.py` and `graph.py` keep.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple

from everflow.framework import dtypes
from everflow.framework.errors import InternalError
from everflow.framework.shapes import TensorShape
from everflow.protos import attr_value_pb2

if TYPE_CHECKING:
    from everflow.framework.control_dependencies import ControlDependencies
    from everflow.framework.operation import Colocation, DeviceScope, Operation, Tensor


class Placed(NamedTuple):
    """Something that a program wrote, and the file and line where it did."""

    obj: Any
    filename: str
    lineno: int


def _written(request: Any) -> str:
    code = getattr(request, "__code__", None)
    return str(request) if code is None else f"{request.__name__}<{code.co_filename}, {code.co_firstlineno}>"


def device_places(scopes: Sequence[DeviceScope]) -> list[Placed]:
    """Each `tf.device` as it was written, and where; innermost first."""
    return [Placed(_written(scope.written), *scope.place) for scope in reversed(scopes)]


def colocation_places(colocations: Sequence[Colocation]) -> dict[str, Placed]:
    """{name of an operation that others go to: where that was asked for}."""
    return {each.op.name: Placed(None, *each.place) for each in reversed(colocations)}


def _list_value(**values: Any) -> attr_value_pb2.AttrValue:
    return attr_value_pb2.AttrValue(list=attr_value_pb2.AttrValue.ListValue(**values))


class OperationMembers:
    """What operations have of these."""

    _device_scopes: tuple[DeviceScope, ...]
    _colocations: tuple[Colocation, ...]
    outputs: list[Tensor]

    @property
    def _device_assignments(self) -> list[Placed]:
        """Each `tf.device` around it, as it was written, and where; innermost first."""
        return device_places(self._device_scopes)

    @property
    def _colocation_dict(self) -> dict[str, Placed]:
        """Where it was asked that it go to the devices of other operations, by their names."""
        return colocation_places(self._colocations)

    _device_code_locations = _device_assignments
    _colocation_code_locations = _colocation_dict

    @property
    def _outputs(self) -> list[Tensor]:
        return self.outputs

    @property
    def _c_op(self) -> Any:
        """What stands for it where TensorFlow has a node of its C++ side: itself."""
        return self

    @property
    def _node_def(self: Any) -> Any:
        return self.node_def

    @property
    def _is_stateful(self: Any) -> bool:
        return self.definition.is_stateful

    def _get_attr_type(self: Any, name: str) -> Any:
        return self.get_attr(name)

    def _set_func_attr(self: Any, attr_name: str, func_name: str) -> None:
        """Set an attribute that names a function."""
        self._set_attr(attr_name, attr_value_pb2.AttrValue(func=attr_value_pb2.NameAttrList(name=func_name)))

    def _set_func_list_attr(self: Any, attr_name: str, func_names: Iterable[str]) -> None:
        """Set an attribute that names functions."""
        functions = [attr_value_pb2.NameAttrList(name=name) for name in func_names]
        self._set_attr(attr_name, _list_value(func=functions))

    def _set_type_list_attr(self: Any, attr_name: str, types: Iterable[Any]) -> None:
        """Set an attribute that has types; none sets nothing."""
        numbers = [dtypes.as_dtype(each).as_datatype_enum for each in types or ()]
        if numbers:
            self._set_attr(attr_name, _list_value(type=numbers))

    def _set_shape_list_attr(self: Any, attr_name: str, shapes: Iterable[Any]) -> None:
        """Set an attribute that has shapes."""
        self._set_attr(attr_name, _list_value(shape=[TensorShape(each).as_proto() for each in shapes]))

    def _tf_output(self, output_idx: int) -> Tensor:
        return self.outputs[output_idx]

    def _tf_input(self: Any, input_idx: int) -> Tensor:
        return self.inputs[input_idx]

    def _add_while_inputs(self: Any, tensors: Iterable[Tensor]) -> None:
        """Let a loop take further tensors behind those that it takes."""
        if self.type not in ("While", "StatelessWhile"):
            raise InternalError(None, None, f"Only loops take further inputs, and {self.name!r} is a {self.type}")
        for tensor in tensors:
            self._append_input(tensor)


class _Requests:
    """The devices that are asked for now, as a stack that is looked at from the top."""

    def __init__(self, scopes: Sequence[DeviceScope]) -> None:
        self._scopes = scopes

    def peek_objs(self) -> Iterator[Any]:
        """What was asked for, the innermost first."""
        return (scope.written for scope in reversed(self._scopes))

    def peek_traceable_objs(self) -> Iterator[Placed]:
        """The same, with where it was written."""
        return (Placed(scope.written, *scope.place) for scope in reversed(self._scopes))


class GraphMembers:
    """What graphs have of these."""

    _device_stack: list[DeviceScope]
    _colocation_stack: list[Colocation]
    _control: ControlDependencies
    device: Callable[..., AbstractContextManager[None]]
    colocate_with: Callable[..., AbstractContextManager[None]]

    @property
    def _beside(self: Any) -> list[Operation]:
        """Operations that were made for this graph and that it hasn't taken in yet."""
        return self.__dict__.setdefault("_made_beside", [])

    @property
    def _version(self: Any) -> int:
        return self.version

    @property
    def _next_id_counter(self: Any) -> int:
        return self._last_id

    @property
    def _graph_def_versions(self: Any) -> Any:
        return self.graph_def_versions

    @property
    def _unfeedable_tensors(self: Any) -> set[Any]:
        return self._unfeedable

    @property
    def _unfetchable_ops(self: Any) -> set[Any]:
        return self._unfetchable

    @property
    def _op_to_kernel_label_map(self: Any) -> dict[str, str]:
        return self._kernel_labels

    @property
    def _device_function_stack(self) -> _Requests:
        return _Requests(self._device_stack)

    @property
    def _device_functions_outer_to_inner(self) -> list[Any]:
        """What `tf.device` contexts ask for, the outermost first."""
        return [scope.request for scope in self._device_stack]

    def _snapshot_device_function_stack_metadata(self) -> list[Placed]:
        return device_places(self._device_stack)

    def _snapshot_colocation_stack_metadata(self) -> dict[str, Placed]:
        return colocation_places(self._colocation_stack)

    def _create_op_from_tf_operation(self: Any, c_op: Operation, compute_device: bool = True) -> Operation:
        """Take in an operation that was made beside the graph (see `legacy.inner.core.operations._create_c_op`)."""
        self._check_not_finalized()
        self._beside.remove(c_op)
        self._append(c_op)
        self._names_in_use.setdefault(c_op.name.lower(), 1)
        if compute_device and self._device_stack:
            self._apply_device_functions(c_op)
        return c_op

    def _add_new_tf_operations(self: Any, compute_devices: bool = True) -> list[Operation]:
        """Take in all operations that were made beside the graph, with what the scopes around ask for."""
        taken = list(self._beside)
        for op in taken:
            self._create_op_from_tf_operation(op, compute_device=False)
        for op in taken:
            op._add_control_inputs(self._control.for_inputs({t.op for t in op.inputs}))
            self._apply_scopes(op, compute_devices)
        return taken

    def _control_dependencies_for_inputs(self, input_ops: Iterable[Operation]) -> list[Operation]:
        """What runs before an operation that takes these, as control dependencies around it ask."""
        return list(self._control.for_inputs(set(input_ops)))

    def _record_op_seen_by_control_dependencies(self, op: Operation) -> None:
        self._control.record(op)

    @contextlib.contextmanager
    def _colocate_with_for_gradient(
        self, op: Any, gradient_uid: str | None, ignore_existing: bool = False
    ) -> Iterator[None]:
        """`colocate_with`, for the operations of a gradient."""
        with self.colocate_with(op, ignore_existing):
            yield
