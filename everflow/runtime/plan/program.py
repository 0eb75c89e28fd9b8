"""The form a graph has between the stages of planning: nodes with edges that rules may change, without touching the Graph."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.shapes import TensorShape

# An edge is (node, output index).
FEED = "_Feed"  # a value from the caller; its `position` says which
VALUE = "_Value"  # a value known when planning: constants and what was folded


class Node:
    """One op of a plan. `op` is the Operation it came from: errors and traces are told in its terms."""

    __slots__ = (
        "index",
        "op",
        "name",
        "type",
        "definition",
        "inputs",
        "controls",
        "output_dtypes",
        "output_shapes",
        "device",
        "value",
        "guard",
        "frame",
        "_attrs",
    )

    def __init__(self, index: int, op, name: str, op_type: str):
        self.index = index
        self.op = op
        self.name = name
        self.type = op_type
        self.definition = None
        self.inputs: list[tuple[Node, int]] = []
        self.controls: list[Node] = []
        self.output_dtypes: list = []
        self.output_shapes: list = []
        self.device = ""
        self.value = None  # FEED: position; VALUE: the kernel value
        self.guard: tuple = ()  # branches it belongs to: ((predicate edge, taken), ...)
        self.frame = None  # the loop it belongs to
        self._attrs: dict | None = None

    @property
    def input_dtypes(self) -> list:
        return [node.output_dtypes[i] for node, i in self.inputs]

    @property
    def attrs(self) -> dict:
        """Attributes in the form kernels get them."""
        if self._attrs is None:
            self._attrs = {name: kernel_attribute(value) for name, value in self.op.attrs.items()} if self.op is not None else {}
        return self._attrs

    def set_attributes(self, attributes: dict) -> None:
        """The attributes of a node that a rule made."""
        self._attrs = attributes

    def attribute(self, name: str):
        """An attribute's value, or the definition's default where a file left it out."""
        try:
            return self.attrs[name]
        except KeyError:
            return kernel_attribute(self.definition.attr_by_name[name].default)

    def constant_input(self, position: int):
        """The kernel value of an input that is known when planning, else None; for `specialize`."""
        source, _ = self.inputs[position]
        if source.type == VALUE:
            return source.value
        if source.type == "Const":
            from everflow.kernels.tensors import from_numpy

            return from_numpy(source.attribute("value"))
        return None

    @property
    def is_stateful(self) -> bool:
        return self.definition is None or self.definition.is_stateful

    def __repr__(self):
        return f"<{self.type} {self.name!r}>"


def kernel_attribute(value):
    """An attribute as kernels see it: text for bytes, a numpy array for a tensor."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, (list, tuple)):
        return [kernel_attribute(item) for item in value]
    array = getattr(value, "array", None)
    return value if array is None else array


class Program:
    """What is left of a graph for one choice of feeds and fetches, nodes in an order where inputs come first.

    A fetch is an edge, or a node alone where an operation is to be run.
    """

    def __init__(self, nodes: list[Node], feeds: list[Node], fetches: list):
        self.nodes = nodes
        self.last_index = nodes[-1].index if nodes else 0
        self.feeds = feeds
        self.fetches = fetches

    def new_index(self) -> int:
        """A number for a node that a rule adds."""
        self.last_index += 1
        return self.last_index

    def insert(self, made: dict[Node, list[Node]]) -> None:
        """Add nodes, each right before the one it stands for, or right after it where it waits for it."""
        nodes: list[Node] = []
        for node in self.nodes:
            waiting = [n for n in made.get(node, ()) if node in n.controls]
            nodes += [n for n in made.get(node, ()) if n not in waiting]
            nodes.append(node)
            nodes += waiting
        self.nodes = nodes

    def replace(self, edges: dict[tuple[Node, int], tuple[Node, int]], nodes: dict[Node, Node | None]) -> None:
        """Let users of some edges take others, and waiters for some nodes wait for others (None: for what that node waited for)."""

        def final(edge):
            while edge in edges:
                edge = edges[edge]
            return edge

        def waits(controls):
            found: dict[Node, None] = {}
            seen: set[Node] = set()
            stack = list(reversed(controls))
            while stack:
                node = stack.pop()
                if node in seen:
                    continue
                seen.add(node)
                if node not in nodes:
                    if node.type not in (FEED, VALUE):
                        found[node] = None
                elif nodes[node] is not None:
                    stack.append(nodes[node])
                else:
                    stack += [n for n, _ in node.inputs] + node.controls
            return list(found)

        waiting = {node: waits(node.controls) for node in self.nodes if any(c in nodes for c in node.controls)}
        for node in self.nodes:
            if any(e in edges for e in node.inputs):
                node.inputs = [final(e) for e in node.inputs]
            if node in waiting:
                node.controls = waiting[node]
        # A fetch never becomes a feed: the caller would get back the very array that was fed.
        self.fetches = [final(f) if isinstance(f, tuple) and final(f)[0].type != FEED else f for f in self.fetches]

    def sort(self) -> None:
        """Put inputs first again, after nodes were joined; otherwise the order stays."""
        place = {node: i for i, node in enumerate(self.nodes)}
        done: set[Node] = set()
        order: list[Node] = []
        for start in self.nodes:
            stack = [start]
            while stack:
                node = stack[-1]
                if node in done:
                    stack.pop()
                    continue
                # A loop's back edge comes from a later node and is not waited for.
                missing = [s for s in [n for n, _ in node.inputs] + node.controls if s not in done and not _is_back_edge(s, node)]
                if missing:
                    stack += sorted(missing, key=place.__getitem__, reverse=True)
                else:
                    done.add(node)
                    order.append(node)
                    stack.pop()
        self.nodes = order

    def keep_needed(self) -> None:
        """Drop the nodes that no fetch needs."""
        needed: set[Node] = set(self.feeds)
        stack = [f[0] if isinstance(f, tuple) else f for f in self.fetches]
        while stack:
            node = stack.pop()
            if node not in needed:
                needed.add(node)
                stack += [n for n, _ in node.inputs]
                stack += node.controls
        self.nodes = [n for n in self.nodes if n in needed]


def _is_back_edge(source: Node, node: Node) -> bool:
    return node.type in ("Merge", "RefMerge") and source.type in ("NextIteration", "RefNextIteration")


def is_ref(node: Node, output: int) -> bool:
    """Whether an output is a reference to a variable's buffer."""
    return node.output_dtypes[output]._is_ref_dtype


def value_node(index: int, value, dtype, like: Node, output: int) -> Node:
    """A node for a value that planning found out, standing for an output of another node."""
    node = Node(index, like.op, like.name, VALUE)
    node.value = value
    node.output_dtypes = [dtypes.as_dtype(dtype).base_dtype]
    node.output_shapes = [TensorShape(list(value.shape)) if hasattr(value, "shape") else like.output_shapes[output]]
    node.device = like.device
    node.guard, node.frame = like.guard, like.frame
    return node


def input_counts(node: Node) -> list[tuple[object, int]]:
    """For each input argument of the definition: (argument, how many edges it takes)."""
    return _argument_counts(node, node.definition.inputs, len(node.inputs))


def output_counts(node: Node) -> list[tuple[object, int]]:
    """For each output argument of the definition: (argument, how many outputs it gives)."""
    return _argument_counts(node, node.definition.outputs, len(node.output_dtypes))


def _argument_counts(node, arguments, total):
    counts = []
    for argument in arguments:
        if argument.number_attr:
            counts.append((argument, int(node.attribute(argument.number_attr))))
        elif argument.type_list_attr:
            counts.append((argument, len(node.attribute(argument.type_list_attr))))
        else:
            counts.append((argument, 1))
    if sum(n for _, n in counts) != total:
        raise ValueError(f"Node {node.name!r} ({node.type}) has {total} tensors where its definition has {sum(n for _, n in counts)}")
    return counts
