"""The form a run has between the stages of planning: blocks of nodes in the order they run, loops and branches as nodes
with blocks of their own.

A node may take any value that was made before it in its own block or in one around it, and values of an earlier `_If`
on the same side of the same predicate. The order is part of the meaning: what has an effect stays where it stands, so
no edge but those of values is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from everflow.framework import dtypes
from everflow.framework.attributes import Owned
from everflow.framework.op_defs import ArgDef, AttrDef, OpDef
from everflow.framework.shapes import TensorShape
from everflow.kernels import registry
from everflow.kernels.facts import FRESH, Effect, Facts

if TYPE_CHECKING:
    from everflow.framework.hints import DTypeLike
    from everflow.framework.operation import Operation
    from everflow.runtime.hints import Value

FEED = "_Feed"  # a value from the caller; `value` says which
VALUE = "_Value"  # a value known when planning: constants and what was folded
VARIABLE = "_LoopVariable"  # what goes round in a loop
LOOP = "_Loop"  # blocks (condition, body); inputs: first values of its variables; results: what the condition's block hands on
IF = "_If"  # blocks (else, then); input: the predicate; results: what the block that ran hands on
START = "_CollectiveStart"  # begins a collective op; the node of the op itself waits for it
AT_ONCE = "_AtOnce"  # one block, whose nodes run at the same time, since one may wait for what another does
NATIVE = "_Native"  # a region of nodes as machine code; `value` is the function that runs it
UPDATE = "_NativeUpdate"  # the same where variables are written
END = "_End"  # what a block hands on: next values of loop variables, results of a branch, the fetches of a run

Edge = tuple["Node", int]  # a node and the index of one of its outputs


class Node:
    """One op of a plan. `op` is the Operation it came from: errors and traces are told in its terms."""

    __slots__ = (
        "index", "op", "name", "type", "definition", "inputs", "controls", "output_dtypes", "output_shapes", "device", "value", "_attrs",
        "block", "previous", "next", "uses", "blocks", "order", "wanted", "_effect",
    )  # fmt: skip

    def __init__(self, index: int, op: Operation | None, name: str, op_type: str) -> None:
        self.index = index
        self.op: Operation = op  # type: ignore[assignment]  # None only for what no graph has: ends of blocks, and eager calls
        self.name = name
        self.type = op_type
        self.definition: Any = None
        self.inputs: list[Edge] = []
        self.controls: list[Node] = []  # only in a graph that was not given its order yet
        self.output_dtypes: list[dtypes.DType] = []
        self.output_shapes: list[TensorShape | None] = []
        self.device = ""
        self.value: Any = None  # FEED: position; VALUE: the kernel value
        self._attrs: dict[str, Any] | None = None
        self.block: Block = None  # type: ignore[assignment]  # None only while it stands nowhere
        self.previous: Node | None = None
        self.next: Node | None = None
        self.uses: list[dict[Node, int]] = []  # for each output who takes it, and how often
        self.blocks: tuple[Block, ...] = ()
        self.order = 0  # grows in the order of running, blocks within included
        self.wanted = False  # has to run, whether or not somebody takes its results
        self._effect: Effect | None = None

    @property
    def input_dtypes(self) -> list[dtypes.DType]:
        return [node.output_dtypes[i] for node, i in self.inputs]

    @property
    def attrs(self) -> dict[str, Any]:
        """Attributes in the form kernels get them."""
        if self._attrs is None:
            self._attrs = (
                {name: kernel_attribute(value) for name, value in self.op.attrs.items()} if self.op is not None else {}
            )
        return self._attrs

    def set_attributes(self, attributes: dict[str, Any]) -> None:
        """The attributes of a node that no operation of a graph stands for."""
        self._attrs = attributes

    def attribute(self, name: str) -> Any:
        """An attribute's value, or the definition's default where a file left it out."""
        try:
            return self.attrs[name]
        except KeyError:
            return kernel_attribute(self.definition.attr_by_name[name].default)

    def constant_input(self, position: int) -> Value:
        """The kernel value of an input that is known when planning, else None; for `specialize`."""
        source, _ = self.inputs[position]
        if source.type == VALUE:
            return source.value
        if source.type == "Const":
            from everflow.kernels.tensors import from_numpy  # loads torch

            return from_numpy(source.attribute("value"))
        return None

    @property
    def is_stateful(self) -> bool:
        return self.definition is None or self.definition.is_stateful

    @property
    def facts(self) -> Facts:
        """What its kernel promises; nothing, where a function of the graph stands for a kernel."""
        return facts_of(self.type)

    @property
    def effect(self) -> Effect:
        """What it does besides computing its results from its inputs."""
        if self._effect is None:
            self._effect = _effect_of(self)
        return self._effect

    def is_used(self) -> bool:
        return any(self.uses)

    def shape(self, output: int = 0) -> list[int] | None:
        """The static shape of an output where all of it is known, as a list; else None."""
        shape = self.output_shapes[output]
        if shape is None or not shape.is_fully_defined():
            return None
        sizes: list[Any] = shape.as_list()
        return sizes

    def __repr__(self) -> str:
        return f"<{self.type} {self.name!r}>"


_NO_FACTS = Facts()
_facts: dict[str, Facts] = {
    NATIVE: Facts(result=FRESH, effect=Effect.PURE, fails=False),
    UPDATE: Facts(result=FRESH, effect=Effect.ACTS),
}


def facts_of(op_type: str) -> Facts:
    """The facts that are declared beside the kernel of an op type."""
    found = _facts.get(op_type)
    if found is None:
        entry = registry.lookup(op_type)
        if entry is None:
            return _NO_FACTS  # not kept: a kernel may be registered later
        found = _facts[op_type] = entry.facts
    return found


_KNOWN = frozenset([FEED, VALUE, VARIABLE, NATIVE, "Const"])
_STATE = (dtypes.resource, dtypes.variant)


def _effect_of(node: Node) -> Effect:
    if node.type in _KNOWN:
        return Effect.PURE
    if node.type == UPDATE:
        return Effect.ACTS
    entry = registry.lookup(node.type)
    if entry is None:
        return Effect.ACTS
    if entry.once and not node.inputs:
        return Effect.READS
    effect = entry.facts.effect
    if effect is None:
        effect = (
            Effect.ACTS
            if node.is_stateful or "step" in entry.context_names or "session" in entry.context_names
            else Effect.PURE
        )
    if effect is Effect.PURE and any(
        d._is_ref_dtype or d.base_dtype in _STATE for d in [*node.input_dtypes, *node.output_dtypes]
    ):
        return Effect.READS
    return effect


def kernel_attribute(value: Any) -> Any:
    """An attribute as kernels see it: text for bytes, a numpy array for a tensor."""
    if value.__class__ is Owned:
        return value.key
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, (list, tuple)):
        return [kernel_attribute(item) for item in value]
    array = getattr(value, "array", None)
    return value if array is None else array


class Block:
    """Nodes in the order they run. `end` takes what the block hands on."""

    __slots__ = ("owner", "first", "last", "end")

    def __init__(self, owner: Node | None) -> None:
        # The loop, branch or group it belongs to.
        self.owner: Node = owner  # type: ignore[assignment]  # None only at the top
        self.first: Node | None = None
        self.last: Node | None = None
        self.end = Node(-1, None, "", END)
        self.end.block = self

    def __iter__(self) -> Iterator[Node]:
        node = self.first
        while node is not None:
            following = node.next  # the node may be taken out meanwhile
            yield node
            node = following

    def append(self, node: Node) -> None:
        node.block, node.previous, node.next = self, self.last, None
        if self.last is None:
            self.first = node
        else:
            self.last.next = node
        self.last = node

    def insert(self, node: Node, before: Node) -> None:
        """Put a node right before another of this block; it takes that one's place in the order."""
        node.block, node.previous, node.next, node.order = self, before.previous, before, before.order
        if before.previous is None:
            self.first = node
        else:
            before.previous.next = node
        before.previous = node

    def remove(self, node: Node) -> None:
        if node.previous is None:
            self.first = node.next
        else:
            node.previous.next = node.next
        if node.next is None:
            self.last = node.previous
        else:
            node.next.previous = node.previous
        node.block = node.previous = node.next = None  # type: ignore[assignment]  # it stands nowhere now

    @property
    def parent(self) -> Block | None:
        return self.owner.block if self.owner is not None else None


class Program:
    """What is left of a graph for one choice of feeds and fetches. `top.end` takes the fetches, and the predicates they
    depend on.
    """

    def __init__(self, feeds: list[Node], last_index: int) -> None:
        self.top = Block(None)
        self.feeds = feeds
        self.last_index = last_index
        self.fetches: list[
            int | None
        ] = []  # for each fetch its input of `top.end`; None for an operation, which has no value
        # For each fetch when it has a value: (input of `top.end` that is a predicate, what that must be), all of them;
        # None: never.
        self.conditions: list[list[tuple[int, bool]] | None] = []
        self.fetched_nodes: list[Node | None] = []  # who made each fetch in the graph, for messages
        self.devices: dict[str, list[Node]] = {}  # the nodes of the pruned graph by device
        self.size_before = 0  # nodes of the pruned graph
        self.beside: dict[Node, Node] = {}  # node → the one behind it that runs side by side with it
        self.short: set[Node] = set()  # nodes that one thread has done before another would be awake
        self.delayed = 0  # writes of variables that were put after uses
        self.journal: list[
            tuple[str, str, str]
        ] = []  # (rule, what there was, what there is), where somebody wants to know
        self.keeps_journal = False

    # --- looking round --------------------------------------------------------------------------

    def blocks(self) -> Iterator[Block]:
        """All blocks, outer ones first."""
        left = [self.top]
        while left:
            block = left.pop()
            yield block
            inner = [b for node in block if node.blocks for b in node.blocks]
            left += reversed(inner)

    def nodes(self) -> Iterator[Node]:
        """All nodes in the order they run; a loop or branch comes before what it holds."""
        left = [self.top.first]
        while left:
            node = left.pop()
            while node is not None:
                following = node.next  # the node may be taken out meanwhile
                yield node
                if node.blocks:
                    left.append(following)
                    left += [b.first for b in reversed(node.blocks[1:])]
                    node = node.blocks[0].first
                else:
                    node = following

    # --- changing it ----------------------------------------------------------------------------

    def new_index(self) -> int:
        """A number for a node that a rule adds."""
        self.last_index += 1
        return self.last_index

    def new(self, definition: OpDef, inputs: list[Edge], like: Node, **attributes: Any) -> Node:
        """A node that stands for `like`, with its results; it is nowhere yet."""
        node = Node(self.new_index(), like.op, like.name, definition.name)
        node.definition = definition
        node.output_dtypes, node.output_shapes = list(like.output_dtypes), list(like.output_shapes)
        node.device, node.order, node._attrs = like.device, like.order, attributes
        self.connect(node, inputs)
        return node

    def constant(self, value: Value, dtype: DTypeLike, like: Node, output: int = 0) -> Node:
        """A node for a value that planning found out, standing for an output of another. Constants are at the very top."""
        node = Node(self.new_index(), like.op, like.name, VALUE)
        node.value = value
        node.output_dtypes = [dtypes.as_dtype(dtype).base_dtype]
        node.output_shapes = [TensorShape(list(value.shape)) if hasattr(value, "shape") else like.output_shapes[output]]
        node.device = like.device
        node.uses = [{}]
        if self.top.first is None:
            self.top.append(node)
        else:
            self.top.insert(node, self.top.first)
        return node

    def connect(self, node: Node, inputs: list[Edge]) -> None:
        """Let a new node take these edges."""
        node.inputs = list(inputs)
        node.uses = [{} for _ in node.output_dtypes]
        for source, output in inputs:
            users = source.uses[output]
            users[node] = users.get(node, 0) + 1

    def set_inputs(self, node: Node, inputs: list[Edge]) -> None:
        """Let a node take other edges than it does; nodes that nobody needs any more are dropped."""
        old = node.inputs
        node.inputs = list(inputs)
        for source, output in inputs:
            users = source.uses[output]
            users[node] = users.get(node, 0) + 1
        for source, output in old:
            self._unuse(source, output, node)
        for source, _ in old:
            self.drop_if_unneeded(source)

    def replace(self, edge: Edge, other: Edge, *, drop: bool = True) -> bool:
        """Let all who take an edge take another one; whether there was anybody. A fetch never becomes a feed: the
        caller would get back
        the array that was fed."""
        node, output = edge
        users = node.uses[output]
        kept: dict[Node, int] = {}
        node.uses[output] = {}
        taken = other[0].uses[other[1]]
        for user, count in users.items():
            if other[0].type == FEED and user is self.top.end:
                kept[user] = count
                continue
            user.inputs = [other if e == edge else e for e in user.inputs]
            user._effect = None
            taken[user] = taken.get(user, 0) + count
        node.uses[output].update(kept)
        if drop:
            self.drop_if_unneeded(node)
        return len(kept) < len(users)

    def substitute(self, node: Node, new: Node) -> None:
        """Put a node in the place of another, which goes."""
        node.block.insert(new, node)
        new.wanted = new.wanted or node.wanted
        node.wanted = False
        for output in range(len(node.output_dtypes)):
            if node.uses[output]:
                self.replace((node, output), (new, output), drop=False)
        self.erase(node)

    def erase(self, node: Node) -> None:
        """Take out a node whose results nobody takes, and what only it needed."""
        left = [node]
        while left:
            gone = left.pop()
            if gone.block is None:
                continue
            gone.block.remove(gone)
            sources = list(gone.inputs)
            for block in gone.blocks:
                left += list(block)
                sources += block.end.inputs
                for source, output in block.end.inputs:
                    self._unuse(source, output, block.end)
            for source, output in gone.inputs:
                self._unuse(source, output, gone)
            gone.inputs = []
            left += [
                source for source, _ in dict.fromkeys(sources) if source.block is not None and self.is_unneeded(source)
            ]

    def _unuse(self, source: Node, output: int, user: Node) -> None:
        users = source.uses[output]
        count = users.get(user, 0)
        if count > 1:
            users[user] = count - 1
        else:
            users.pop(user, None)

    def is_unneeded(self, node: Node) -> bool:
        """Whether nothing would be missed without a node."""
        if node.wanted or node.type in (FEED, VARIABLE) or node.is_used():
            return False
        return not acts(node) and not (node.blocks and _is_taken_outside(node))

    def drop_if_unneeded(self, node: Node) -> None:
        if node.block is not None and self.is_unneeded(node):
            self.erase(node)

    def sweep(self) -> None:
        """Drop whatever is not needed, from the last node to the first."""
        for node in reversed(list(self.nodes())):
            self.drop_if_unneeded(node)

    def renumber(self) -> None:
        """Number the nodes anew in the order they run."""
        for place, node in enumerate(self.nodes(), 1):
            node.order = place

    # --- for those who look -----------------------------------------------------------------------

    def copy(self) -> Program:
        """The same program in nodes of its own."""
        made = Program([], self.last_index)
        twins: dict[Node, Node] = {}
        blocks: list[tuple[Block, Block]] = [(self.top, made.top)]
        for mine, other in blocks:  # grows
            twins[mine.end] = other.end
            for node in mine:
                twin = twins[node] = _twin(node)
                other.append(twin)
                twin.blocks = tuple(Block(twin) for _ in node.blocks)
                blocks += zip(node.blocks, twin.blocks, strict=True)
        for node, twin in twins.items():
            twin.inputs = [(twins[source], output) for source, output in node.inputs]
            twin.uses = [{twins[user]: count for user, count in users.items()} for users in node.uses]
        made.feeds = [twins[n] for n in self.feeds]
        made.fetches, made.conditions, made.fetched_nodes = self.fetches, self.conditions, self.fetched_nodes
        made.devices, made.size_before, made.delayed = self.devices, self.size_before, self.delayed
        return made


def acts(node: Node) -> bool:
    """Whether a node, or one that it holds, does something that is wanted for itself. A random draw is: the next run's
    depends on it, even where nobody looks at this one.
    """
    if node.blocks:
        return node.wanted or any(acts(inner) for block in node.blocks for inner in block)
    return node.wanted or node.effect in (Effect.ACTS, Effect.RANDOM)


def _is_taken_outside(owner: Node) -> bool:
    """Whether somebody outside a branch or group takes a value that was made in it."""
    inside = set(_blocks_of(owner))
    return any(user.block not in inside for block in inside for node in block for users in node.uses for user in users)


def _blocks_of(owner: Node) -> Iterator[Block]:
    left = list(owner.blocks)
    while left:
        block = left.pop()
        yield block
        left += [b for node in block for b in node.blocks]


def _twin(node: Node) -> Node:
    twin = Node(node.index, node.op, node.name, node.type)
    twin.definition, twin.value, twin.device = node.definition, node.value, node.device
    twin.output_dtypes, twin.output_shapes = list(node.output_dtypes), list(node.output_shapes)
    twin.order, twin.wanted = node.order, node.wanted
    twin._attrs, twin._effect = node._attrs, node._effect
    return twin


def loop_variables(loop: Node) -> list[Node]:
    """The variables of a loop, which stand first in its condition's block."""
    found = []
    for node in loop.blocks[0]:
        if node.type != VARIABLE:
            break
        found.append(node)
    return found


def is_ref(node: Node, output: int) -> bool:
    """Whether an output is a reference to a variable's buffer."""
    return node.output_dtypes[output]._is_ref_dtype


def is_known(shape: TensorShape | None) -> TypeGuard[TensorShape]:
    """Whether every side of a shape is known."""
    return shape is not None and shape.is_fully_defined()


def same_shape(one: Edge, other: Edge) -> bool:
    """Whether two values are known to have the same shape."""
    shape = one[0].shape(one[1])
    return shape is not None and shape == other[0].shape(other[1])


def input_counts(node: Node) -> list[tuple[ArgDef, int]]:
    """For each input argument of the definition: (argument, how many edges it takes)."""
    return _argument_counts(node, node.definition.inputs, len(node.inputs))


def output_counts(node: Node) -> list[tuple[ArgDef, int]]:
    """For each output argument of the definition: (argument, how many outputs it gives)."""
    return _argument_counts(node, node.definition.outputs, len(node.output_dtypes))


def flat_results(node: Node, result: Value) -> list[Value]:
    """What a kernel returned, as a list with one value for each output."""
    counts = output_counts(node)
    if not counts:
        return []
    if len(counts) == 1:
        return list(result) if counts[0][0].is_list else [result]
    flat = []
    for (argument, _), value in zip(counts, result, strict=True):
        flat += list(value) if argument.is_list else [value]
    return flat


def _argument_counts(node: Node, arguments: Sequence[ArgDef], total: int) -> list[tuple[ArgDef, int]]:
    counts = []
    for argument in arguments:
        if argument.number_attr:
            counts.append((argument, int(node.attribute(argument.number_attr))))
        elif argument.type_list_attr:
            counts.append((argument, len(node.attribute(argument.type_list_attr))))
        else:
            counts.append((argument, 1))
    if sum(n for _, n in counts) != total:
        raise ValueError(
            f"Node {node.name!r} ({node.type}) has {total} tensors where its definition has {sum(n for _, n in counts)}"
        )
    return counts


def argument_edges(node: Node, positions: tuple[int, ...]) -> list[Edge]:
    """The edges that some input arguments of the definition take."""
    if node.definition is None:
        return list(node.inputs)
    found, offset = [], 0
    for position, (_, count) in enumerate(input_counts(node)):
        if position in positions:
            found += node.inputs[offset : offset + count]
        offset += count
    return found


# What a node that a rule makes may be of: kept here so that definitions read as short as they are.
def internal(name: str, inputs: str, outputs: str = "result", attributes: str = "", *, acts: bool = False) -> OpDef:
    """The definition of an op that only plans have: names of its arguments, `&` before one that is a variable, `*`
    before a list.
    """

    def arguments(text: str) -> tuple[ArgDef, ...]:
        return tuple(ArgDef(a.lstrip("&*"), number_attr="N" if "*" in a else "", is_ref="&" in a) for a in text.split())

    kinds = tuple(AttrDef(a, "int" if a == "N" else "any") for a in attributes.split())
    return OpDef(name, arguments(inputs), arguments(outputs), kinds, is_stateful=acts)
