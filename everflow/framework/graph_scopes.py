"""Scopes of a graph: what is made inside them gets devices, colocations, attributes, gradients and so on from them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar

from everflow.framework import devices
from everflow.framework.control_dependencies import ControlDependencies
from everflow.framework.dtypes import DType, as_dtype
from everflow.framework.graph_keys import GraphCollections
from everflow.framework.operation import Colocation, DeviceScope, Operation, users_place
from everflow.framework.private_members import GraphMembers

if TYPE_CHECKING:
    from everflow.framework.hints import ControlFlowContext, DeviceRequest, DTypeLike, GradientFunction


class _Reading(threading.local):
    dtype: DType | None = None


# The type in which variables are read that are cast on the way, as those of Keras's layers of mixed precision are.
_reading = _Reading()


def read_dtype() -> DType | None:
    """The type that is asked for now; None: the variable's own."""
    return _reading.dtype


@contextlib.contextmanager
def reading_as(dtype: DTypeLike | None) -> Iterator[None]:
    """A context in which variables that are cast are read in a type, or, with None, in their own."""
    before, _reading.dtype = _reading.dtype, None if dtype is None else as_dtype(dtype)
    try:
        yield
    finally:
        _reading.dtype = before


class GraphScopes(GraphCollections, GraphMembers):
    """The scopes of a Graph, but for those of names."""

    # Set by ops/control_flow: raises where an op takes an input of a context it isn't in.
    check_input_context: ClassVar[Callable[[Operation, Operation], None] | None] = None

    def __init__(self) -> None:
        super().__init__()
        self._control = ControlDependencies()
        self._control_flow_context: ControlFlowContext | None = None
        # Those of nested tf.device: each requests a canonical name, a function, or None, which hides the outer ones.
        self._device_stack: list[DeviceScope] = []
        self._colocation_stack: list[Colocation] = []
        self._container = ""
        self._kernel_labels: dict[str, str] = {}
        self._gradient_override_map: dict[str, str] = {}
        self._gradient_function_map: dict[str, GradientFunction] = {}
        self._attr_scope_map: dict[str, Any] = {}
        self._default_original_op: Operation | None = None
        self._variable_creator_stack: list[tuple[int, Callable[..., Any]]] = []

    def _enable_auto_casting_variables(self, dtype: DTypeLike | None) -> AbstractContextManager[None]:
        """A context in which variables that layers cast are read in a type."""
        return reading_as(dtype)

    _auto_cast_variable_read_dtype = property(
        lambda self: read_dtype(), lambda self, dtype: setattr(_reading, "dtype", dtype), doc="That type, or None."
    )

    def _apply_scopes(self, op: Operation, compute_device: bool = True) -> None:
        """Give a new op what the scopes around it ask for: attributes, device, colocation, container, control flow."""
        for key, value in self._attr_scope_map.items():
            value = value(op.node_def) if callable(value) else value
            if value is not None and key not in op.attrs:
                op._set_attr(key, value)
        if self._kernel_labels and op.type in self._kernel_labels:
            op.attrs["_kernel"] = self._kernel_labels[op.type].encode()
        op._gradient_function = self._gradient_function_map.get(op.type)
        if self._gradient_override_map and op.type in self._gradient_override_map:
            op.attrs["_gradient_op_type"] = self._gradient_override_map[op.type].encode()
        op._original_op = self._default_original_op
        self._control.record(op)
        if compute_device and self._device_stack:
            self._apply_device_functions(op)
        if self._colocation_stack:
            op._colocations = tuple(self._colocation_stack)
            groups = set()
            for other, _ in reversed(self._colocation_stack):
                groups.update(other.colocation_groups())
                if other.device:
                    op._set_device(other.device)
            op.attrs["_class"] = sorted(groups)
        if self._container and op.definition.is_stateful and op.attrs.get("container") == b"":
            op.attrs["container"] = self._container.encode()
        op._control_flow_context = context = self._control_flow_context
        check = type(self).check_input_context
        if check is not None:
            for tensor in op._inputs:
                if tensor._op._control_flow_context is not None:
                    for source in op._inputs:
                        check(op, source._op)
                    break
        if context is not None:
            context.AddOp(op)

    def _apply_device_functions(self, op: Operation) -> None:
        """Set an op's device by the scopes around; Keras finds out about these with a stand-in for an op."""
        op._device_scopes = tuple(self._device_stack)
        for entry, _, _ in reversed(self._device_stack):
            if entry is None:
                break
            if callable(entry):
                name = entry(op)
                if isinstance(name, devices.DeviceSpecV2):
                    name = name.to_string()
                if not isinstance(name, str):
                    raise TypeError(f"Expected binary or unicode string, got {name!r}")
                op._set_device_from_string(name)
            elif entry:
                op._set_device_from_string(devices.merged_name(entry, op.device or ""))

    def device(self, device_name_or_function: DeviceRequest) -> AbstractContextManager[None]:
        """A context whose operations ask for this device (a name, DeviceSpec, function of an op, or None)."""
        entry = device_name_or_function
        if entry is not None and not callable(entry):
            entry = devices.canonical_name(entry)
        return self._pushed(self._device_stack, DeviceScope(entry, device_name_or_function, users_place()))

    @contextlib.contextmanager
    def _pushed(self, stack: list[Any], item: Any) -> Iterator[None]:
        stack.append(item)
        depth = len(stack)
        try:
            yield
        finally:
            if len(stack) != depth:
                raise RuntimeError("Exiting device scope without proper scope nesting")
            stack.pop()

    @contextlib.contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """A context whose operations go to the device of `op`; None with ignore_existing lifts outer ones."""
        if op is None and not ignore_existing:
            raise ValueError("colocate_with(None) lifts the colocations around it, and so needs ignore_existing=True")
        if op is not None and not isinstance(op, Operation):
            from everflow.framework.conversion import convert_to_tensor_or_indexed_slices  # builds on this module

            # A resource variable stands for its handle: asking for a tensor would draw a read of it.
            handle: Any = getattr(op, "handle", None)
            op = (
                handle.op
                if isinstance(getattr(handle, "op", None), Operation)
                else convert_to_tensor_or_indexed_slices(op, as_ref=True).op
            )
        # Colocation is stronger than device requests, so those around are not applied inside.
        saved_devices, self._device_stack = self._device_stack, []
        saved_stack = self._colocation_stack
        self._colocation_stack = [] if ignore_existing else list(saved_stack)
        if op is not None:
            self._colocation_stack.append(Colocation(op, users_place()))
        try:
            yield
        finally:
            self._device_stack, self._colocation_stack = saved_devices, saved_stack

    @contextlib.contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """A context whose stateful operations keep their state in this resource container."""
        old, self._container = self._container, container_name
        try:
            yield container_name
        finally:
            self._container = old

    @contextlib.contextmanager
    def _attr_scope(self, attr_map: Mapping[str, Any]) -> Iterator[None]:
        """A context whose operations get these attributes (name → AttrValue, or function of a NodeDef, or None to
        hide).
        """
        if not isinstance(attr_map, dict) or not all(isinstance(key, str) for key in attr_map):
            raise TypeError(
                f"attr_map must be a dictionary from names to attribute values or functions, not {attr_map!r}"
            )
        old = self._attr_scope_map
        self._attr_scope_map = {k: v for k, v in {**old, **attr_map}.items() if v is not None}
        try:
            yield
        finally:
            self._attr_scope_map = old

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map: Mapping[str, str]) -> Iterator[None]:
        """A context whose operations of these types use gradients registered under other names."""
        _check_string_map(op_type_map, "op_type_map")
        old = self._gradient_override_map
        self._gradient_override_map = {**old, **op_type_map}
        try:
            yield
        finally:
            self._gradient_override_map = old

    @contextlib.contextmanager
    def _override_gradient_function(self, gradient_function_map: dict[str, GradientFunction]) -> Iterator[None]:
        """As `gradient_override_map`, with the functions themselves."""
        if self._gradient_function_map:
            raise AssertionError("gradient functions can't be overridden twice")
        self._gradient_function_map = gradient_function_map
        try:
            yield
        finally:
            self._gradient_function_map = {}

    @contextlib.contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map: Mapping[str, str]) -> Iterator[None]:
        """A context whose operations of these types ask for the kernels of a label."""
        _check_string_map(op_to_kernel_label_map, "op_to_kernel_label_map")
        old = self._kernel_labels
        self._kernel_labels = {**old, **op_to_kernel_label_map}
        try:
            yield
        finally:
            self._kernel_labels = old

    @contextlib.contextmanager
    def _original_op(self, op: Operation | None) -> Iterator[None]:
        old, self._default_original_op = self._default_original_op, op
        try:
            yield
        finally:
            self._default_original_op = old

    @contextlib.contextmanager
    def _variable_creator_scope(self, creator: Callable[..., Any], priority: int = 100) -> Iterator[None]:
        """A context in which variables are made by `creator(next_creator, **kwargs)`."""
        old = self._variable_creator_stack
        self._variable_creator_stack = new = sorted([*old, (priority, creator)], key=lambda pair: pair[0])
        try:
            yield
        finally:
            if self._variable_creator_stack is not new:
                raise RuntimeError(
                    "variable_creator_scope ends while another that was entered in it is still open: leave them in the"
                    " opposite order, and don't enter them across threads that share a graph"
                )
            self._variable_creator_stack = old


def _check_string_map(mapping: object, what: str) -> None:
    if not isinstance(mapping, dict):
        raise TypeError(f"{what} must be a dictionary of strings, keys and values")
    for key, value in mapping.items():
        if not (isinstance(key, str) and isinstance(value, str)):
            raise TypeError(f"{what} must be a dictionary of strings, keys and values")
