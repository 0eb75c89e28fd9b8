"""tf.xla.experimental: scopes and functions marked for compilation."""

from __future__ import annotations

import collections
import contextlib
import weakref

from everflow.framework import nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, executing_eagerly, get_default_graph
from everflow.ops import array
from everflow.ops.control_flow.clusters import (
    ClusterContext,
    as_output,
    check_tensor,
    keeps_structure,
    new_cluster,
    tensors_then_operations,
)
from everflow.ops.control_flow.grouping import group

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
    """A context whose nodes are marked to be compiled (or not). Scopes inside others are one group with the outermost.

    Args:
        compile_ops: Whether; or a function of a NodeDef that says it.
        separate_compiled_gradients: Whether gradients are a group of their own.

    Yields:
        None.

    Raises:
        RuntimeError: When executing eagerly.

    Example:
        >>> with tf.xla.experimental.jit_scope():
        ...     y = tf.constant(1.0) + 2.0
        >>> y.op.get_attr("_XlaCompile")
        True
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

    A structure that is no list or tuple is kept; a list or single tensor comes back as a list, nothing but operations as
    one operation.

    Args:
        computation: The function.
        inputs: The tensors.

    Returns:
        What the function returns.

    Raises:
        TypeError: If the inputs are no list.

    Example:
        >>> y, = tf.xla.experimental.compile(lambda x: x * 2.0, [tf.constant(3.0)])
        >>> sess.run(y)
        np.float32(6.0)
    """
    _check_graph_mode("compile")
    if inputs is not None and (not isinstance(inputs, collections.abc.Sequence) or isinstance(inputs, str)):
        raise TypeError("inputs must be a list")
    flat = [convert_to_tensor(x) for x in nest.flatten(inputs or [])]
    with ClusterContext(*new_cluster()):
        flat = [array.identity(x, name=f"input_{i}") for i, x in enumerate(flat)]
        outputs = computation(*nest.pack_sequence_as(inputs, flat)) if inputs else computation()
        keeping = keeps_structure(outputs)
        tensors, operations = (nest.flatten(outputs), []) if keeping else tensors_then_operations(outputs)
        for x in tensors:
            check_tensor(x)
        tensors = [array.identity(as_output(x)) for x in tensors]
    if not tensors:
        return group(*operations, name="output_0")
    clustered = [raw.XlaClusterOutput(input=t, name=f"output{i}") for i, t in enumerate(tensors)]
    with control_dependencies(operations):
        results = [array.identity(t, name=f"output_{i}") for i, t in enumerate(clustered)]
    return nest.pack_sequence_as(outputs, results) if keeping else results
