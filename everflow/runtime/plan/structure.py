"""From a pruned graph to a program: the order is fixed, loops and branches become nodes with blocks, and the ops that
held them go.

Control dependencies end here. A node that was waited for, and is not pure, is marked as wanted; where it runs, its
place in the blocks says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from everflow.framework import dtypes
from everflow.kernels import registry
from everflow.kernels.facts import Effect
from everflow.runtime.plan.control_flow import CONTROL_FLOW, DEAD, AtOnce, ControlFlow, Frame, is_loop_switch
from everflow.runtime.plan.program import AT_ONCE, FEED, IF, LOOP, START, VARIABLE, Block, Edge, Node, Program
from everflow.runtime.plan.prune import MERGE, NEXT, Pruned

if TYPE_CHECKING:
    from everflow.runtime.hints import Item
    from everflow.runtime.plan.control_flow import Literal


def structure(pruned: Pruned, flow: ControlFlow, *, whole: bool = False) -> Program:
    """The program of a graph whose order is known; of a `whole` one also nodes that are only waited for run, whatever
    they are.
    """
    return _Builder(pruned, flow, whole).program


class _Builder:
    def __init__(self, pruned: Pruned, flow: ControlFlow, whole: bool) -> None:
        self.flow = flow
        self.whole = whole
        last = max((node.index for node in pruned.nodes), default=0)
        self.program = Program(pruned.feeds, last)
        self.program.size_before = sum(1 for n in pruned.nodes if n.type not in (FEED, START))
        self.program.devices = pruned.by_device()
        self.order = 0
        self.known: dict[Edge, Edge] = {}  # what stands for an edge of the graph
        self._mark_wanted(pruned)
        self._place_constants(pruned.nodes)
        self._block(flow.items, self.program.top, ())
        self._fetch(pruned)
        self._connect()
        if not whole:
            self.program.sweep()

    def _mark_wanted(self, pruned: Pruned) -> None:
        waited = {c for node in pruned.nodes for c in node.controls}
        for node in waited:
            does_nothing = node.effect is Effect.PURE and not self.whole
            node.wanted = (
                not does_nothing and not _is_constant(node) and node.type not in CONTROL_FLOW and node.type != FEED
            )
        for fetch in pruned.fetches:
            if isinstance(fetch, Node):
                fetch.wanted = True

    def _place_constants(self, nodes: list[Node]) -> None:
        """Constants, variables and feeds are there from the beginning, wherever they stood."""
        self.constants = {node for node in nodes if node.type == FEED or _is_constant(node)}
        for node in nodes:
            if node in self.constants:
                self.program.top.append(node)

    # --- blocks -------------------------------------------------------------------------------

    def _block(self, items: list[Item], block: Block, base: tuple[Literal, ...]) -> None:
        """Append items to a block that runs where the literals `base` hold, in branches of its own where they need
        more.
        """
        opened: list[tuple[tuple, Node]] = []  # the branches we are in: (literal, its node)
        for item in items:
            guard = self.flow.guard(item)
            if guard is DEAD or item in self.constants:
                continue
            if isinstance(item, Node) and item.type in CONTROL_FLOW:
                if item.type in MERGE and not any(source.type in NEXT for source, _ in item.inputs):
                    self._merge(item, block, base, opened)
                continue
            inner = [literal for literal in guard if literal not in base]
            target = self._open(inner, block, opened)
            self.order += 1
            if isinstance(item, Frame):
                self._loop(item, target)
            elif isinstance(item, AtOnce):
                self._at_once(item, target)
            else:
                item.order = self.order
                target.append(item)

    def _open(self, literals: list[Literal], block: Block, opened: list[Any]) -> Block:
        """The block inside the branches of some literals: those we are in already stay open, also where we go to their
        other side.
        """
        common = 0
        while common < min(len(opened), len(literals)) and opened[common][0] == literals[common]:
            common += 1
        if common < len(literals) and common < len(opened) and opened[common][0][0] == literals[common][0]:
            branch = opened[common][1]
            del opened[common:]
            opened.append((literals[common], branch))
            common += 1
        else:
            del opened[common:]
        for literal in literals[common:]:
            where = opened[-1][1].blocks[opened[-1][0][1]] if opened else block
            opened.append((literal, self._branch(literal[0], where)))
        return opened[-1][1].blocks[opened[-1][0][1]] if opened else block

    def _branch(self, predicate: Edge, block: Block) -> Node:
        """A new branch on a predicate, with nothing in it yet."""
        self.order += 1
        op = predicate[0].op
        branch = Node(self.program.new_index(), op, op.name, IF)
        branch.inputs, branch.device, branch.order = [predicate], predicate[0].device, self.order
        branch.blocks = (Block(branch), Block(branch))
        block.append(branch)
        return branch

    def _merge(self, merge: Node, block: Block, base: tuple[Literal, ...], opened: list[Any]) -> None:
        """A Merge is a result of the branch whose two sides it joins; of one whose other side can never run it is the
        input that can.
        """
        inputs = [(i, e, self.flow.edge_guard(e)) for i, e in enumerate(merge.inputs)]
        sides = [(i, e, guard) for i, e, guard in inputs if guard is not None]
        if len(sides) == 1:
            self.known[merge, 0] = sides[0][1]
            self.known[merge, 1] = (self._number(merge, sides[0][0]), 0)
            return
        common = set(sides[0][2]) & set(sides[1][2])
        ((predicate, first_side),) = (lit for lit in sides[0][2] if lit not in common)
        literals = [lit for lit in self.flow.guard_of[merge] or () if lit not in base]
        where = self._open(literals, block, opened)  # who takes the result comes in a branch of its own
        branch = where.last
        if branch is None or branch.type != IF or branch.inputs != [predicate]:
            branch = self._branch(predicate, where)
        by_side = {first_side: sides[0], not first_side: sides[1]}
        for output, dtype in enumerate(merge.output_dtypes):
            self.known[merge, output] = (branch, len(branch.output_dtypes))
            branch.output_dtypes.append(dtype)
            branch.output_shapes.append(merge.output_shapes[output])
            for side, (index, edge, _) in by_side.items():
                branch.blocks[side].end.inputs.append(edge if output == 0 else (self._number(merge, index), 0))
        branch.op, branch.name = merge.op, merge.name

    def _number(self, merge: Node, index: int) -> Node:
        """A constant for which input a Merge took."""
        number = self.program.constant(torch.tensor(index, dtype=torch.int32), dtypes.int32, merge, 1)
        self.constants.add(number)
        return number

    def _loop(self, frame: Frame, block: Block) -> None:
        first = frame.nodes[0]
        loop = Node(self.program.new_index(), first.op, first.name, LOOP)
        loop.device, loop.order = first.device, self.order
        condition, body = loop.blocks = (Block(loop), Block(loop))
        guard = frame.guard or ()  # a loop that can never run is none
        block.append(loop)
        for merge in frame.variables:
            variable = Node(merge.index, merge.op, merge.name, VARIABLE)
            variable.output_dtypes, variable.output_shapes = [merge.output_dtypes[0]], [merge.output_shapes[0]]
            variable.device = merge.device
            self.order += 1
            variable.order = self.order
            condition.append(variable)
            self.known[merge, 0] = (variable, 0)
            loop.inputs.append(frame.entry(merge))
        self._block([i for i in frame.items if i not in frame.body and i not in frame.after], condition, guard)
        condition.end.inputs.append(frame.predicate)
        for node in frame.nodes:
            for edge in node.inputs:
                switch, output = edge
                if (
                    output == 0
                    and is_loop_switch(switch)
                    and self.flow.frame_of[switch] == frame.path
                    and edge not in self.known
                ):
                    self.known[edge] = (loop, len(loop.output_dtypes))
                    loop.output_dtypes.append(switch.output_dtypes[0])
                    loop.output_shapes.append(switch.output_shapes[0])
                    condition.end.inputs.append(switch.inputs[0])
        self._block([i for i in frame.items if i in frame.body], body, guard)
        body.end.inputs += [frame.following(merge) for merge in frame.variables]
        self._block([i for i in frame.items if i in frame.after], block, guard)

    def _at_once(self, group: AtOnce, block: Block) -> None:
        first = group.nodes[0]
        node = Node(self.program.new_index(), first.op, first.name, AT_ONCE)
        node.device, node.order, node.wanted = first.device, self.order, True
        node.blocks = (Block(node),)
        block.append(node)
        for inner in group.nodes:
            inner.order = self.order
            node.blocks[0].append(inner)

    # --- edges --------------------------------------------------------------------------------

    def _fetch(self, pruned: Pruned) -> None:
        """Let the end of the program take what is fetched, and the predicates of the branches that it is in."""
        program, end = self.program, self.program.top.end
        for fetch in pruned.fetches:
            if isinstance(fetch, Node):
                program.fetches.append(None)
                program.conditions.append([])
                program.fetched_nodes.append(fetch)
                if fetch.type in CONTROL_FLOW and self.flow.edge_guard((fetch, 0)) is not DEAD:
                    end.inputs.append((fetch, 0))  # the op goes, so its value is what has to be computed
                continue
            guard = self.flow.edge_guard(fetch)
            program.fetched_nodes.append(fetch[0])
            if guard is DEAD:
                program.fetches.append(None)
                program.conditions.append(None)
                continue
            program.fetches.append(len(end.inputs))
            end.inputs.append(fetch)
            program.conditions.append([(len(end.inputs) + i, side) for i, (_, side) in enumerate(guard)])
            end.inputs += [predicate for predicate, _ in guard]

    def _connect(self) -> None:
        """Let every node take what stands for the edges it took in the graph, and note who takes what."""
        every = [*self.program.nodes(), *(block.end for block in self.program.blocks())]
        for node in every:
            node.uses = [{} for _ in node.output_dtypes]
            node.controls = []
        for node in every:
            node.inputs = [self._resolved(edge) for edge in node.inputs]
            for source, output in node.inputs:
                users = source.uses[output]
                users[node] = users.get(node, 0) + 1

    def _resolved(self, edge: Edge) -> Edge:
        """What stands for an edge of the graph, through the ops that only held its structure."""
        passed = []
        found = edge
        while True:
            other = self.known.get(found)
            if other is None and found[0].type in CONTROL_FLOW:
                other = found[0].inputs[0]  # Switch, Enter, NextIteration, LoopCond hand on their first input
            if other is None or other == found:
                break
            passed.append(found)
            found = other
        for each in passed:
            self.known[each] = found
        return found


def _is_constant(node: Node) -> bool:
    """Whether a node's value is there before a run: constants, and what is computed when the plan is made (variables,
    handles).
    """
    if node.type == "Const":
        return True
    entry = registry.lookup(node.type)
    return entry is not None and entry.once and not node.inputs
