"""Collective ops taken apart: a node that begins the exchange, and one that waits for its result.

`schedule` puts the first right behind its input and the second as late as can be: tensors travel while the rest is
computed, and several members of a group in one plan have all begun before any of them waits.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.shapes import TensorShape
from everflow.runtime.plan.program import START, Node, internal
from everflow.runtime.plan.prune import Pruned

COLLECTIVES = frozenset(["CollectiveReduce", "CollectiveGather", "CollectiveBcastSend", "CollectiveBcastRecv"])
LEVEL = "level"
_START = internal(START, "*values", "member", "N op_type", acts=True)
_WAIT = internal("_CollectiveWait", "member", "data", LEVEL, acts=True)


def take_apart(pruned: Pruned) -> None:
    """Put a node before every collective op that begins what the op then waits for."""
    if not any(node.type in COLLECTIVES for node in pruned.nodes):
        return
    made: list[Node] = []
    level: dict[Node, int] = {}  # how many exchanges, one after the other, lie behind a node
    index = max(node.index for node in pruned.nodes)
    for node in pruned.nodes:
        sources = [*(source for source, _ in node.inputs), *node.controls]
        level[node] = max((level.get(source, 0) for source in sources), default=0)
        if node.type in COLLECTIVES:
            index += 1
            level[node] += 1
            made.append(_start(node, index))
            node.type, node.definition = _WAIT.name, _WAIT
            node.inputs, node.controls = [(made[-1], 0)], []
            node.set_attributes({LEVEL: level[node]})
        made.append(node)
    pruned.nodes = made


def turn(node: Node) -> int:
    """Where a node stands among others that could run: -1 for what begins an exchange, 0 for most, and what waits by its
    level, for the exchanges of a level may need what those of the level before give to all members here.
    """
    if node.type == START:
        return -1
    return node.attrs[LEVEL] if node.type == _WAIT.name else 0


def _start(node: Node, index: int) -> Node:
    start = Node(index, node.op, node.name, START)
    start.definition, start.device = _START, node.device
    start.inputs, start.controls = node.inputs, node.controls
    start.output_dtypes, start.output_shapes = [dtypes.variant], [TensorShape([])]
    start.set_attributes({**node.attrs, "N": len(node.inputs), "op_type": node.type})
    return start
