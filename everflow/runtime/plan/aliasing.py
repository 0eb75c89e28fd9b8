"""Alias analysis: which values may share memory, and so what must be copied, what may be overwritten, and what a write
would change.

Values that may lie in the same memory are one class (union-find over edges, as Steensgaard's analysis does it). What a
kernel's result may share, its facts say; stacks and TensorArrays hand back what was put into them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from everflow.framework import dtypes
from everflow.kernels.facts import Memory
from everflow.runtime.plan.containers import container_of, is_load, stored
from everflow.runtime.plan.program import (
    FEED,
    IF,
    LOOP,
    VALUE,
    VARIABLE,
    Edge,
    Node,
    Program,
    argument_edges,
    is_ref,
    loop_variables,
)
from everflow.runtime.plan.schedule import written_by

_FOREVER = float("inf")


class Class:
    """Values that may share memory."""

    __slots__ = ("is_shared", "variables", "reads", "loops", "last_use", "has_views")

    def __init__(self) -> None:
        self.is_shared = False  # the caller, the plan or a store holds that memory, too
        self.variables: frozenset[Node] = frozenset()  # those whose buffer it may be
        self.reads: list[Node] = []  # who looked into a variable's buffer
        self.loops: list[Node] = []  # the loops that carry it from round to round
        self.last_use: float = -1
        self.has_views = False  # some of it lies in memory in another order than the rest

    def join(self, other: Class) -> None:
        self.is_shared |= other.is_shared
        self.variables |= other.variables
        self.reads += other.reads
        self.loops += other.loops
        self.last_use = max(self.last_use, other.last_use)
        self.has_views |= other.has_views


class Aliases:
    """The classes of a program's values, and the writes of its variables. Nodes that rules make are added when somebody
    asks for them.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._parent: dict[Edge, Edge] = {}
        self._classes: dict[Edge, Class] = {}
        self._contents: dict = {}  # container → an edge of the class of what is in it
        self._known: set[Node] = set()
        self._made: dict[Edge, frozenset[Node]] = {}
        self.writes: dict[Node, list[int]] = {}  # variable → the places of its writers, in order
        self._accesses: dict[Node, list[int]] | None = None
        self._end_of: dict[Node, int] = {}  # loop → the place of the last node in it
        # What a first look at loops and branches found: edge → the variables whose buffer it may be.
        self._shown: dict[Edge, frozenset[Node]] = {}
        nodes = list(program.nodes())
        for node in nodes:
            for variable in self._written(node):
                self.writes.setdefault(variable, []).append(node.order)
        self._build(nodes)
        if any(v.type != "VarHandleOp" for v in self.writes) and any(n.type in (IF, LOOP) for n in nodes):
            # Only now it is known which results of branches, and variables of loops, may be a buffer.
            self._shown = {e: found for e in self._parent if (found := self.class_of(e).variables)}
            self._parent, self._classes, self._contents, self._known = {}, {}, {}, set()
            self._build(nodes)

    def _build(self, nodes: list[Node]) -> None:
        for node in nodes:
            self._add(node)
        for node in nodes:
            if node.type == LOOP:
                self._join_loop(node)
            elif node.type == IF:
                for block in node.blocks:
                    for output, edge in enumerate(block.end.inputs):
                        self._union((node, output), edge)

    # --- classes --------------------------------------------------------------------------------

    def class_of(self, edge: Edge) -> Class:
        if edge[0] not in self._known:
            self._add(edge[0])
        return self._classes[self._find(edge)]

    def _find(self, edge: Edge) -> Edge:
        parent = self._parent
        root = edge
        while parent[root] != root:
            root = parent[root]
        while parent[edge] != root:
            parent[edge], edge = root, parent[edge]
        return root

    def _union(self, one: Edge, other: Edge) -> None:
        one, other = self._find(one), self._find(other)
        if one != other:
            self._parent[other] = one
            self._classes[one].join(self._classes.pop(other))

    def _add(self, node: Node) -> None:
        self._known.add(node)
        for output in range(len(node.output_dtypes)):
            edge = (node, output)
            self._parent[edge], self._classes[edge] = edge, Class()
        if not node.output_dtypes and not node.facts.keeps:
            return
        memory = node.facts.result.memory
        if node.type in (FEED, VALUE, "Const") or (
            not node.inputs and node.type != VARIABLE and memory is not Memory.FRESH
        ):
            for output in range(len(node.output_dtypes)):
                self._classes[node, output].is_shared = True
        elif node.output_dtypes and node.type not in (LOOP, IF, VARIABLE) and memory is not Memory.FRESH:
            self._add_result(node, memory)
        for edge in argument_edges(node, node.facts.keeps) if node.facts.keeps else ():
            if edge[0] not in self._known:
                self._add(edge[0])
            self.class_of(edge).is_shared = True
            if stored(node):
                self._union(self._contents.setdefault(container_of(node), edge), edge)

    def _add_result(self, node: Node, memory: Memory) -> None:
        """Join what a kernel that may hand out its inputs' memory gives with these inputs."""
        result = node.facts.result
        edges = argument_edges(node, result.of) if result.of else node.inputs
        first = (node, 0)
        for output in range(1, len(node.output_dtypes)):
            self._union(first, (node, output))
        mine = self._classes[self._find(first)]
        for edge in edges:
            source, output = edge
            if is_ref(source, output) or source.output_dtypes[output] is dtypes.resource:
                shown = self.variables_behind(edge)
                mine.variables |= shown
                if shown and not is_ref(node, 0) and (memory is not Memory.SAME or not is_ref(source, output)):
                    mine.reads.append(node)
                continue
            if source not in self._known:
                self._add(source)
            shown = self.class_of(edge).variables | self._shown.get(edge, frozenset())
            if (
                memory is not Memory.SAME
                and any(v.type != "VarHandleOp" for v in shown)
                and not _shares_in_tensorflow(node)
            ):
                # TensorFlow copies here, or may (a function's body): a class of its own, copied if a write comes
                # between (`snapshots`).
                mine.variables |= shown
                mine.reads.append(node)
            else:
                self._union(first, edge)
                mine = self._classes[self._find(first)]
        mine.has_views |= memory is not Memory.SAME
        if memory is Memory.UNKNOWN:
            mine.is_shared = True
            if is_load(node):
                self._union(self._contents.setdefault(container_of(node), first), first)

    def _join_loop(self, loop: Node) -> None:
        condition, body = (block.end.inputs for block in loop.blocks)
        for output, edge in enumerate(condition[1:]):
            self._union((loop, output), edge)
        for variable, start, following in zip(loop_variables(loop), loop.inputs, body, strict=True):
            self._union((variable, 0), start)
            self._union((variable, 0), following)
            self.class_of((variable, 0)).loops.append(loop)

    # --- variables ------------------------------------------------------------------------------

    def variables_behind(self, edge: Edge) -> frozenset[Node]:
        """The nodes that made the variables which a ref or handle may stand for."""
        if edge in self._made:
            return self._made[edge]
        found: set[Node] = set()
        seen: set[Edge] = set()
        left = [edge]
        while left:
            at = left.pop()
            if at in seen:
                continue
            seen.add(at)
            node, output = at
            if node.type == IF:
                left += [block.end.inputs[output] for block in node.blocks]
            elif node.type == LOOP:
                left.append(node.blocks[0].end.inputs[output + 1])
            elif node.type == VARIABLE:
                loop = node.block.owner
                position = loop_variables(loop).index(node)
                left += [loop.inputs[position], loop.blocks[1].end.inputs[position]]
            elif node.inputs and (is_ref(node, output) or node.output_dtypes[output] is dtypes.resource):
                left.append(node.inputs[0])
            else:
                found.add(node)
        self._made[edge] = frozenset(found)
        return self._made[edge]

    def _written(self, node: Node) -> set[Node]:
        found: set[Node] = set()
        if node.facts.writes != () and written_by(node):
            for source, output in node.inputs:
                if is_ref(source, output) or source.output_dtypes[output] is dtypes.resource:
                    found |= self.variables_behind((source, output))
        return found

    def is_buffer(self, edge: Edge) -> bool:
        """Whether a value may be the very buffer of a ref variable that this program changes: it then shows whatever is
        written.
        """
        return any(v in self.writes and v.type != "VarHandleOp" for v in self.class_of(edge).variables)

    def changes_between(self, edges: list[Edge], one: Node, later: Node) -> bool:
        """Whether one of some values may show a ref variable that is written after `one` runs and before `later` does."""
        for edge in edges:
            for variable in self.class_of(edge).variables:
                if variable.type != "VarHandleOp" and self.is_written(variable, one, later):
                    return True
        return False

    def is_written(self, variable: Node, one: Node, later: Node) -> bool:
        """Whether a variable is written between two nodes; in a loop that holds only one of them, any write counts."""
        places = self.writes.get(variable, ())
        if not places:
            return False
        first, last = one.order, later.order
        for loop in loops_around(later):
            if loop not in loops_around(one):
                last = max(last, self._end(loop))
        return bisect_right(places, first) < bisect_right(places, last - 1)

    def is_accessed(self, variable: Node, after: int, until: int) -> bool:
        """Whether a node at a place after one and up to another looks at a variable's value, or changes it."""
        if self._accesses is None:
            self._accesses = self._find_accesses()
        places = self._accesses.get(variable, ())
        return bisect_right(places, after) < bisect_right(places, until)

    def _find_accesses(self) -> dict[Node, list[int]]:
        found: dict[Node, set[int]] = {}
        for node in self._program.nodes():
            for edge in node.inputs:
                source, output = edge
                shown = (
                    self.variables_behind(edge)
                    if is_ref(source, output) or source.output_dtypes[output] is dtypes.resource
                    else ()
                )
                for variable in {*shown, *self.class_of(edge).variables}:
                    found.setdefault(variable, set()).add(node.order)
        return {variable: sorted(places) for variable, places in found.items()}

    def _end(self, loop: Node) -> int:
        """The place of the last node that a loop holds."""
        if loop not in self._end_of:
            last = loop.order
            left = [loop]
            while left:
                for block in left.pop().blocks:
                    if block.last is not None:
                        last = max(last, block.last.order)
                        left.append(block.last)
            self._end_of[loop] = last
        return self._end_of[loop]

    # --- lifetimes ------------------------------------------------------------------------------

    def find_last_uses(self) -> None:
        """Note for every class the place of its last use; one in a loop that does not hold the value lasts as long as
        the loop.
        """
        for node in self._program.nodes():
            for output in range(len(node.output_dtypes)):
                found = self.class_of((node, output))
                around = None
                for user in node.uses[output]:
                    place: float = _FOREVER if user is self._program.top.end else _place(user)
                    if user.block is not node.block and place is not _FOREVER:
                        around = loops_around(node) if around is None else around
                        for loop in loops_around(user):
                            if loop not in around:
                                place = max(place, self._end(loop))
                    found.last_use = max(found.last_use, place)
        for found in self._classes.values():
            for loop in found.loops:
                found.last_use = max(found.last_use, self._end(loop))

    def snapshots(self) -> set[Node]:
        """The reads of variables that must be copied, since a write comes before the last use of what they gave."""
        copied: set[Node] = set()
        if not self.writes:
            return copied
        for found in self._classes.values():
            for read in found.reads:
                last = _FOREVER if found.is_shared else found.last_use
                first = min([read.order, *(loop.order for loop in found.loops if loop in loops_around(read))])
                for variable in found.variables:
                    places = self.writes.get(variable, ())
                    # A writer may take the very buffer it writes, element by element, but no view that lies in it
                    # otherwise.
                    until = bisect_right(places, last) if found.has_views else bisect_left(places, last)
                    if bisect_right(places, first) < until:
                        copied.add(read)
        return copied

    def fetches_to_copy(self) -> list[bool]:
        """For each fetch, whether its value must be copied before the caller may own it."""
        seen: set[int] = set()
        result = []
        for position in self._program.fetches:
            if position is None:
                result.append(False)
                continue
            edge = self._program.top.end.inputs[position]
            found = self.class_of(edge)
            result.append(found.is_shared or bool(found.variables) or is_ref(*edge) or id(found) in seen)
            seen.add(id(found))
        return result

    def is_dead_after(self, edge: Edge, node: Node) -> bool:
        """Whether nobody needs the memory of a value once a node of the same block has run, so that the node may write
        there.
        """
        found = self.class_of(edge)
        return (
            not found.is_shared
            and not found.variables
            and not found.loops
            and edge[0].block is node.block
            and found.last_use <= node.order
            and edge[0].facts.result.memory is Memory.FRESH
        )


def loops_around(node: Node) -> list[Node]:
    """The loops that a node is in, innermost first."""
    found = []
    owner = node.block.owner if node.block is not None else None
    while owner is not None:
        if owner.type == LOOP:
            found.append(owner)
        owner = owner.block.owner if owner.block is not None else None
    return found


def _place(user: Node) -> int:
    """Where a use is: what a block hands on is used at its end."""
    if user.order:
        return user.order
    block = user.block
    return block.last.order if block.last is not None else block.owner.order


def _shares_in_tensorflow(node: Node) -> bool:
    """Whether TensorFlow gives a variable's own memory where other ops that give views here make copies there: whole
    rows from the front.
    """
    if node.type != "StridedSlice":
        return False
    strides = node.constant_input(3)
    return (
        strides is not None
        and strides.tolist() == [1]
        and not node.attrs["shrink_axis_mask"]
        and not node.attrs["new_axis_mask"]
    )
