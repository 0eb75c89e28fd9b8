"""Which plans give other bits with another number of threads, and what follows for them.

Libraries cut products and sums where one thread's share ends, and an element-wise function's last values of a share are
computed one by one, which rounds a few of them otherwise. A plan that has such ops (`threads_matter_from` of their
kernels' facts), large enough for it, keeps to one number of threads from its first run on; all others may take what is
quickest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch

from everflow.framework import op_defs
from everflow.kernels import registry
from everflow.kernels.facts import SHARE
from everflow.kernels.state import Buffer

if TYPE_CHECKING:
    from everflow.runtime.hints import Value
    from everflow.runtime.plan.program import Node

# Multiplications of numbers in a plan's products: fewer take one thread less than a millisecond, and sharing them gains
# little.
HEAVY = 1 << 25
# Of one product: smaller ones take longer when they are shared, however many of them there are.
LARGE = 1 << 21
# A dimension that is open until something is fed.
_USUAL = 64


def may_choose_threads(nodes: Iterable[Node]) -> bool:
    """Whether a plan of these nodes gives the same bits with any number of threads."""
    return not any(_differs(node) for node in nodes)


def _differs(node: Node) -> bool:
    kernel = registry.lookup(node.type)
    # The graph's own functions may have anything in them; what only plans have, as feeds and loops, computes nothing.
    if kernel is None:
        return not node.type.startswith("_") and op_defs.find(node.type) is None
    smallest = kernel.facts.threads_matter_from
    if smallest is None and any(dtype.is_complex for dtype in (*node.input_dtypes, *node.output_dtypes)):
        smallest = SHARE  # already products of complex numbers round otherwise at the end of a share
    if not smallest:
        return smallest == 0
    shapes = [source.output_shapes[output] for source, output in node.inputs] + list(node.output_shapes)
    counts = [None if shape is None else shape.num_elements() for shape in shapes]
    return any(count is None or count >= smallest for count in counts)


def is_left_to_regions(nodes: Iterable[Node]) -> bool:
    """Whether nothing of a plan takes threads but regions that helpers may share: these lose nothing where none comes."""
    nodes = list(nodes)
    return any(getattr(node.value, "takes_helpers", False) for node in nodes) and not any(map(_calls, nodes))


def _calls(node: Node) -> bool:
    """Whether a run calls a kernel for a node."""
    kernel = registry.lookup(node.type)
    return kernel is not None and not kernel.once and node.type != "Const"


def steady_count(nodes: Iterable[Node], count: int) -> int:
    """The number of threads, up to `count`, that a plan keeps whose bits depend on it: by the size of its products,
    never by the clock.

    Shapes are those that the graph has, so that a plan made anew for the shapes that were fed keeps its number.
    """
    return count if sum(many for node in nodes if (many := multiplications(node)) >= LARGE) >= HEAVY else 1


def is_product(op_type: str) -> bool:
    """Whether an op multiplies matrices, or images with filters: libraries share these however small they are."""
    return "MatMul" in op_type or "Conv" in op_type


def is_large(value: Value) -> bool:
    """Whether a tensor has enough values to be shared among threads."""
    return isinstance(value, torch.Tensor) and value.numel() >= SHARE


def count_alone(operands: Iterable[Value], count: int) -> int:
    """The number of threads, up to `count`, for something with products in it that is run by itself on these."""
    return count if any(map(is_large, operands)) else 1


def count_for_small(operands: Iterable[Value], count: int) -> int:
    """The number of threads, up to `count`, for an op that is run by itself on these: one, where all are small tensors
    and variables, which threads would only wait for each other with.
    """
    for value in operands:
        if isinstance(value, Buffer):
            value = value.value
        if not isinstance(value, torch.Tensor) or value.numel() >= SHARE:
            return count
    return 1


def multiplications(node: Node) -> float:
    """The multiplications of a product, about; of other nodes none."""
    if "MatMul" in node.type and len(node.inputs) >= 2:
        (a, b), product = (_size(*edge) for edge in node.inputs[:2]), _size(node, 0)
        return math.sqrt(a * b * product)  # of [m, k], [k, n] and [m, n]
    if "Conv" in node.type:  # each value of an image meets many of a filter
        return HEAVY if max(_size(node, 0), *(_size(*edge) for edge in node.inputs)) >= SHARE else 0
    return 0


def _shape(node: Node, output: int) -> tuple[int, ...]:
    made = getattr(node.op, "outputs", None)
    shape = made[output].shape if made and output < len(made) else None
    if shape is None or shape.ndims is None:
        shape = node.output_shapes[output] if output < len(node.output_shapes) else None
    if shape is None or shape.ndims is None:
        return (_USUAL,)
    return tuple(_USUAL if size is None else size for size in shape.as_list())


def _size(node: Node, output: int) -> float:
    return math.prod(_shape(node, output))
