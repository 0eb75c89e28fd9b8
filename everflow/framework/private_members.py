"""Members of operations and graphs that start with an underscore and that old programs and tests ask for: other views of
what `operation.py`, `graph_scopes.py` and `graph.py` keep.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple

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

    def _tf_output(self, output_idx: int) -> Tensor:
        return self.outputs[output_idx]

    def _tf_input(self: Any, input_idx: int) -> Tensor:
        return self.inputs[input_idx]

    def _add_while_inputs(self: Any, tensors: Iterable[Tensor]) -> None:
        """Let a loop take further tensors behind those that it takes."""
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
