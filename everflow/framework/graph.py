"""`Graph`: operations in creation order, and their names."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from everflow.framework import attributes, op_def_protos, op_defs, tapes
from everflow.framework.control_dependencies import give_threads_scopes
from everflow.framework.errors import UnimplementedError
from everflow.framework.forking import renewed
from everflow.framework.graph_scopes import GraphScopes
from everflow.framework.op_defs import OpDef
from everflow.framework.operation import (
    Operation,
    Tensor,
    capture_frames,
)
from everflow.framework.registry import infer_shapes
from everflow.protos import graph_pb2, versions_pb2

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.hints import (
        Attributes,
        ControlFlowContext,
        Element,
        GraphFunctionLike,
    )

GRAPH_DEF_VERSION = 134
# Who is older can't read a graph with functions.
FUNCTIONS_SINCE = 12
_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\-/]*$")
_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\-/]*$")


def without_slash(name: str) -> str:
    """A scope's name without the slash that marks it as one."""
    return name[:-1] if name and name[-1] == "/" else name


class Graph(GraphScopes):
    """Operations and the tensors between them, to be run in a Session.

    Example:
        >>> g = tf.Graph()
        >>> with g.as_default():
        ...     c = tf.constant(30.0, name="c")
        >>> c.graph is g, [op.name for op in g.get_operations()]
        (True, ['c'])
    """

    # Whether operations run at once instead of being kept; `eager.EagerGraph` does so.
    executes = False

    # Only graphs that execute have these, see `eager.EagerGraph`,
    call: Callable[..., Any]
    enter_scope: Callable[[str | None], str]
    # and only bodies of functions this, see `functions.FuncGraph`.
    capture: Callable[..., Tensor]

    # and only graphs after `switch_to_thread_local` this.
    _of_thread: threading.local

    def __init__(self) -> None:
        super().__init__()
        self._lock = renewed(threading.RLock())
        self._ops: list[Operation] = []
        self._nodes_by_name: dict[str, Operation] = {}
        self._names_in_use: dict[str, int] = {}
        self._name_stack: str | None = ""
        self._seed: int | None = None
        self._finalized = False
        self._functions: dict[str, GraphFunctionLike] = {}
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Element] = set()
        self._producer = GRAPH_DEF_VERSION
        self._min_consumer = 0
        self._mutations = 0
        self._graph_key = f"graph-key-{id(self)}/"
        self._building_function = False
        self._refused_ops = 0
        self.outer_graph: Graph | None = None

    # --- what is in it ---------------------------------------------------------------------

    @property
    def version(self) -> int:
        """A number that grows with each operation."""
        return len(self._ops)

    @property
    def _last_id(self) -> int:
        return len(self._ops) + self._refused_ops

    @property
    def graph_def_versions(self) -> versions_pb2.VersionDef:
        return versions_pb2.VersionDef(producer=self._producer, min_consumer=self._min_consumer)

    @property
    def seed(self) -> int | None:
        """The graph-level random seed, None where it is not set."""
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed

    @property
    def finalized(self) -> bool:
        return self._finalized

    @property
    def building_function(self) -> bool:
        return self._building_function

    def finalize(self) -> None:
        """Let nothing more be added."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def get_operations(self) -> list[Operation]:
        """All operations, in the order in which they were made."""
        return list(self._ops)

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of this name; KeyError where there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)

    def _get_operation_by_name_unsafe(self, name: str) -> Operation:
        return self._nodes_by_name[name]

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor of this name, "op:index"; KeyError where there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The Tensor or Operation of this graph that an object or name stands for."""
        if not allow_tensor and not allow_operation:
            raise ValueError("One of allow_tensor and allow_operation has to be True.")
        wanted = " or ".join(w for w, allowed in (("Tensor", allow_tensor), ("Operation", allow_operation)) if allowed)
        as_element = getattr(obj, "_as_graph_element", None)
        if as_element is not None:
            element = as_element()
            obj = obj if element is None else element
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._element_by_name(obj, allow_tensor, allow_operation)
        if isinstance(obj, Tensor) and allow_tensor or isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"{type(obj).__name__} {obj} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")

    _as_graph_element_locked = as_graph_element

    def _element_by_name(self, name: str, allow_tensor: bool, allow_operation: bool) -> Element:
        if ":" in name and allow_tensor:
            op_name, _, index = name.rpartition(":")
            if not index.isdigit() or ":" in op_name:
                raise ValueError(f'{name!r} is not a valid name of a Tensor: write "<op_name>:<output_index>".')
            op = self._nodes_by_name.get(op_name)
            if op is None:
                raise KeyError(f"There is no Tensor {name!r}: the graph has no operation {op_name!r}.")
            if int(index) >= len(op.outputs):
                raise KeyError(
                    f"There is no Tensor {name!r}: the operation {op_name!r} has only {len(op.outputs)} outputs."
                )
            return op.outputs[int(index)]
        if ":" in name:
            raise ValueError(f"{name!r} is the name of a Tensor, where that of an Operation is wanted.")
        if not allow_operation:
            if name in self._nodes_by_name:
                raise ValueError(
                    f'{name!r} is the name of an Operation, where that of a Tensor is wanted: write "<op_name>:<output_index>".'
                )
            raise ValueError(
                f'{name!r} is no name of a Tensor (and no operation has it): write "<op_name>:<output_index>".'
            )
        if name not in self._nodes_by_name:
            raise KeyError(f"The graph has no operation of the name {name!r}.")
        return self._nodes_by_name[name]

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether a session may be fed a value for it."""
        return tensor not in self._unfeedable

    def is_fetchable(self, tensor_or_op: Element) -> bool:
        """Whether it can be asked for in a session."""
        if isinstance(tensor_or_op, Tensor):
            return tensor_or_op not in self._unfetchable and tensor_or_op.op not in self._unfetchable
        return tensor_or_op not in self._unfetchable

    def prevent_feeding(self, tensor: Tensor) -> None:
        self._unfeedable.add(tensor)

    def prevent_fetching(self, op: Element) -> None:
        self._unfetchable.add(op)

    # --- making operations -----------------------------------------------------------------

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """A name in the current scope that no operation has yet; numbers are added until it is free, whatever the case."""
        full = f"{self._name_stack}/{name}" if self._name_stack else name
        taken, key = self._names_in_use, full.lower()
        times = taken.get(key)
        if times is None:
            if mark_as_used:
                taken[key] = 1
            return full
        number = times
        while f"{key}_{number}" in taken:
            number += 1
        if mark_as_used:
            taken[key] = times + 1
            taken[f"{key}_{number}"] = 1
        return f"{full}_{number}"

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        dtypes: Sequence[DType] | None = None,
        input_types: Any = None,
        name: str | None = None,
        attrs: Attributes | None = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Add an operation. The functions of `tf.` and `tf.raw_ops` are easier to use: they infer attributes."""
        from everflow.framework.builder import complete_attrs, output_dtypes  # builds on this module

        for index, tensor in enumerate(inputs):
            if not isinstance(tensor, Tensor):
                raise TypeError(f"Input #{index} is not a tensor: {tensor}")
        definition = self.definition_of(op_type)
        values = {
            k: attributes.from_proto(v) if isinstance(v, attributes.AttrValue) else v for k, v in (attrs or {}).items()
        }
        values = complete_attrs(definition, inputs, values)
        wanted = [dtype for arg in definition.inputs for dtype in op_defs.arg_dtypes(arg, values)]
        for index, (tensor, dtype) in enumerate(zip(inputs, wanted)):
            if tensor.dtype.base_dtype != dtype.base_dtype:
                raise ValueError(
                    f"Input #{index} of a {op_type!r} op was passed {tensor.dtype.name}, where {dtype.name} is expected: {tensor}"
                )
            if dtype._is_ref_dtype and not tensor.dtype._is_ref_dtype:
                raise TypeError(f"Input #{index} of a {op_type!r} op must be a mutable tensor, not {tensor}")
        if dtypes is None:
            dtypes = output_dtypes(definition, values)
        return self.add_op(
            definition, inputs, dtypes, values, op_type if name is None else name, compute_device=compute_device
        )

    def _create_op_internal(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        dtypes: Sequence[DType] | None = None,
        input_types: Any = None,
        name: str | None = None,
        attrs: Attributes | None = None,
        op_def: Any = None,
        compute_device: bool = True,
    ) -> Operation:
        return self.create_op(op_type, inputs, dtypes, input_types, name, attrs, op_def, True, compute_device)

    def _get_op_def(self, type: str) -> Any:
        """The OpDef proto of an op type."""
        return op_def_protos.to_proto(self.definition_of(type))

    @property
    def _nodes_by_id(self) -> dict[int, Operation]:
        return {op._id: op for op in self._nodes_by_name.values()}

    def definition_of(self, op_type: str) -> OpDef:
        """The definition of an op type or of a function of this graph that is called like one."""
        function = self._functions.get(op_type)
        if function is not None:
            return function.op_definition
        return op_defs.get(op_type)

    def add_op(
        self,
        definition: OpDef,
        inputs: Sequence[Tensor],
        dtypes: Sequence[DType],
        attrs: Attributes,
        name: str,
        compute_device: bool = True,
    ) -> Operation:
        """Add an operation whose attributes are complete; a name that ends in "/" is taken as it is."""
        if self._finalized:
            self._check_not_finalized()
        if isinstance(name, bytes):
            name = name.decode()
        name = name[:-1] if name[-1:] == "/" else self.unique_name(name)
        if not _OP_NAME.match(name):
            raise ValueError(f"'{name}' is not a valid node name")
        for tensor in inputs:
            if tensor.is_eager:
                raise RuntimeError(
                    f"Attempting to capture an EagerTensor in a graph: operation '{name}' is drawn there, and that is no function's body."
                )
            if tensor._op._graph is not self:
                raise ValueError(f"{tensor} must be from the same graph as operation '{name}'.")
        input_ops = {t._op for t in inputs}
        control_inputs = self._control.for_inputs(input_ops)
        op = Operation(
            self, definition.name, name, inputs, control_inputs, dtypes, attrs, definition, capture_frames(2)
        )
        try:
            infer_shapes(op)
            with self._lock:
                self._append(op)
        except Exception:
            self._refused_ops += 1
            raise
        self._apply_scopes(op, compute_device)
        if inputs and tapes.active():
            tapes.record(op)
        return op

    def variable_accessed(self, variable: Any) -> None:
        """A variable is about to be read; bodies of functions take note."""

    def next_op_seed(self) -> int:
        """The op-level seed of an operation made now that was given none; operations that were refused count, as in
        TensorFlow.
        """
        return self._last_id

    def _append(self, op: Operation) -> None:
        if op._name in self._nodes_by_name:
            raise ValueError(f"Duplicate node name in graph: '{op._name}'")
        removed = op._op_def.deprecated_at
        if removed is not None and self._producer >= removed:
            raise UnimplementedError(None, None, op._op_def.past_its_time(self._producer))
        op._id = len(self._ops)
        self._ops.append(op)
        self._nodes_by_name[op._name] = op
        op._link()

    @property
    def _c_graph(self) -> Graph:
        """What stands for the graph where TensorFlow has its C++ side: the graph."""
        return self

    # --- scopes ----------------------------------------------------------------------------

    def as_default(self) -> AbstractContextManager[Graph]:
        """A context in which this is the graph that operations go into."""
        from everflow.framework.scopes import default_graphs  # builds on this module

        return default_graphs.push(self)

    def get_name_scope(self) -> str | None:
        """The name scope that is open now, without the last slash."""
        return self._name_stack

    @contextlib.contextmanager
    def name_scope(self, name: str | bytes | None) -> Iterator[str]:
        """A context that puts `name/` before the names of what is made in it; None or "" goes back to the root."""
        old = self._name_stack
        try:
            yield self._open_scope(name)
        finally:
            self._name_stack = old

    def _open_scope(self, name: str | bytes | None) -> str:
        """Put `name/` before the names of what is made from now on; whoever calls it puts `_name_stack` back."""
        if not name:
            self._name_stack = None
            return ""
        name = name.decode() if isinstance(name, bytes) else name
        if not (_SCOPE_NAME if self._name_stack else _OP_NAME).match(name):
            raise ValueError(f"'{name}' is not a valid scope name")
        self._name_stack = name[:-1] if name[-1] == "/" else self.unique_name(name)
        return f"{self._name_stack}/"

    def switch_to_thread_local(self) -> None:
        """From here on every thread that draws in this graph has scopes of its own, none of which is open at first."""
        give_threads_scopes(self)

    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> AbstractContextManager[None]:
        """A context whose operations run after these; None lifts the outer ones."""
        return self._control.entered(self, control_inputs)

    def _current_control_dependencies(self) -> set[Operation]:
        return self._control.current()

    def _get_control_flow_context(self) -> ControlFlowContext | None:
        return self._control_flow_context

    def _set_control_flow_context(self, ctx: ControlFlowContext | None) -> None:
        self._control_flow_context = ctx

    # --- functions -------------------------------------------------------------------------

    def _is_function(self, name: str) -> bool:
        return name in self._functions

    def _get_function(self, name: str | bytes) -> GraphFunctionLike | None:
        return self._functions.get(name.decode() if isinstance(name, bytes) else name)

    def _learn_function(self, function: GraphFunctionLike) -> None:
        """Let nodes of this graph call a function, unless they know one of its name."""
        if function.name not in self._functions:
            self._add_function(function)

    def _add_function(self, function: GraphFunctionLike) -> None:
        """Let nodes of this graph call a function (an object with `name`, `definition` and `op_definition`)."""
        self._check_not_finalized()
        self._functions[function.name] = function
        self._min_consumer = max(self._min_consumer, FUNCTIONS_SINCE)
        self._mutations += 1

    # --- files -----------------------------------------------------------------------------

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> graph_pb2.GraphDef:
        """The graph as a GraphDef proto. It is whole whatever `from_version` is, as TensorFlow has had it since its graphs
        are C++ ones.
        """
        return self._as_graph_def(None, add_shapes)[0]

    def _as_graph_def(
        self,
        from_version: int | None = None,
        add_shapes: bool = False,
    ) -> tuple[graph_pb2.GraphDef, int]:
        graph_def = graph_pb2.GraphDef(versions=self.graph_def_versions)
        with self._lock:
            nodes = self._ops[from_version or 0 :]
            graph_def.node.extend(op.node_def for op in nodes)
            if add_shapes:
                for node, op in zip(graph_def.node, nodes):
                    if op.outputs:
                        node.attr["_output_shapes"].list.shape.extend(t.shape.as_proto() for t in op.outputs)
            for function in self._functions.values():
                graph_def.library.function.append(function.definition)
                if function.gradient_name:
                    graph_def.library.gradient.add(function_name=function.name, gradient_func=function.gradient_name)
            if graph_def.ByteSize() >= 1 << 31:
                raise ValueError("GraphDef cannot be larger than 2GB.")
            return graph_def, self.version
