"""Changing GraphDefs for use without training: cutting out a part, dropping training nodes, freezing variables into
constants.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from everflow.framework import dtypes
from everflow.framework.tensor_values import make_tensor_proto
from everflow.protos import attr_value_pb2, graph_pb2, node_def_pb2

if TYPE_CHECKING:
    from everflow.framework.graph import Graph
    from everflow.framework.hints import SessionLike
    from everflow.framework.operation import Operation
    from everflow.framework.shapes import TensorShape

_VARIABLES = ("Variable", "VariableV2")
_RESOURCE_VARIABLES = ("VarHandleOp", "VarIsInitializedOp")
# Op types of which a node with this attribute in host memory types runs on the CPU.
_CPU_TYPES = {
    "Const": ("dtype", (dtypes.string, dtypes.int32)),
    "DynamicStitch": ("T", (dtypes.int32,)),
    "Cast": ("SrcT", (dtypes.int32,)),
}


def _node_of(edge: str) -> str:
    """The node's name in an input: "^a" and "a:1" are node "a"."""
    return edge.removeprefix("^").partition(":")[0]


def _copy(node: node_def_pb2.NodeDef) -> node_def_pb2.NodeDef:
    copied = node_def_pb2.NodeDef()
    copied.CopyFrom(node)
    return copied


def must_run_on_cpu(node: Operation | node_def_pb2.NodeDef, pin_variables_on_cpu: bool = False) -> bool:
    """Whether a node (Operation or NodeDef) has to be on a CPU: variables where they are pinned, and values that live
    in host memory.

    Args:
        node: The node.
        pin_variables_on_cpu: Whether variables are pinned.

    Returns:
        A bool.

    Example:
        >>> tf.graph_util.must_run_on_cpu(tf.Variable(1.0).op, pin_variables_on_cpu=True)
        True
    """
    node_def = node if isinstance(node, node_def_pb2.NodeDef) else node.node_def
    if pin_variables_on_cpu and node_def.op in _VARIABLES:
        return True
    attr, types = _CPU_TYPES.get(node_def.op, ("", ()))
    return node_def.attr[attr].type in types if attr else False


def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> TensorShape:
    """The static shape of the tensor that an input of a NodeDef names.

    Args:
        graph: The graph to work in; the default graph if None.
        input_name: The name.

    Returns:
        A TensorShape.

    Example:
        >>> c = tf.ones([2, 3], name="c")
        >>> tf.graph_util.tensor_shape_from_node_def_name(sess.graph, "c").as_list()
        [2, 3]
    """
    name = input_name if ":" in input_name else input_name + ":0"
    return graph.get_tensor_by_name(name).get_shape()


def extract_sub_graph(graph_def: graph_pb2.GraphDef, dest_nodes: Sequence[str]) -> graph_pb2.GraphDef:
    """The part of a graph that the named nodes need, in the same order.

    Args:
        graph_def: The GraphDef.
        dest_nodes: The names.

    Returns:
        A GraphDef.

    Raises:
        TypeError: If the names are no list.
        AssertionError: If one isn't there.

    Example:
        >>> a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
        >>> [node.name for node in tf.graph_util.extract_sub_graph(sess.graph.as_graph_def(), ["b"]).node]
        ['b']
    """
    if not isinstance(graph_def, graph_pb2.GraphDef):
        raise TypeError("graph_def must be a GraphDef.")
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    by_name = {node.name: node for node in graph_def.node}
    for name in dest_nodes:
        assert name in by_name, f"{name} is not in graph"
    needed, waiting = set(), list(dest_nodes)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting.extend(_node_of(edge) for edge in by_name[name].input)
    out = graph_pb2.GraphDef()
    out.node.extend(_copy(node) for node in graph_def.node if node.name in needed)
    out.library.CopyFrom(graph_def.library)
    out.versions.CopyFrom(graph_def.versions)
    return out


def remove_training_nodes(
    input_graph: graph_pb2.GraphDef,
    protected_nodes: Iterable[str] | None = None,
) -> graph_pb2.GraphDef:
    """A graph without CheckNumerics and without Identity nodes, but for protected ones.

    Edges through a CheckNumerics are dropped; an Identity is passed over, unless control edges begin or end at it.

    Args:
        input_graph: The GraphDef.
        protected_nodes: The names of nodes that stay.

    Returns:
        A GraphDef.

    Example:
        >>> y = tf.negative(tf.identity(tf.constant(1.0)))
        >>> [node.op for node in tf.graph_util.remove_training_nodes(sess.graph.as_graph_def()).node]
        ['Const', 'PlaceholderWithDefault', 'Const', 'Neg']
    """
    protected = set(protected_nodes or ())
    removed = {node.name for node in input_graph.node if node.op == "CheckNumerics" and node.name not in protected}
    kept = []
    for node in input_graph.node:
        if node.name not in removed:
            copied = _copy(node)
            del copied.input[:]
            copied.input.extend(edge for edge in node.input if _node_of(edge) not in removed)
            kept.append(copied)

    control_sources = {_node_of(edge) for node in kept for edge in node.input if edge.startswith("^")}
    passed_over = {}
    for node in kept:
        has_control = node.name in control_sources or any(edge.startswith("^") for edge in node.input)
        if node.op == "Identity" and node.name not in protected and not has_control:
            passed_over[node.name] = node.input[0]

    out = graph_pb2.GraphDef()
    for node in kept:
        if node.name not in passed_over:
            edges = []
            for edge in node.input:
                while edge in passed_over:
                    edge = passed_over[edge]
                edges.append(edge)
            del node.input[:]
            node.input.extend(edges)
            out.node.append(node)
    return out


def convert_variables_to_constants(
    sess: SessionLike,
    input_graph_def: graph_pb2.GraphDef,
    output_node_names: Sequence[str],
    variable_names_whitelist: Collection[str] | None = None,
    variable_names_blacklist: Collection[str] | None = None,
) -> graph_pb2.GraphDef:
    """The part of a graph that the outputs need, with the variables' values in a session as constants: a frozen graph.

    Args:
        sess: The session that has the values.
        input_graph_def: The graph, most often `sess.graph.as_graph_def()`.
        output_node_names: The names of the outputs' nodes.
        variable_names_whitelist: Only these variables; all if None.
        variable_names_blacklist: Not these variables.

    Returns:
        A GraphDef.

    Example:
        >>> y = tf.add(tf.Variable(1.0), 2.0, name="y")
        >>> sess.run(tf.global_variables_initializer())
        >>> frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph.as_graph_def(), ["y"])
        >>> sorted({node.op for node in frozen.node})
        ['Add', 'Const', 'Identity']
    """
    part = extract_sub_graph(input_graph_def, output_node_names)

    def chosen(name: str) -> bool:
        listed = variable_names_whitelist is None or name in variable_names_whitelist
        return listed and (variable_names_blacklist is None or name not in variable_names_blacklist)

    fetches = {}
    for node in part.node:
        if node.op in _VARIABLES and chosen(node.name):
            fetches[node.name] = f"{node.name}:0"
        elif node.op in _RESOURCE_VARIABLES and chosen(node.name):
            fetches[node.name] = f"{node.name}/Read/ReadVariableOp:0"
    values = sess.run(fetches)

    out = graph_pb2.GraphDef()
    for node in part.node:
        if node.name in values:
            out.node.append(_constant(node.name, node.attr["dtype"], values[node.name]))
        elif node.op == "ReadVariableOp":
            out.node.append(_identity(node))
        elif node.op == "ResourceGather":
            out.node.extend(_gather(node))
        else:
            out.node.append(node)
    out.library.CopyFrom(part.library)
    return out


def _constant(name: str, dtype: attr_value_pb2.AttrValue, value: np.ndarray) -> node_def_pb2.NodeDef:
    node = node_def_pb2.NodeDef(name=name, op="Const")
    node.attr["dtype"].CopyFrom(dtype)
    node.attr["value"].CopyFrom(
        attr_value_pb2.AttrValue(tensor=make_tensor_proto(value, dtype=dtype.type, shape=value.shape))
    )
    return node


def _identity(read: node_def_pb2.NodeDef) -> node_def_pb2.NodeDef:
    """A constant that was a resource variable is read by passing it on."""
    node = node_def_pb2.NodeDef(name=read.name, op="Identity", device=read.device, input=read.input)
    node.attr["T"].CopyFrom(read.attr["dtype"])
    if "_class" in read.attr:
        node.attr["_class"].CopyFrom(read.attr["_class"])
    return node


def _gather(resource_gather: node_def_pb2.NodeDef) -> tuple[node_def_pb2.NodeDef, node_def_pb2.NodeDef]:
    """Rows of a constant that was a resource variable: GatherV2, with its axis."""
    axis = _constant(
        resource_gather.name + "/axis",
        attr_value_pb2.AttrValue(type=dtypes.int32.as_datatype_enum),
        np.array(0, np.int32),
    )
    node = node_def_pb2.NodeDef(name=resource_gather.name, op="GatherV2", device=resource_gather.device)
    node.input.extend([resource_gather.input[0], resource_gather.input[1], axis.name])
    node.attr["Tparams"].CopyFrom(resource_gather.attr["dtype"])
    node.attr["Tindices"].CopyFrom(resource_gather.attr["Tindices"])
    node.attr["Taxis"].type = int(dtypes.int32)
    return axis, node
