"""When values are let go: after the last item that takes them, in the innermost block that sees all who do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from everflow.runtime.plan.program import END, IF, LOOP, VARIABLE, Block, Edge, Node, Program

if TYPE_CHECKING:
    from everflow.runtime.hints import Origin


@dataclass(slots=True)
class Releases:
    """Values that nobody needs after a node, or after a block has handed on what it gives (keyed by its end)."""

    sure: dict[Node, list[Edge]] = field(default_factory=dict)
    # Made in a branch or a loop's body, which may not have run.
    maybe: dict[Node, list[Edge]] = field(default_factory=dict)


def find_releases(program: Program, origin: Origin, is_local: Callable[[Edge], bool]) -> Releases:
    """`origin(edge)` is the edge that holds an edge's value, `is_local(edge)` whether a plan's function has a name for
    it.
    """
    depths: dict[Block, int] = {program.top: 0}
    users: dict[Edge, list[Node]] = {}
    for node in program.nodes():
        for block in node.blocks:
            depths[block] = depths[node.block] + 1
            # What a loop's condition hands on is not taken there: the loop's results are other names for it.
            taken = block.end.inputs[:1] if node.type == LOOP and block is node.blocks[0] else block.end.inputs
            _note(taken, block.end, users, origin)
        _note(node.inputs, node, users, origin)
        if node.type == VARIABLE:
            users.setdefault((node, 0), [])
    kept = {origin(edge) for edge in program.top.end.inputs}
    found = Releases()
    for edge, taken_by in users.items():
        if edge not in kept and is_local(edge):
            where, is_sure = _last_place(edge, taken_by, depths)
            (found.sure if is_sure else found.maybe).setdefault(where, []).append(edge)
    return found


def _note(edges: Iterable[Edge], user: Node, users: dict[Edge, list[Node]], origin: Origin) -> None:
    for edge in edges:
        users.setdefault(origin(edge), []).append(user)


def _last_place(edge: Edge, users: list[Node], depths: dict[Block, int]) -> tuple[Node, bool]:
    """After which item a value can go, and whether it is sure to be there then."""
    made = edge[0]
    home, last, is_sure = made.block, made, True
    if made.type == VARIABLE:  # assigned before the loop, and gone round until it ends
        home, last = made.block.owner.block, made.block.owner
    for user in users:
        item, block = user, user.block
        while depths[block] > depths[home]:
            item, block = block.owner, block.owner.block
        while block is not home:
            is_sure = is_sure and not _may_be_skipped(home)
            last = home.owner
            home = last.block
            if depths[block] > depths[home]:
                item, block = block.owner, block.owner.block
        if last.type != END and (item.type == END or item.order > last.order):
            last = item
    return last, is_sure


def _may_be_skipped(block: Block) -> bool:
    owner = block.owner
    return owner.type == IF or (owner.type == LOOP and block is owner.blocks[1])
