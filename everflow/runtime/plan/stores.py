"""Stacks and TensorArrays: which node puts something there, which takes it, and so where a value came from that no edge leads to."""

from __future__ import annotations

from collections import Counter, defaultdict

from everflow.runtime.plan.aliasing import roots
from everflow.runtime.plan.binding import RENAMES
from everflow.runtime.plan.program import Node, Program, is_ref

_READS = frozenset(["StackPopV2", "TensorArrayReadV3"])
# What is put there, by position among the inputs; None where nothing is.
_WRITES = {
    "StackPushV2": 1,
    "StackCloseV2": None,
    "TensorArrayWriteV3": 2,
    "TensorArrayScatterV3": 2,
    "TensorArraySplitV3": 1,
    "TensorArrayCloseV3": None,
}


def store_of(node: Node) -> Node:
    """The stack or TensorArray that a node reads or writes, or whose gradients it does."""
    source = node.inputs[0][0]
    while source.type in RENAMES or source.type == "TensorArrayGradV3":
        source = source.inputs[0][0]
    return source


def only_reads(program: Program) -> list[Node]:
    """Reads of stacks and TensorArrays that nothing else in their loop reads or writes: who waits for one wants no more than its value."""
    others = Counter((store_of(n), n.frame) for n in program.nodes if n.type in _READS or n.type in _WRITES)
    return [n for n in program.nodes if n.type in _READS and n.frame and others[store_of(n), n.frame] == 1]


def views_of_variables(program: Program):
    """`(edge) → bool`: whether a value may lie in the memory of a ref variable, also by way of a stack or TensorArray."""
    shared = roots(program)
    written = defaultdict(list)
    for node in program.nodes:
        if _WRITES.get(node.type) is not None:
            written[store_of(node)].append(node.inputs[_WRITES[node.type]])

    def may_be_variable(edge) -> bool:
        seen, left = set(), [edge]
        while left:
            for root in shared[left.pop()] - seen:
                if is_ref(*root):
                    return True
                seen.add(root)
                if root[0].type in _READS:
                    left += written[store_of(root[0])]
        return False

    return may_be_variable
