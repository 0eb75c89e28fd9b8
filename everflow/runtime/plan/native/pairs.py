"""Which heavy nodes of a plan run side by side: two that know nothing of each other, such as the loops of a network that
reads a text from both ends, or a product's two gradients.

Libraries share one heavy kernel over threads, too, but less well the smaller it is, and loops are on one thread. Only
sizes decide, so that bits stay the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from everflow.framework import dtypes
from everflow.kernels.facts import Effect
from everflow.runtime.plan.containers import container_of
from everflow.runtime.plan.native.edges import taken, within
from everflow.runtime.plan.native.regions import is_in_native_loop
from everflow.runtime.plan.partition import torch_device
from everflow.runtime.plan.program import LOOP, Block, Node, Program

# Seconds: what is shorter is done before another thread is awake, which takes about so long.
HEAVY, _WAKING = 1e-4, 3e-5
# Seconds that a multiplication takes in a product, in a convolution, in a loop; that a convolution takes besides.
_IN_PRODUCT, _IN_CONVOLUTION, _IN_LOOP, _CONVOLUTION = 2e-11, 3e-11, 4e-11, 8e-5
# Of the time on one thread that a kernel takes when two share it, about: products, convolutions of less than so many
# seconds, and longer ones, whose gradients take too unequal times besides.
_SHARED_PRODUCT, _SHARED_SHORT, _SHORT, _SHARED_LONG = 0.6, 0.85, 5e-4, 0.5
# Seconds from which products, and convolutions, are shared.
_SHORTEST_SHARED = (4e-5, 2e-4)
# Rounds of a loop, nodes to look ahead.
_ROUNDS, _FURTHEST = 16, 400
# What begins and ends sums over rounds: edges lead from whoever adds something to all others.
_SUMS = ("_RunningSum", "_Total")
_PRODUCTS = ("MatMul", "_MatMulBias", "BatchMatMul", "BatchMatMulV2")
# Convolutions: the input or output that is multiplied with all filters, and the one that holds these; None: the result.
_CONVOLUTIONS: dict[str, tuple[int | None, int | None]] = {
    "Conv2D": (None, 1),
    "_Conv2DBias": (None, 1),
    "Conv3D": (None, 1),
    "Conv2DBackpropInput": (2, 1),
    "Conv3DBackpropInputV2": (2, 1),
    "Conv2DBackpropFilter": (2, None),
    "Conv3DBackpropFilterV2": (2, None),
}


def pair_up(program: Program) -> None:
    """Put heavy nodes that may run side by side one behind the other, and note it; note which are not worth sharing."""
    for block in list(program.blocks()):
        if not is_in_native_loop(block):
            _pair_up(program, block)
            program.short.update(
                node for node in block if 0 < seconds(node) < _SHORTEST_SHARED[node.type in _CONVOLUTIONS]
            )


def _pair_up(program: Program, block: Block) -> None:
    heavy = {node: cost for node in block if (cost := seconds(node)) >= HEAVY}
    paired: set[Node] = set()
    for first, cost in heavy.items():
        if first in paired:
            continue
        for second, before in _independent(first, heavy.keys() - paired):
            if max(cost, heavy[second]) + _WAKING < _alone(first, cost) + _alone(second, heavy[second]):
                for node in before:
                    block.remove(node)
                    block.insert(node, first)
                block.remove(second)
                if first.next is None:
                    block.append(second)
                else:
                    block.insert(second, first.next)
                program.beside[first] = second
                paired.update((first, second))
                break


def _alone(node: Node, cost: float) -> float:
    """How long a node takes when it has both threads."""
    if node.type == LOOP:
        return cost
    if node.type not in _CONVOLUTIONS:
        return cost * _SHARED_PRODUCT
    return cost * (_SHARED_SHORT if cost < _SHORT else _SHARED_LONG)


def seconds(node: Node) -> float:
    """How long a node takes one thread, about; 0 for what is no candidate."""
    if node.type == LOOP:
        return 0.0 if node.value is None or node.value.is_split else _ROUNDS * _IN_LOOP * node.value.work
    if torch_device(node.device) != "cpu" or node.effect is not Effect.PURE:
        return 0.0
    if node.type in _CONVOLUTIONS:
        image, filters = (_shape(node, i) for i in _CONVOLUTIONS[node.type])
        return _CONVOLUTION + _IN_CONVOLUTION * math.prod(image) * math.prod(filters[:-1])
    if node.type in _PRODUCTS:  # of [m, k], [k, n] and [m, n]
        return _IN_PRODUCT * math.sqrt(math.prod(math.prod(_shape(node, i)) for i in (0, 1, None)))
    return 0.0


def _shape(node: Node, position: int | None) -> list[int]:
    """The shape of an input, or of the result; [0] where it is not known."""
    source, output = (node, 0) if position is None else node.inputs[position]
    return source.shape(output) or [0]


def _independent(first: Node, heavy: set[Node]) -> Iterator[tuple[Node, list[Node]]]:
    """The heavy nodes behind one that need nothing of it, each with what has to come before the first, then; up to the
    next node that acts on more than arrays and stacks.
    """
    after = {first}  # what needs the first
    needs: dict[Node, set[Node]] = {}
    users: dict[Node, list[Node]] = {}  # of arrays and stacks
    for container in _containers(first):
        users.setdefault(container, []).append(first)
    node = first.next
    while node is not None and len(needs) < _FURTHEST and not _is_barrier(node):
        containers = _containers(node)
        sources = {source for source, _ in taken(node)}.union(*(users.get(c, ()) for c in containers))
        for container in containers:
            users.setdefault(container, []).append(node)
        if not sources.isdisjoint(after):
            after.add(node)
        else:
            direct = [source for source in sources if source in needs]
            needs[node] = set(direct).union(*(needs[source] for source in direct))
            if node in heavy:
                yield node, [n for n in needs if n in needs[node]]
        node = node.next


def _is_barrier(node: Node) -> bool:
    """Whether nothing may change places with a node."""
    if node.type == LOOP and node.value is not None:
        return False
    return any(
        n.effect in (Effect.ACTS, Effect.RANDOM) and n.type not in _SUMS and _container(n) is None
        for n in _with_inner(node)
    )


def _with_inner(node: Node) -> list[Node]:
    return [node, *within(node)] if node.blocks else [node]


def _containers(node: Node) -> set[Node]:
    """The arrays and stacks that a node, and what it holds, use or make."""
    return {found for n in _with_inner(node) if (found := _container(n)) is not None}


def _container(node: Node) -> Node | None:
    if not node.type.startswith(("TensorArray", "Stack")):
        return None
    if node.inputs and node.inputs[0][0].output_dtypes[node.inputs[0][1]] is dtypes.resource:
        return container_of(node)[0]
    return node if dtypes.resource in node.output_dtypes else None
