"""Parts of graphs as TensorFlow's master sends them, in the form that our plans take.

Its optimizer has joined nodes (`_FusedMatMul`, `_FusedConv2D`): they are taken apart again, our planner joins its own.
Its parts come in any order, for TensorFlow runs what is ready; a plan runs in one order, which must not wait for a
value that another task can only send when it has one of ours.
"""

from __future__ import annotations

from everflow.cluster import edges
from everflow.framework import errors
from everflow.protos import graph_pb2, node_def_pb2

# What a joined node begins with, and the attributes that it has for it.
_JOINED = {
    "_FusedMatMul": ("MatMul", ("T", "transpose_a", "transpose_b")),
    "_FusedConv2D": (
        "Conv2D",
        ("T", "strides", "padding", "explicit_paddings", "data_format", "use_cudnn_on_gpu", "dilations"),
    ),
}
# What may follow: how many inputs it takes besides the value before it, and attributes.
_FOLLOWING = {
    "BiasAdd": (1, ("T", "data_format")),
    "FusedBatchNorm": (4, ("T", "data_format", "epsilon")),
    "Relu": (0, ("T",)),
    "Relu6": (0, ("T",)),
    "Elu": (0, ("T",)),
}


def adapted(graph_def: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
    """A part as our plans take it; parts that our master made are that already."""
    if not any(node.op in _JOINED or node.name.startswith("_") or _is_foreign(node) for node in graph_def.node):
        return graph_def
    nodes = [each for node in graph_def.node for each in (_apart(node) if node.op in _JOINED else [node])]
    nodes = [_renamed(node) for node in nodes]
    made = graph_pb2.GraphDef(versions=graph_def.versions, library=graph_def.library)
    made.node.extend(_sends_first(nodes))
    return made


def _is_foreign(node: node_def_pb2.NodeDef) -> bool:
    """Whether a node is an end of an edge that TensorFlow's master has cut: ours are called "v:0" and "^v"."""
    if node.op not in (edges.SEND, edges.RECV) or node.attr["client_terminated"].b:
        return False
    name = node.attr["tensor_name"].s
    return b":" not in name and not name.startswith(b"^")


def _renamed(node: node_def_pb2.NodeDef) -> node_def_pb2.NodeDef:
    """A node whose name, and whose inputs', may be a user's: what was fed and fetched has names that begin with "_"."""
    if not node.name.startswith("_") and not any(name.lstrip("^").startswith("_") for name in node.input):
        return node
    made = node_def_pb2.NodeDef()
    made.CopyFrom(node)
    made.name = _plain(node.name)
    made.input[:] = ["^" * name.startswith("^") + _plain(name.lstrip("^")) for name in node.input]
    return made


def _plain(name: str) -> str:
    return f"client/{name}" if name.startswith("_") else name


def _apart(node: node_def_pb2.NodeDef) -> list[node_def_pb2.NodeDef]:
    """The nodes that a joined one stands for; the last of them has its name."""
    first, attributes = _JOINED[node.op]
    values = [name for name in node.input if not name.startswith("^")]
    controls = [name for name in node.input if name.startswith("^")]
    steps = [(first, 1, attributes)]
    for name in node.attr["fused_ops"].list.s:
        op = name.decode()
        if op not in _FOLLOWING:
            raise errors.UnimplementedError(None, None, f"{node.name}: a {node.op} with {op} is not known here")
        steps.append((op, *_FOLLOWING[op]))
    found: list[node_def_pb2.NodeDef] = []
    value = values.pop(0)
    for number, (op, count, attributes) in enumerate(steps, 1):
        name = node.name if number == len(steps) else f"{node.name}/_{op}"
        made = node_def_pb2.NodeDef(op=op, name=name, device=node.device, input=[value, *values[:count]])
        del values[:count]
        for key in attributes:
            if key in node.attr:
                made.attr[key].CopyFrom(node.attr[key])
        if op == "FusedBatchNorm":
            made.attr["is_training"].b = False  # only then is it joined
        found.append(made)
        value = name
    found[0].input.extend(controls)
    return found


def _sends_first(nodes: list[node_def_pb2.NodeDef]) -> list[node_def_pb2.NodeDef]:
    """The nodes with all that a `_Send` needs before it, those that wait for the fewest values first; what only waits
    comes last. Parts with loops keep their order.
    """
    ends = [node for node in nodes if node.op == edges.SEND and _is_foreign(node)]
    if not ends or any(node.op in ("NextIteration", "RefNextIteration") for node in nodes):
        return nodes
    by_name = {node.name: node for node in nodes}
    place = {node.name: i for i, node in enumerate(nodes)}

    def needs(node: node_def_pb2.NodeDef) -> set[str]:
        found, stack = {node.name}, [node]
        while stack:
            names = {name.lstrip("^").split(":")[0] for name in stack.pop().input} - found
            found |= names
            stack += [by_name[name] for name in names]
        return found

    behind = {node.name: needs(node) for node in ends}
    waits = {name: sum(by_name[n].op == edges.RECV for n in found) for name, found in behind.items()}
    ordered: dict[str, None] = {}
    for name in sorted(behind, key=lambda name: (waits[name], place[name])):
        ordered.update(dict.fromkeys(sorted(behind[name] - ordered.keys(), key=place.__getitem__)))
    ordered.update(dict.fromkeys(node.name for node in nodes))
    return [by_name[name] for name in ordered]
