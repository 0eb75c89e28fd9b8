"""Control dependencies that make ops with effects run in the order of the program, as in a function's body: a use of a
resource after the use before it, and everything that has an effect before what is returned.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any

from everflow.framework import dtypes, nest
from everflow.framework.composites import IndexedSlices, SparseTensor
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import executing_eagerly, get_default_graph
from everflow.ops.array.basic import identity
from everflow.ops.control_flow.contexts import WhileContext, enclosing
from everflow.ops.control_flow.primitives import merge
from everflow.ops.tensor_arrays.flows import HasFlow

# Stateful op types that are not held in order: each has a random stream of its own, or waits for other devices.
LEGACY_RANDOM_OPS = [
    "RandomUniform",
    "RandomUniformInt",
    "RandomStandardNormal",
    "ParameterizedTruncatedNormal",
    "TruncatedNormal",
    "RandomShuffle",
    "Multinomial",
    "RandomGamma",
    "RandomGammaGrad",
    "RandomPoisson",
    "RandomPoissonV2",
]
ASYNC_STATEFUL_OPS = [
    "CollectiveGather",
    "CollectiveReduce",
    "CollectiveBcastSend",
    "CollectiveBcastRecv",
    "NcclAllReduce",
]
_IN_ANY_ORDER = frozenset(LEGACY_RANDOM_OPS + ASYNC_STATEFUL_OPS)
_NO_RESOURCE = None  # what ops with effects but without a resource use: they are in order among themselves


def op_is_stateful(op: Operation) -> bool:
    """Whether an op has an effect that is to be kept in order."""
    return op.definition.is_stateful and op.type not in _IN_ANY_ORDER


class AutomaticControlDependencies:
    """A context at whose end the ops that were drawn in it get the dependencies that keep their effects in order.

    >>> with AutomaticControlDependencies() as order:
    ...     v.assign_add(1.0)
    ...     result = order.mark_as_return(v.read_value())
    """

    def __init__(self) -> None:
        self._returned: list[Tensor] = []

    def mark_as_return(self, tensor: Any) -> Any:
        """A tensor that has its value when everything with an effect has run: what the block returns."""
        if isinstance(tensor, IndexedSlices):
            values, indices = self._marked(tensor.values), self._marked(tensor.indices)
            shape = None if tensor.dense_shape is None else self._marked(tensor.dense_shape)
            return IndexedSlices(values, indices, shape)
        if isinstance(tensor, SparseTensor):
            return SparseTensor(*map(self._marked, (tensor.indices, tensor.values, tensor.dense_shape)))
        if isinstance(tensor, HasFlow):
            return tensor.with_flow(self._marked(tensor.flow))
        return self._marked(tensor)

    def _marked(self, tensor: Any) -> Tensor:
        marked = identity(tensor)
        self._returned.append(marked)
        return marked

    def __enter__(self) -> AutomaticControlDependencies:
        if not executing_eagerly():
            self._graph = get_default_graph()
            self._ops_before = len(self._graph.get_operations())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None or executing_eagerly():
            return
        if self._graph is not get_default_graph():
            raise RuntimeError("The default graph at the end of this context is not the one at its start.")
        order = _Order()
        for op in self._graph.get_operations()[self._ops_before :]:
            order.add(op)
        for tensor in self._returned:
            tensor.op._add_control_inputs(op for op in order.must_run if _same_context(op, tensor.op))


class _Order:
    """What was seen so far of a program, op by op."""

    def __init__(self) -> None:
        self.must_run: dict[Operation, None] = {}  # in order
        self._last_use: dict[Tensor | None, Operation] = {}
        # For what goes into a branch: the merge that is to wait for every use of it there.
        self._merges: dict[Tensor, Operation] = {}

    def add(self, op: Operation) -> None:
        """Order an op behind those that were there before."""
        if _in_a_loop(op):
            return
        if op_is_stateful(op):
            self.must_run[op] = None
        if op.type == "Switch" and op.inputs[0].dtype == dtypes.resource:
            return  # looked at when something in the branch uses it
        if op.type == "Merge":
            self._close_branches(op)
            return
        handles = list(dict.fromkeys(t for t in op.inputs if t.dtype == dtypes.resource))
        for handle in handles:
            self._use(op, handle)
        if not handles and op_is_stateful(op) and op._control_flow_context is None:
            self._after_last_use(op, _NO_RESOURCE)

    def _close_branches(self, merge_op: Operation) -> None:
        """The end of a conditional waits for all effects so far, and stands for them from here on."""
        for op in self.must_run:
            merge_op._add_control_input(op)
            for handle in op.inputs:
                if handle in self._last_use:
                    self._last_use[handle] = merge_op
        self.must_run = {merge_op: None}

    def _use(self, op: Operation, handle: Tensor) -> None:
        if handle.op.type == "Switch":
            self._enter_branches(handle.op)
        self._after_last_use(op, handle)
        if handle in self._merges:
            self._merges[handle]._add_control_input(op)

    def _after_last_use(self, op: Operation, handle: Tensor | None) -> None:
        last = self._last_use.get(handle)
        if last is not None and _same_context(last, op):
            op._add_control_input(last)
        self._last_use[handle] = op

    def _enter_branches(self, switch_op: Operation) -> None:
        """A resource goes into a conditional: what uses it afterwards waits for a merge of both of its branches."""
        handle = switch_op.inputs[0]
        if handle.op.type == "Switch":
            self._enter_branches(handle.op)
        if switch_op.outputs[0] in self._merges:
            return
        merge_op = merge(switch_op.outputs, name="artificial_merge")[0].op
        merge_op._set_control_flow_context(switch_op._control_flow_context.outer_context)
        self.must_run[merge_op] = None
        if handle in self._last_use:
            switch_op._add_control_input(self._last_use[handle])
        self._last_use[handle] = merge_op
        if handle in self._merges:
            self._merges[handle]._add_control_input(merge_op)
        for output in switch_op.outputs:
            self._merges[output] = merge_op


def _same_context(a: Operation, b: Operation) -> bool:
    return a._control_flow_context is b._control_flow_context


def _in_a_loop(op: Operation) -> bool:
    return enclosing(op._control_flow_context, lambda context: isinstance(context, WhileContext)) is not None


def automatic_control_dependencies(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: what a function draws has its effects in order, and its results wait for them."""

    @functools.wraps(f)
    def ordered(*args: Any, **kwargs: Any) -> Any:
        with AutomaticControlDependencies() as order:
            return nest.map_structure(order.mark_as_return, f(*args, **kwargs))

    return ordered
