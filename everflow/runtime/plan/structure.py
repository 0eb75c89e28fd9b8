"""Between scheduling and emitting: loops and branches, recovered from dataflow control flow.

A node in a branch carries a guard, the predicates that must hold for it to run; nodes of a while loop become one `Loop` item.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from everflow.runtime.plan.program import Node

SWITCH = frozenset(["Switch", "RefSwitch"])
MERGE = frozenset(["Merge", "RefMerge"])
ENTER = frozenset(["Enter", "RefEnter"])
EXIT = frozenset(["Exit", "RefExit"])
NEXT = frozenset(["NextIteration", "RefNextIteration"])
CONTROL_FLOW = SWITCH | MERGE | ENTER | EXIT | NEXT | {"LoopCond"}


@dataclass(slots=True)
class Loop:
    """A while loop: `variables` go round, `condition` then `predicate` decide, `body` computes the next values."""

    frame: str
    guard: tuple = ()
    enters: list[Node] = field(default_factory=list)
    variables: list[Node] = field(default_factory=list)  # Merge nodes: inputs are (Enter, NextIteration)
    condition: list = field(default_factory=list)
    predicate: tuple | None = None
    body: list = field(default_factory=list)
    exits: list[Node] = field(default_factory=list)


def structure(order: list[Node]) -> list:
    """The items to emit for nodes in this order."""
    return order
