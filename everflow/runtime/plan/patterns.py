"""Rewrites as data: a pattern of values, what stands for it, and under which condition. One matcher tries them, from a
worklist to a fixed point.

    Rule("negated products", op("Neg", op("Mul", const("c"), x, alone=True)), lambda m: m.node("Mul", [m.x,
    m.constant(-m.value("c"))]), ...)

A part of a pattern that is `alone` goes with the rewrite: nobody else takes it, it is in the same block, and no write
comes between it and the node it goes into. So what a rule has to say for itself is only when values stay as they are.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from everflow.framework import op_defs
from everflow.framework.op_defs import OpDef
from everflow.protos import config_pb2, rewriter_config_pb2
from everflow.runtime.plan.aliasing import Aliases
from everflow.runtime.plan.binding import CONSTANTS, constant_value
from everflow.runtime.plan.program import IF, LOOP, Edge, Node, Program, is_ref
from everflow.runtime.plan.verify import verify

if TYPE_CHECKING:
    from everflow.runtime.hints import Rewrite, Value
    from everflow.runtime.state import SessionState

# The named parts of a pattern, as far as they are found.
_Parts: TypeAlias = dict[str, Edge]

_OFF, _AGGRESSIVE = rewriter_config_pb2.RewriterConfig.OFF, rewriter_config_pb2.RewriterConfig.AGGRESSIVE


class Bits(enum.Enum):
    """What a rewrite does to the last bits of results."""

    KEPT = "kept"
    REORDERED = "reordered"  # sums inside products and reductions, whose order the plain kernel leaves open, too
    ROUNDED = (
        "rounded"  # rounds once where the graph rounds twice, or joins constants: only where AGGRESSIVE asks for it
    )


# --- patterns -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pattern:
    """What an edge must come from: a node of one of some types (any, if None) with inputs that match in turn."""

    name: str = ""
    types: tuple[str, ...] | None = None
    inputs: tuple[Pattern, ...] | None = None
    alone: bool = False
    commutes: bool = False
    is_constant: bool = False


def value(name: str) -> Pattern:
    """Any value, but no reference to a variable."""
    return Pattern(name)


def const(name: str) -> Pattern:
    """A value that is known when planning."""
    return Pattern(name, is_constant=True)


def op(types: str, *inputs: Pattern, name: str = "", alone: bool = False, commutes: bool = False) -> Pattern:
    """The result of a node of one of these types. `commutes`: its two inputs may stand in either order."""
    return Pattern(name, tuple(types.split()), inputs or None, alone, commutes)


ANY = Pattern()


class Context:
    """What rules may ask: the program, which of its values share memory, and the state of the session it is for."""

    def __init__(self, program: Program, state: SessionState, *, checks: bool = False) -> None:
        self.program = program
        self.state = state
        self.checks = checks
        self._aliases: Aliases | None = None

    @property
    def aliases(self) -> Aliases:
        if self._aliases is None:
            self.program.renumber()
            self._aliases = Aliases(self.program)
        return self._aliases

    def forget_aliases(self) -> None:
        """After a pass that moved nodes."""
        self._aliases = None


class Match:
    """What a pattern found: `root` is the node to replace, and each named part of the pattern an attribute, the edge
    that it is.
    """

    def __init__(self, root: Node, context: Context) -> None:
        self.root = root
        self.context = context
        self.program = context.program
        self.parts: dict[str, Edge] = {}
        self.going: list[Node] = []  # the nodes that go with the root
        self.touched: list[Node] = []  # nodes elsewhere that a rule changed, too

    def __getattr__(self, name: str) -> Edge:
        try:
            return self.parts[name]
        except KeyError:
            raise AttributeError(name) from None

    def value(self, name: str) -> Value:
        """The kernel value of a constant part."""
        return constant_value(self.parts[name][0], self.context.state)

    def node(self, definition: OpDef | str, inputs: list[Edge], like: Node | None = None, **attributes: Any) -> Node:
        """A new node that gives what the root does, or what `like` does."""
        known = op_defs.get(definition) if isinstance(definition, str) else definition
        return self.program.new(known, inputs, like or self.root, **attributes)

    def constant(self, value: Value) -> Edge:
        """A constant of the root's type."""
        return self.program.constant(value, self.root.output_dtypes[0], self.root), 0

    def before(self, node: Node) -> Edge:
        """Put a new node right before the root; its result."""
        self.root.block.insert(node, self.root)
        return node, 0


@dataclass(frozen=True, slots=True)
class Rule:
    """`make(match)` gives what stands for the root: a node, an edge, a list of edges (one for each output), or None
    where it does not hold.
    """

    name: str
    switch: str  # the field of RewriterConfig that turns it off
    pattern: Pattern
    make: Callable[[Match], Node | Edge | list[Edge] | None]
    when: Callable[[Match], bool] | None = None
    bits: Bits = Bits.KEPT


@dataclass(frozen=True, slots=True)
class Pass:
    """A rewrite of the whole program: `run(context)` changes it and says how many nodes it changed."""

    name: str
    switch: str
    run: Callable[[Context], int]
    bits: Bits = Bits.KEPT


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules that are tried together until none of them holds anywhere."""

    members: tuple[Rule, ...]
    by_type: dict[str, list[Rule]] = field(default_factory=dict)
    anywhere: list[Rule] = field(default_factory=list)

    def __post_init__(self) -> None:
        for rule in self.members:
            for op_type in rule.pattern.types or ():
                self.by_type.setdefault(op_type, []).append(rule)
            if rule.pattern.types is None:
                self.anywhere.append(rule)

    def of(self, node: Node) -> list[Rule]:
        return self.by_type.get(node.type, []) + self.anywhere


# --- matching -----------------------------------------------------------------------------------


def matches(pattern: Pattern, root: Node, context: Context) -> Iterator[Match]:
    """All ways in which a node is what a pattern wants."""
    for parts, going in _inputs_match(pattern, root, root, {}, ()):
        match = Match(root, context)
        match.parts, match.going = parts, list(going)
        if not going or not any(context.aliases.changes_between(node.inputs, node, root) for node in going):
            yield match


def _edge_matches(
    pattern: Pattern, edge: Edge, user: Node, parts: _Parts, going: tuple[Node, ...]
) -> Iterator[tuple[_Parts, tuple[Node, ...]]]:
    node, output = edge
    if is_ref(node, output) or (pattern.is_constant and node.type not in CONSTANTS):
        return
    if pattern.types is None:
        if parts.get(pattern.name, edge) == edge:  # a name that stands twice means one value
            yield {**parts, pattern.name: edge}, going
        return
    if node.type not in pattern.types or (pattern.alone and not is_alone(edge, user)):
        return
    if pattern.alone:
        going = (*going, node)
    if pattern.name:
        parts = {**parts, pattern.name: edge}
    yield from _inputs_match(pattern, node, user, parts, going)


def _inputs_match(
    pattern: Pattern, node: Node, user: Node, parts: _Parts, going: tuple[Node, ...]
) -> Iterator[tuple[_Parts, tuple[Node, ...]]]:
    if pattern.inputs is None:
        yield parts, going
        return
    if len(node.inputs) != len(pattern.inputs):
        return
    orders = [pattern.inputs, pattern.inputs[::-1]] if pattern.commutes else [pattern.inputs]
    for wanted in orders:
        found = [(parts, going)]
        for inner, edge in zip(wanted, node.inputs, strict=True):
            found = [result for p, g in found for result in _edge_matches(inner, edge, user, p, g)]
        yield from found


def is_alone(edge: Edge, user: Node) -> bool:
    """Whether a value is one node's only, in the same block, so that both may become one."""
    node, output = edge
    return (
        node.block is user.block
        and not node.wanted
        and len(node.uses[output]) == 1
        and sum(node.uses[output].values()) == 1
        and (len(node.uses) == 1 or not any(users for i, users in enumerate(node.uses) if i != output))
    )


# --- applying -----------------------------------------------------------------------------------


def allowed(item: Rule | Pass, config: config_pb2.ConfigProto | None) -> bool:
    """Whether a ConfigProto leaves a rewrite on."""
    if config is None:
        return item.bits is not Bits.ROUNDED
    toggle = getattr(config.graph_options.rewrite_options, item.switch)
    return toggle != _OFF and (item.bits is not Bits.ROUNDED or toggle == _AGGRESSIVE)


def chosen(table: Sequence[Rewrite], config: config_pb2.ConfigProto | None) -> list[Rewrite]:
    """What of a table of rewrites a ConfigProto leaves on."""
    if config is not None:
        options = config.graph_options
        if (
            options.rewrite_options.disable_meta_optimizer
            or options.optimizer_options.opt_level == config_pb2.OptimizerOptions.L0
        ):
            return []
    result: list[Rewrite] = []
    for item in table:
        if isinstance(item, Rules):
            members = tuple(rule for rule in item.members if allowed(rule, config))
            if members:
                result.append(Rules(members))
        elif allowed(item, config):
            result.append(item)
    return result


def rewrite(context: Context, table: Sequence[Rewrite]) -> dict[str, int]:
    """Apply a table's passes and groups of rules one after the other; name → how many nodes it changed."""
    changes: dict[str, int] = {}
    for item in table:
        if isinstance(item, Rules):
            _to_fixed_point(context, item, changes)
        else:
            count = item.run(context)
            if count:
                context.forget_aliases()
                changes[item.name] = changes.get(item.name, 0) + count
        if context.checks:
            verify(context.program, getattr(item, "name", "rules"))
    return changes


def _to_fixed_point(context: Context, rules: Rules, changes: dict[str, int]) -> None:
    left = deque(node for node in context.program.nodes() if rules.anywhere or node.type in rules.by_type)
    waiting = set(left)
    while left:
        node = left.popleft()
        waiting.discard(node)
        if node.block is None:
            continue
        for rule in rules.of(node):
            touched = _applied(rule, node, context)
            if touched is not None:
                changes[rule.name] = changes.get(rule.name, 0) + 1
                for other in touched:
                    if other.block is not None and other not in waiting and rules.of(other):
                        waiting.add(other)
                        left.append(other)
                break


def _applied(rule: Rule, node: Node, context: Context) -> list[Node] | None:
    """Apply a rule to a node where it holds; the nodes to look at again."""
    program = context.program
    for match in matches(rule.pattern, node, context):
        if rule.when is not None and not rule.when(match):
            continue
        made = rule.make(match)
        if made is None:
            continue
        before = described(node, match.going) if program.keeps_journal else ""
        touched = _put(program, node, made)
        if touched is None:
            return None
        touched += match.touched
        if program.keeps_journal:
            program.journal.append((rule.name, before, ", ".join(described(n) for n in touched[:1])))
        if context.checks and program.last_index < 2000:
            verify(program, rule.name)
        return touched
    return None


def _put(program: Program, node: Node, made: Node | Edge | list[Edge]) -> list[Node] | None:
    """Let a rule's result stand for a node; the nodes around it, or None where nobody took what it gave."""
    if isinstance(made, Node):
        if made.block is not None:
            raise ValueError(f"{made!r} is in the program already")
        program.substitute(node, made)
        stands = [made]
    else:
        edges = made if isinstance(made, list) else [made]
        stands = list(dict.fromkeys(source for source, _ in edges))
        moved = [program.replace((node, output), edge, drop=False) for output, edge in enumerate(edges)]
        program.drop_if_unneeded(node)
        if node.block is not None and not any(moved):
            for source in stands:
                program.drop_if_unneeded(source)
            return None
    around = [user for new in stands for users in new.uses if len(users) < 100 for user in users]
    sources = [source for new in stands for source, _ in new.inputs]
    siblings = [user for source in sources for users in source.uses if len(users) < 8 for user in users]
    return [n for n in (*stands, *sources, *around, *siblings) if n is not node]


def described(node: Node, parts: list[Node] | None = None) -> str:
    """A node as text: its name, what it is and what it takes; before it those that go with it."""
    taken = ", ".join(source.name if output == 0 else f"{source.name}:{output}" for source, output in node.inputs)
    kind = {IF: "if", LOOP: "while"}.get(node.type, node.type)
    text = f"{node.name} = {kind}({taken})"
    return "; ".join([*(described(part) for part in reversed(parts or [])), text])
