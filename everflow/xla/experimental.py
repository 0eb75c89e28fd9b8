"""tf.xla.experimental: scopes and functions marked for compilation."""

from __future__ import annotations

import collections
import contextlib
import weakref

from everflow.framework import nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Operation
from everflow.framework.scopes import CLUSTER_MARK, control_dependencies, executing_eagerly, get_default_graph
from everflow.ops import array
from everflow.ops.control_flow.contexts import ControlFlowContext
from everflow.ops.control_flow.grouping import group, no_op

__all__ = ["compile", "jit_scope"]

# How many scopes a graph has had.
_counts: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def next_scope(graph):
    """The name of a new group of nodes to compile together."""
    count = _counts.get(graph, 0)
    _counts[graph] = count + 1
    return f"jit_scope_{count}".encode()


def _check_graph_mode(name):
    if executing_eagerly():
        raise RuntimeError(
            f"xla.experimental.{name} marks nodes of a graph, and eager execution has none: call it in a tf.function."
        )


@contextlib.contextmanager
def jit_scope(compile_ops=True, separate_compiled_gradients=False):
    """A context whose nodes are marked to be compiled (or not); `compile_ops` may be a function of a NodeDef.

    Scopes inside others are one group with the outermost; gradients are a group of their own with
    `separate_compiled_gradients`.
    """
    _check_graph_mode("jit_scope")
    graph = get_default_graph()
    outer = graph._attr_scope_map.get("_XlaScope")
    marks = {
        "_XlaCompile": compile_ops if callable(compile_ops) else bool(compile_ops),
        "_XlaSeparateCompiledGradients": bool(separate_compiled_gradients),
        "_XlaScope": next_scope(graph) if outer is None else outer,
    }
    with graph._attr_scope(marks):
        yield


def compile(computation, inputs=None):
    """What `computation(*inputs)` returns, its nodes marked as one cluster to compile.

    A structure that is no list or tuple is kept; a list or single tensor comes back as a list, nothing but operations
    as one operation.
    """
    _check_graph_mode("compile")
    if inputs is not None and (not isinstance(inputs, collections.abc.Sequence) or isinstance(inputs, str)):
        raise TypeError("inputs must be a list")
    flat = [convert_to_tensor(x) for x in nest.flatten(inputs or [])]
    graph = get_default_graph()
    cluster = graph.unique_name("cluster")
    pivot = no_op(name=f"{cluster}/pivot")
    with graph._attr_scope({CLUSTER_MARK: cluster.encode()}), _ClusterContext(cluster, pivot):
        flat = [array.identity(x, name=f"input_{i}") for i, x in enumerate(flat)]
        outputs = computation(*nest.pack_sequence_as(inputs, flat)) if inputs else computation()
        keeps_structure = _keeps_structure(outputs)
        tensors, operations = (_tensors_only if keeps_structure else _tensors_then_operations)(outputs)
        tensors = [array.identity(convert_to_tensor(x)) for x in tensors]
    if not tensors:
        return group(*operations, name="output_0")
    clustered = [raw.XlaClusterOutput(input=t, name=f"output{i}") for i, t in enumerate(tensors)]
    with control_dependencies(operations):
        results = [array.identity(t, name=f"output_{i}") for i, t in enumerate(clustered)]
    return nest.pack_sequence_as(outputs, results) if keeps_structure else results


class _ClusterContext(ControlFlowContext):
    """Nodes without inputs wait for the pivot, so that all of the cluster comes after it."""

    def __init__(self, name, pivot):
        super().__init__()
        self._name = name
        self._pivot = pivot

    def IsXLAContext(self):
        return True

    def AddOp(self, op):
        if not op.inputs and not op.control_inputs:
            op._add_control_input(self._pivot)
        self._known_by_all(t.name for t in op.outputs)

    def AddValue(self, tensor):
        return tensor if self._outer_context is None else self._outer_context.AddValue(tensor)


def _keeps_structure(outputs):
    """Whether a structure comes back as it is, rather than as a list."""
    if not nest.is_nested(outputs):
        return False
    return not isinstance(outputs, (list, tuple)) or any(nest.is_nested(x) for x in outputs)


def _tensors_then_operations(outputs):
    flat = list(outputs) if isinstance(outputs, (list, tuple)) else [] if outputs is None else [outputs]
    flat.append(no_op())
    operations = [x for x in flat if isinstance(x, Operation)]
    tensors = flat[: len(flat) - len(operations)]
    if any(isinstance(x, Operation) for x in tensors):
        raise ValueError(f"A compiled computation returns its Tensors followed by its Operations, not {outputs}.")
    return tensors, operations


def _tensors_only(outputs):
    flat = nest.flatten(outputs)
    for x in flat:
        if isinstance(x, Operation):
            raise ValueError(
                f"A structure that a compiled computation returns holds Tensors only, and this one the Operation {x.name!r}: make it a "
                "control dependency of one of them."
            )
    return flat, []
