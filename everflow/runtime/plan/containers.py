"""Stacks and TensorArrays: which node puts something there, which takes it, and so where a value came from that no edge
leads to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from everflow.runtime.plan.program import LOOP, VARIABLE, Node, loop_variables


@dataclass(frozen=True, slots=True)
class Put:
    """Which input goes in, and whether each of its rows does."""

    position: int
    rows: bool = False


PUTS = {
    "StackPushV2": Put(1),
    "StackPush": Put(1),
    "TensorArrayWriteV3": Put(2),
    "TensorArrayScatterV3": Put(2, rows=True),
    "TensorArraySplitV3": Put(1, rows=True),
}
# Those that give one of the things put in.
LOADS = frozenset(["StackPopV2", "StackPop", "TensorArrayReadV3"])
# Those that give many of them as the rows of one tensor, and those that tell how many there are.
GATHERS = frozenset(["TensorArrayGatherV3"])
SIZES = frozenset(["TensorArraySizeV3"])


def stored(node: Node) -> bool:
    return node.type in PUTS


def is_load(node: Node) -> bool:
    return node.type in LOADS


def container_of(node: Node) -> tuple[Any, ...]:
    """What a node puts into or takes from, by the node that made it; gradients of an array are one array for each
    source.
    """
    source, output = node.inputs[0]
    gradients: tuple = ()
    while True:
        if source.type == "TensorArrayGradV3":
            gradients += (source.attribute("source"),)
        elif source.type == VARIABLE:
            loop = source.block.owner
            source, output = loop.inputs[loop_variables(loop).index(source)]
            continue
        elif source.type == LOOP:
            source, output = source.blocks[0].end.inputs[output + 1]
            continue
        elif not source.inputs or source.type.startswith(("TensorArrayV", "Stack")):
            return (source, *gradients)
        source, output = source.inputs[0]
