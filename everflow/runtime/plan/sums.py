"""Rules for sums, which gradients are full of: of products, of slices, of a few large tensors, of things times a
number.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.kernels.constant_arguments import slice_key
from everflow.runtime.plan.patterns import Bits, Match, Rule, const, is_alone, op, value
from everflow.runtime.plan.products import is_float_matmul, transposes
from everflow.runtime.plan.program import Edge, Node, internal, is_ref, same_shape

SUM_OF_MATMULS = internal("_SumOfMatMuls", "*a *b", attributes="transpose_a transpose_b N")
SUM_OF_ROWS = internal("_SumOfRows", "*values", attributes="N")
SUM_OF_SLICES = internal("_SumOfSlices", "shape *parts", attributes="N keys")
ADD_PRODUCT = internal("_AddProduct", "x y z")
ADD_SCALED = internal("_AddScaled", "x y", attributes="alpha")
SUB_SCALED = internal("_SubScaled", "x y", attributes="alpha")

# Few products are as quick one by one; joining inputs costs, too.
FEWEST_SUMMED = 3
# A sum of more is left to its kernel, which reads all of them at once.
MOST_PAIRED = 4


def is_matrix(edge: Edge) -> bool:
    """Whether an edge is a matrix of numbers with a fraction."""
    shape = edge[0].output_shapes[edge[1]]
    return shape is not None and shape.ndims == 2 and edge[0].output_dtypes[edge[1]].is_floating and not is_ref(*edge)


def sole_parts(m: Match, op_type: str) -> list[Node] | None:
    """The nodes that a sum adds up, if all of them are of one type and nobody else's."""
    node = m.root
    if len(node.inputs) < FEWEST_SUMMED or len(set(node.inputs)) != len(node.inputs):
        return None
    parts = [part for part, _ in node.inputs]
    if any(
        part.type != op_type or not is_alone((part, 0), node) or any(is_ref(*e) for e in part.inputs) for part in parts
    ):
        return None
    return None if any(m.context.aliases.changes_between(part.inputs, part, node) for part in parts) else parts


def _of_products(m: Match) -> Node | None:
    """AddN of matrix products, as gradients of unrolled networks have: one product of the joined matrices."""
    parts = sole_parts(m, "MatMul")
    if (
        parts is None
        or not all(is_float_matmul((n, 0)) for n in parts)
        or len({tuple(transposes(n).items()) for n in parts}) != 1
    ):
        return None
    inputs = [n.inputs[0] for n in parts] + [n.inputs[1] for n in parts]
    return m.node(SUM_OF_MATMULS, inputs, N=len(parts), **transposes(parts[0]))


def _of_rows(m: Match) -> Node | None:
    """AddN of sums over rows, as gradients of biases are: one sum over all rows."""
    parts = sole_parts(m, "BiasAddGrad")
    if parts is None or not all(is_matrix(n.inputs[0]) for n in parts):
        return None
    return m.node(SUM_OF_ROWS, [n.inputs[0] for n in parts], N=len(parts))


def _of_slices(m: Match) -> Node | None:
    """AddN of what came back from slices of one tensor, such as the time steps of an input: all added into one tensor
    of zeros.
    """
    parts = sole_parts(m, "StridedSliceGrad")
    if parts is None or any(n.inputs[0] != parts[0].inputs[0] for n in parts):
        return None
    keys = [slice_key(n, (1, 2, 3)) for n in parts]
    if None in keys:
        return None
    return m.node(SUM_OF_SLICES, [parts[0].inputs[0], *(n.inputs[4] for n in parts)], N=len(parts), keys=keys)


def _by_pairs(m: Match) -> Node | None:
    """AddN of a few large tensors: additions that can be done in place."""
    node = m.root
    if (
        not 2 <= len(node.inputs) <= MOST_PAIRED
        or not node.output_dtypes[0].is_floating
        or any(is_ref(*e) for e in node.inputs)
    ):
        return None
    shapes = [source.shape(output) for source, output in node.inputs]
    if shapes[0] is None or any(s != shapes[0] for s in shapes):
        return None
    total = node.inputs[0]
    for edge in node.inputs[1:-1]:
        step = m.node("AddV2", [total, edge], T=node.output_dtypes[0])
        step.output_shapes = [node.inputs[0][0].output_shapes[node.inputs[0][1]]]
        total = m.before(step)
    return m.node("AddV2", [total, node.inputs[-1]], T=node.output_dtypes[0])


# --- a product in a sum ---------------------------------------------------------------------------


def _is_float(m: Match) -> bool:
    return m.root.output_dtypes[0] in (dtypes.float32, dtypes.float64)


def _scaled(m: Match) -> Node | None:
    """x + c * y: ATen multiplies while it adds, in one pass over memory, and rounds both."""
    scale = m.value("c")
    if scale.dim() != 0 or not same_shape(m.x, (m.root, 0)) or not same_shape(m.y, (m.root, 0)):
        return None  # to repeat one of them along the other would be slow
    return m.node(SUB_SCALED if m.root.type == "Sub" else ADD_SCALED, [m.x, m.y], alpha=scale.item())


def _with_product(m: Match) -> Node | None:
    """x + y * z in one pass, rounded once."""
    return m.node(ADD_PRODUCT, [m.x, m.y, m.z]) if all(_ends_like(edge, m.root) for edge in (m.x, m.y, m.z)) else None


def _ends_like(edge: Edge, node: Node) -> bool:
    """Whether a value has the last dimensions of a node's result: to repeat it along its innermost one would be slow."""
    shape, whole = edge[0].shape(edge[1]), node.shape()
    return bool(shape) and shape is not None and whole is not None and shape == whole[-len(shape) :]


x, y, z, c = value("x"), value("y"), value("z"), const("c")
_SCALED = op("Mul", y, c, alone=True, commutes=True)
_PRODUCT = op("Mul", y, z, alone=True)

SUMS = [
    Rule("sum of products", "arithmetic_optimization", op("AddN"), _of_products, bits=Bits.REORDERED),
    Rule("sum of products", "arithmetic_optimization", op("AddN"), _of_rows, bits=Bits.REORDERED),
    Rule("sum of slices", "arithmetic_optimization", op("AddN"), _of_slices),
]
PAIRS = [Rule("sums by pairs", "arithmetic_optimization", op("AddN"), _by_pairs)]
PRODUCTS_IN_SUMS = [
    Rule("scaled sums", "remapping", op("Add AddV2", x, _SCALED, commutes=True), _scaled, _is_float),
    Rule("scaled sums", "remapping", op("Sub", x, _SCALED), _scaled, _is_float),
    Rule(
        "contraction", "remapping", op("Add AddV2", x, _PRODUCT, commutes=True), _with_product, _is_float, Bits.ROUNDED
    ),
]
