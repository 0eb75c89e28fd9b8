"""Loop-invariant code motion: what is the same in every round of a loop is computed once, before the first."""

from __future__ import annotations

from everflow.kernels.facts import Effect
from everflow.runtime.plan.aliasing import loops_around
from everflow.runtime.plan.patterns import Context
from everflow.runtime.plan.program import FEED, LOOP, VARIABLE, Node

# Larger values would take memory for as long as the loop goes on.
_LARGEST = 1 << 22


def loop_invariants(context: Context) -> int:
    """Move pure nodes that can't fail, and take nothing that a loop makes, out of it: a loop that never goes round must
    not raise what
    its body would have."""
    count = 0
    loops = [node for node in context.program.nodes() if node.type == LOOP]
    for loop in reversed(loops):  # inner ones first, so that what leaves one may leave the next
        for block in loop.blocks:
            for node in block:
                if _may_move(node, loop, context):
                    block.remove(node)
                    loop.block.insert(node, loop)
                    count += 1
    return count


def _may_move(node: Node, loop: Node, context: Context) -> bool:
    if node.blocks or node.type in (VARIABLE, FEED) or not node.inputs or node.effect is not Effect.PURE:
        return False
    if node.facts.fails:
        return False
    shapes = [*node.output_shapes, *(source.output_shapes[output] for source, output in node.inputs)]
    counts = [None if shape is None else shape.num_elements() for shape in shapes]
    if any(count is None or count > _LARGEST for count in counts):
        return False
    if any(loop in loops_around(source) for source, _ in node.inputs):
        return False
    return not any(context.aliases.is_buffer(edge) for edge in node.inputs)
