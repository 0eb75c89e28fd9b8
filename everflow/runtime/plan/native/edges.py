"""What a loop's machine code has to know of the values and nodes of a program."""

from __future__ import annotations

import math
from collections.abc import Iterator

from everflow.framework import dtypes
from everflow.runtime.plan.native.regions import NUMBERS
from everflow.runtime.plan.native.steps import NotNative
from everflow.runtime.plan.program import Edge, Node, is_ref


def within(owner: Node) -> Iterator[Node]:
    """All nodes that a node holds."""
    left = list(owner.blocks)
    while left:
        for node in left.pop():
            yield node
            left += node.blocks


def origin(edge: Edge) -> Edge:
    """The edge that holds a value, through nodes that only rename it."""
    while edge[0].facts.renames and not is_ref(*edge[0].inputs[0]):
        edge = edge[0].inputs[0]
    return edge


def taken(node: Node) -> list[Edge]:
    """All that a node takes, and what it holds."""
    edges = list(node.inputs)
    for block in node.blocks:
        edges += [e for inner in block for e in taken(inner)]
        edges += block.end.inputs
    return edges


def handles_of(node: Node) -> set[Edge]:
    """The arrays and stacks that a node, and what it holds, use."""
    found = {origin(e) for e in node.inputs[:1] if e[0].output_dtypes[e[1]] is dtypes.resource}
    for block in node.blocks:
        found.update(handle for inner in block for handle in handles_of(inner))
    return found


def shape_of(edge: Edge) -> tuple[int, ...]:
    shape = edge[0].shape(edge[1])
    if shape is None:
        raise NotNative(edge[0].name)
    return tuple(shape)


def is_number(edge: Edge) -> bool:
    node, output = edge
    shape = node.shape(output)
    dtype = node.output_dtypes[output]
    return dtype in NUMBERS and not is_ref(node, output) and shape is not None and math.prod(shape) > 0
