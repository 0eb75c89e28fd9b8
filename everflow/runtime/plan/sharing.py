"""Common subexpressions: what is computed from the same inputs by the same op, in the same block or one around it, is
computed once.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.kernels.facts import Effect
from everflow.runtime.plan.binding import CONSTANTS, constant_value
from everflow.runtime.plan.patterns import Context
from everflow.runtime.plan.program import VALUE, Block, Node

if TYPE_CHECKING:
    from everflow.runtime.state import SessionState

_LARGEST_COMPARED = 256


def common_subexpressions(context: Context) -> int:
    """Let equal nodes be one: the first of them."""
    count = 0
    scopes: list[tuple[Block, dict]] = []  # what was computed in a block and in those around it
    for node in context.program.nodes():
        if node.block is None:
            continue
        while scopes and scopes[-1][0] is not node.block and not _is_inside(node.block, scopes[-1][0]):
            scopes.pop()
        if not scopes or scopes[-1][0] is not node.block:
            scopes.append((node.block, {}))
        key = _key(node, context)
        if key is None:
            continue
        other = next((found for _, scope in scopes if (found := scope.get(key)) is not None), None)
        if other is None or context.aliases.changes_between(node.inputs, other, node):
            scopes[-1][1][key] = node
        else:
            for output in range(len(node.output_dtypes)):
                context.program.replace((node, output), (other, output), drop=False)
            other.wanted = other.wanted or node.wanted
            node.wanted = False
            context.program.drop_if_unneeded(node)
            count += 1
    return count


def _is_inside(block: Block, other: Block) -> bool:
    around = block.parent
    while around is not None:
        if around is other:
            return True
        around = around.parent
    return False


def _key(node: Node, context: Context) -> Hashable:
    """What makes two nodes one; None where nothing does."""
    if node.type in CONSTANTS:
        return _constant_key(node, context.state)
    if not node.inputs or node.blocks or node.effect is not Effect.PURE:
        return None
    return node.type, tuple(node.inputs), node.device, _attributes_key(node)


def _constant_key(node: Node, state: SessionState) -> Hashable:
    """Type, shape and values of a small constant; None for others."""
    value = constant_value(node, state)
    if not isinstance(value, torch.Tensor) or value.numel() > _LARGEST_COMPARED or value.is_complex():
        return None
    # -0.0 equals 0.0, and no NaN equals itself: the text tells them apart.
    return VALUE, node.output_dtypes[0], tuple(value.shape), str(value.reshape(-1).tolist())


def _attributes_key(node: Node) -> tuple[tuple[str, Hashable], ...]:
    return tuple((name, _hashable(value)) for name, value in sorted(node.attrs.items()) if not name.startswith("_"))


def _hashable(value: Any) -> Hashable:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes() if value.dtype.kind != "O" else tuple(value.reshape(-1))
    if isinstance(value, (list, tuple)):
        return tuple(_hashable(v) for v in value)
    return str(value)
