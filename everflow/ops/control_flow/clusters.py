"""Clusters: parts of a graph that are to be compiled as a whole, each node marked with its cluster's name.

A cluster is a context as loops and branches are, so that nodes made for it elsewhere, as Enters and Switches are, get
the mark too, and nodes that are lifted out of it don't.
"""

from __future__ import annotations

from everflow.framework import nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Operation
from everflow.framework.scopes import get_default_graph
from everflow.ops.control_flow.contexts import ControlFlowContext, enclosing
from everflow.ops.control_flow.grouping import no_op

# The attribute that names the cluster of a node for XLA.
CLUSTER_MARK = "_xla_compile_id"


class ClusterContext(ControlFlowContext):
    """Marks what is made in it. Nodes without inputs wait for the pivot, so that all of the cluster comes after it."""

    mark = CLUSTER_MARK

    def __init__(self, name, pivot):
        super().__init__()
        self._name = name
        self._pivot = pivot

    def IsXLAContext(self):
        return True

    @property
    def back_prop(self):
        return self._outer_context is not None and self._outer_context.back_prop

    def AddOp(self, op):
        if self.mark in op.attrs:
            raise ValueError(f"Clusters cannot be nested: {op.name!r} of {self._name!r} is in one already.")
        op._set_attr(self.mark, self._name.encode())
        inside, outside = self._remove_external_control_edges(op)
        if not op.inputs and not inside:
            op._add_control_input(self._pivot)
        self._pull_in(outside, op)
        self._known_by_all(t.name for t in op.outputs)
        super().AddInnerOp(op)

    AddInnerOp = AddOp

    def AddValue(self, tensor):
        return tensor if self._outer_context is None else self._outer_context.AddValue(tensor)

    def _remove_external_control_edges(self, op):
        inside, outside = [], []
        for other in op.control_inputs:
            within = enclosing(other._control_flow_context, lambda c: c is self)
            (outside if within is None else inside).append(other)
        if outside:
            op._remove_all_control_inputs()
            op._add_control_inputs(inside)
        return inside, outside


def new_cluster():
    """The name of a new cluster in the default graph, and the node that all of it comes after."""
    name = get_default_graph().unique_name("cluster")
    return name, no_op(name=f"{name}/pivot")


def keeps_structure(outputs):
    """Whether what a computation returned is given back in its structure, rather than as a list."""
    if not nest.is_nested(outputs):
        return False
    return not isinstance(outputs, (list, tuple)) or any(nest.is_nested(x) for x in outputs)


def as_output(value):
    """What a computation returned, as a tensor."""
    try:
        return convert_to_tensor(value)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"A computation that is compiled returns Operations, and what can be a Tensor; {value!r} can't: {error}"
        ) from error


def tensors_then_operations(outputs):
    """The tensors and the operations of a flat result; with them goes one operation of the cluster at least."""
    flat = list(outputs) if isinstance(outputs, (list, tuple)) else [] if outputs is None else [outputs]
    flat.append(no_op())
    operations = [x for x in flat if isinstance(x, Operation)]
    tensors = flat[: len(flat) - len(operations)]
    if any(isinstance(x, Operation) for x in tensors):
        raise ValueError(f"A compiled computation returns its Tensors followed by its Operations, not {outputs}.")
    return tensors, operations


def check_tensor(value):
    """Raise for an operation inside of a structure."""
    if isinstance(value, Operation):
        raise ValueError(
            f"A structure that a compiled computation returns holds Tensors only, and this one the Operation {value.name!r}: make it a "
            "control dependency of one of them."
        )
