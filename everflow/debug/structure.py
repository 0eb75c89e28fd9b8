"""The graphs that ran on the devices of a dump, and how their nodes hang together."""

from __future__ import annotations

from everflow.framework import dtypes, op_defs
from everflow.protos import graph_pb2

_COPY, _DEBUG = "__copy_", "__dbg_"


def reconstruct_non_debug_graph_def(debug_graph_def):
    """A graph without the nodes that a debugger put into it."""
    sources = {node.name: node.input[0] for node in debug_graph_def.node if node.name.startswith(_COPY)}
    result = graph_pb2.GraphDef(versions=debug_graph_def.versions)
    for node in debug_graph_def.node:
        if node.name.startswith((_COPY, _DEBUG)):
            continue
        kept = result.node.add()
        kept.CopyFrom(node)
        del kept.input[:]
        for name in node.input:
            base = name.lstrip("^").split(":")[0]
            if base.startswith(_DEBUG):
                continue
            kept.input.append(sources.get(base, name) if base in sources else name)
    return result


def _taken_by_reference(node):
    """The names of the nodes whose outputs a node takes by reference, as one that assigns does."""
    if node.op == "_Retval":
        is_ref = [dtypes.as_dtype(node.attr["T"].type)._is_ref_dtype]
    else:
        known = op_defs.find(node.op)
        is_ref = [argument.is_ref for argument in known.inputs] if known is not None else []
    return [name.split(":")[0] for name, by_reference in zip(node.input, is_ref) if by_reference]


class GraphStructure:
    """What can be asked of the graphs of a run, by device."""

    def __init__(self, graphs):
        self._debug_graphs = graphs
        self._graphs = {device: reconstruct_non_debug_graph_def(graph) for device, graph in graphs.items()}
        self._nodes = {device: {node.name: node for node in graph.node} for device, graph in self._graphs.items()}
        self._users: dict = {}
        for device, nodes in self._nodes.items():
            for node in nodes.values():
                for name in node.input:
                    base = name.lstrip("^").split(":")[0]
                    self._users.setdefault((device, base, name.startswith("^")), []).append(node.name)

    def names_on(self, device):
        """The names of a device's nodes, or None where its graph isn't known."""
        return self._nodes.get(device)

    def loaded_partition_graphs(self):
        """Whether the graphs are known."""
        return bool(self._graphs)

    def partition_graphs(self):
        """The graphs as they ran, debugging nodes included."""
        self._need_graphs()
        return list(self._debug_graphs.values())

    def reconstructed_non_debug_partition_graphs(self):
        """The graphs by device, without debugging nodes."""
        self._need_graphs()
        return dict(self._graphs)

    def nodes(self, device_name=None):
        """The names of all nodes, or of those on a device."""
        self._need_graphs()
        if device_name is not None:
            if device_name not in self._nodes:
                raise ValueError(f"Invalid device name: {device_name}")
            return list(self._nodes[device_name])
        return [name for nodes in self._nodes.values() for name in nodes]

    def node_exists(self, node_name, device_name=None):
        """Whether there is such a node."""
        self._need_graphs()
        devices = self._nodes if device_name is None else {device_name: self._nodes.get(device_name, {})}
        return any(node_name in nodes for nodes in devices.values())

    def node_device(self, node_name):
        """The device of a node; a list where it is on several."""
        self._need_graphs()
        found = [device for device, nodes in self._nodes.items() if node_name in nodes]
        if not found:
            raise ValueError(f"Node '{node_name}' does not exist in partition graphs.")
        return found[0] if len(found) == 1 else found

    def node_op_type(self, node_name, device_name=None):
        """The op type of a node."""
        return self._node(node_name, device_name)[1].op

    def node_attributes(self, node_name, device_name=None):
        """The attributes of a node."""
        return self._node(node_name, device_name)[1].attr

    def node_inputs(self, node_name, is_control=False, device_name=None):
        """The inputs of a node, or its control inputs: names, with the output where it isn't the first."""
        _, node = self._node(node_name, device_name)
        return [name.lstrip("^").removesuffix(":0") for name in node.input if name.startswith("^") == is_control]

    def node_recipients(self, node_name, is_control=False, device_name=None):
        """The nodes that use a node, or wait for it."""
        device, _ = self._node(node_name, device_name)
        return list(self._users.get((device, node_name, is_control), ()))

    def transitive_inputs(self, node_name, include_control=True, include_reversed_ref=False, device_name=None):
        """All nodes that a node needs, each followed by those that it needs itself."""
        device, _ = self._node(node_name, device_name)
        found: list[str] = []
        pending = [node_name]
        while pending:
            name = pending.pop()
            if name in found:
                continue
            found.append(name)
            pending += reversed(self._before(device, name, include_control, include_reversed_ref))
        return found[1:]

    def find_some_path(
        self, src_node_name, dst_node_name, include_control=True, include_reversed_ref=False, device_name=None
    ):
        """The nodes on a way from one node to another that needs it, or None."""
        device, _ = self._node(dst_node_name, device_name)
        paths, seen = [[dst_node_name]], {dst_node_name}
        for path in paths:  # breadth first: the list grows meanwhile
            if path[-1] == src_node_name:
                return path[::-1]
            for name in self._before(device, path[-1], include_control, include_reversed_ref):
                if name not in seen:
                    seen.add(name)
                    paths.append([*path, name])
        return None

    def _before(self, device, node_name, include_control, include_reversed_ref):
        """The nodes that a node needs directly; with `include_reversed_ref` also those that may write to its output."""
        nodes = self._nodes[device]
        given = [name for name in nodes[node_name].input if include_control or not name.startswith("^")]
        found = [name.lstrip("^").split(":")[0] for name in given]
        if include_reversed_ref:
            users = self._users.get((device, node_name, False), ())
            found += [user for user in users if node_name in _taken_by_reference(nodes[user])]
        return [name for name in found if name in nodes]

    def _node(self, node_name, device_name):
        self._need_graphs()
        if device_name is not None and device_name not in self._nodes:
            raise KeyError(f"Device {device_name!r} is not among those of the dump: {list(self._nodes)}")
        for device, nodes in self._nodes.items():
            if device_name in (None, device) and node_name in nodes:
                return device, nodes[node_name]
        raise ValueError(
            f"Node '{node_name}' does not exist in the partition graph of device '{device_name or next(iter(self._nodes))}'."
        )

    def _need_graphs(self):
        if not self._graphs:
            raise LookupError("No partition graphs have been loaded.")
