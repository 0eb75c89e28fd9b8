"""A rewrite of control inputs: who need not wait does not. In loops and branches they also tell where a node belongs."""

from __future__ import annotations

from everflow.runtime.plan.aliasing import FRESH, VIEWS
from everflow.runtime.plan.binding import CONSTANTS, NOTHING, is_pure
from everflow.runtime.plan.program import Node, Program
from everflow.runtime.plan.stores import only_reads
from everflow.runtime.plan.structure import CONTROL_FLOW, ENTER, MERGE, NEXT, SWITCH, structure


def needless_waiting(program: Program, session) -> int:
    """Waiting for a node without side effects is waiting for what that node waits for; nobody need compute it."""
    passed = [n for n in program.nodes if n.type in NOTHING or n.type in CONSTANTS or (n.type in FRESH | VIEWS and is_pure(n))]
    if not any(n.type in CONTROL_FLOW for n in program.nodes):
        return _pass(program, passed)
    # Control inputs also tell in which loop and on which side of a branch a node is: something there must be left to wait for.
    found = structure(program)
    passed += only_reads(program)
    passed = [n for n in passed if n.type not in CONTROL_FLOW and n.type != "ControlTrigger" and _is_placed(n, n.controls, found)]
    return _pass(program, passed) + _drop_places(program, found)


def _pass(program: Program, passed: list[Node]) -> int:
    among = set(passed)
    count = sum(c in among for node in program.nodes for c in node.controls)
    if count:
        program.replace({}, dict.fromkeys(passed))
    return count


def _is_placed(node: Node, controls: list[Node], found) -> bool:
    """Whether one of a node's sources is in the same loop, the same part of it, and on the same side of every branch."""

    def place(n):
        return n.frame, n.guard, bool(n.frame) and n in found.loops[n.frame].body

    sources = [n for n, _ in node.inputs] + controls
    return any(s.type not in CONTROL_FLOW and s.type not in CONSTANTS and place(s) == place(node) for s in sources)


def _drop_places(program: Program, found) -> int:
    """Nodes in a loop that their inputs place there need no other node to tell it."""
    telling = only_telling_places(program)
    count = 0
    for node in program.nodes:
        if node.frame and node.controls and not telling.isdisjoint(node.controls) and _is_placed(node, [], found):
            kept = [c for c in node.controls if c not in telling or c.frame != node.frame]
            count += len(node.controls) - len(kept)
            node.controls = kept
    return count


_HARMLESS = SWITCH | NOTHING | {"TensorArrayGradV3"}  # the last finds an array, or makes it, and those who use it take it as an input


def only_telling_places(program: Program) -> set[Node]:
    """Nodes of loops before which nothing happens that their loop would not wait for anyway: what enters it and goes round in it."""
    telling: set[Node] = set()
    for node in program.nodes:  # inputs come first
        sources = {n for n, _ in node.inputs}.union(node.controls)
        if node.type in ENTER or node.type == "LoopCond" or (node.type in MERGE and any(n.type in NEXT for n in sources)):
            telling.add(node)
        elif node.frame and (node.type in _HARMLESS or is_pure(node)) and all(n in telling or n.type in CONSTANTS for n in sources):
            telling.add(node)
    return telling
