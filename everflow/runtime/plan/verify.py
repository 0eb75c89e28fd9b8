"""The invariants of a program, checked: in tests and where every step is checked, after each rewrite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everflow.framework import errors
from everflow.runtime.plan.control_flow import CONTROL_FLOW
from everflow.runtime.plan.program import AT_ONCE, END, FEED, IF, LOOP, VARIABLE, Block, Node, Program, loop_variables

if TYPE_CHECKING:
    from everflow.runtime.plan.control_flow import Literal
    from everflow.runtime.plan.program import Edge


def verify(program: Program, after: str = "") -> None:
    """Raise InternalError where a program is not what the stages after this one rely on."""
    _Verifier(program, f" after {after!r}" if after else "").run()


class _Verifier:
    def __init__(self, program: Program, where: str) -> None:
        self.program = program
        self.where = where
        self.made: set[Node] = set()  # what is there unconditionally at this point
        self.guarded: dict[Node, frozenset] = {}  # what an earlier branch made → the literals under which it did
        self.uses: dict = {}

    def fail(self, node: Node, text: str) -> None:
        raise errors.InternalError(None, None, f"Planning{self.where} left {node!r} in a wrong form: {text}")

    def run(self) -> None:
        self.block(self.program.top, frozenset())
        for node in self.program.nodes():
            if len(node.uses) != len(node.output_dtypes):
                self.fail(node, f"it has {len(node.output_dtypes)} results and uses of {len(node.uses)}")
            for output, users in enumerate(node.uses):
                if users != self.uses.get((node, output), {}):
                    self.fail(node, f"its uses are {self.uses.get((node, output), {})}, not {users}")
        for feed in self.program.feeds:
            if feed.type != FEED:
                self.fail(feed, "it is no feed")

    def block(self, block: Block, literals: frozenset[Literal]) -> list[Node]:
        """Check a block that runs where some literals hold; the nodes that it made."""
        made: list[Node] = []
        last = None
        for node in block:
            if node.block is not block or node.previous is not last:
                self.fail(node, "it is not where its block says")
            last = node
            if node.controls:
                self.fail(node, "it waits for others although the order is fixed")
            if node.type in CONTROL_FLOW:
                self.fail(node, "it belongs to graphs, not to programs")
            self.take(node, literals)
            if node.blocks:
                self.inner(node, literals)
            self.made.add(node)
            made.append(node)
        if block.last is not last:
            self.fail(block.end, "its block ends elsewhere")
        if block is self.program.top:
            for position, condition in zip(self.program.fetches, self.program.conditions, strict=True):
                holds = frozenset((block.end.inputs[i], side) for i, side in condition or ())
                if position is not None:
                    self.take_edge(block.end, block.end.inputs[position], literals | holds)
            self.count(block.end)
        else:
            self.take(block.end, literals)
        return made

    def take(self, node: Node, literals: frozenset[Literal]) -> None:
        for edge in node.inputs:
            self.take_edge(node, edge, literals)
        self.count(node)

    def count(self, node: Node) -> None:
        for edge in node.inputs:
            users = self.uses.setdefault(edge, {})
            users[node] = users.get(node, 0) + 1

    def take_edge(self, node: Node, edge: Edge, literals: frozenset[Literal]) -> None:
        source, output = edge
        if not 0 <= output < len(source.output_dtypes):
            self.fail(node, f"{source!r} has no output {output}")
        if (
            source in self.guarded
            and node.type == END
            and node.block.owner is not None
            and node.block.owner.type == LOOP
        ):
            return  # a predicate that entered the loop may be known to hold by the branch around it, under another name
        if source not in self.made and not (source in self.guarded and self.guarded[source] <= literals):
            self.fail(node, f"it takes {source!r}, which is not there yet")

    def inner(self, node: Node, literals: frozenset[Literal]) -> None:
        if node.type == LOOP:
            condition, body = node.blocks
            variables = loop_variables(node)
            if not len(variables) == len(node.inputs) == len(body.end.inputs):
                self.fail(node, "its variables, first values and next values are not equally many")
            if len(condition.end.inputs) != 1 + len(node.output_dtypes):
                self.fail(node, "it has not one predicate and one value for each result")
            made = self.block(condition, literals) + self.block(body, literals)
            self.made.difference_update(made)
        elif node.type == IF:
            for side, block in enumerate(node.blocks):
                if len(block.end.inputs) != len(node.output_dtypes):
                    self.fail(node, "a side does not give what it results in")
                inside = literals | {(node.inputs[0], bool(side))}
                made = self.block(block, inside)
                self.made.difference_update(made)
                self.guarded.update(dict.fromkeys(made, inside))
        elif node.type == AT_ONCE:
            self.block(node.blocks[0], literals)
        else:
            self.fail(node, "only loops, branches and groups have blocks")
        if any(n.type == VARIABLE for n in node.blocks[-1]):
            self.fail(node, "a loop variable stands outside its loop's condition")
