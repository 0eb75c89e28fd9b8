"""Rewrites of sums, which gradients are full of: of products, of slices, of things times a number."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.op_defs import ArgDef, AttrDef, OpDef
from everflow.kernels.constant_arguments import slice_key
from everflow.runtime.plan.fusion import TRANSPOSES, fused, is_float_matmul, put, reads_of_variables, transposes, uses_of
from everflow.runtime.plan.program import Node, Program, is_ref

_COUNT = AttrDef("N", "int")
_SUM_OF_MATMULS = OpDef(
    "_SumOfMatMuls", (ArgDef("a", number_attr="N"), ArgDef("b", number_attr="N")), (ArgDef("product"),), (*TRANSPOSES, _COUNT)
)
_SUM_OF_ROWS = OpDef("_SumOfRows", (ArgDef("values", number_attr="N"),), (ArgDef("sum"),), (_COUNT,))
_SUM_OF_SLICES = OpDef(
    "_SumOfSlices", (ArgDef("shape"), ArgDef("parts", number_attr="N")), (ArgDef("sum"),), (_COUNT, AttrDef("keys", "list"))
)
_ADD = OpDef("AddV2", (ArgDef("x"), ArgDef("y")), (ArgDef("z"),))
_ADD_PRODUCT = OpDef("_AddProduct", (ArgDef("x"), ArgDef("y"), ArgDef("z")), (ArgDef("sum"),))
_SCALED = {
    name: OpDef(f"_{name}Scaled", (ArgDef("x"), ArgDef("y")), (ArgDef("sum"),), (AttrDef("alpha", "float"),)) for name in ("Add", "Sub")
}

# Few products are as quick one by one; joining inputs costs, too.
FEWEST_SUMMED = 3


def _long_sums(program: Program) -> list[tuple[Node, list[Node]]]:
    """The sums of several tensors, each with the nodes that made these."""
    return [(n, [part for part, _ in n.inputs]) for n in program.nodes if n.type == "AddN" and len(n.inputs) >= FEWEST_SUMMED]


def sum_of_products(program: Program, session) -> int:
    """AddN of matrix products, as gradients of unrolled networks have: one product of the joined matrices."""
    uses = uses_of(program)
    made: dict[Node, list[Node]] = {}
    for node, parts in _long_sums(program):
        if all(is_float_matmul(e, uses) for e in node.inputs) and len({tuple(transposes(n).items()) for n in parts}) == 1:
            inputs = [n.inputs[0] for n in parts] + [n.inputs[1] for n in parts]
            made[node] = [fused(program, node, _SUM_OF_MATMULS, inputs, parts, N=len(parts), **transposes(parts[0]))]
        elif all(n.type == "BiasAddGrad" and uses[n, 0] == 1 and is_matrix(n.inputs[0]) for n in parts):
            made[node] = [fused(program, node, _SUM_OF_ROWS, [n.inputs[0] for n in parts], parts, N=len(parts))]
    return put(program, made)


def is_matrix(edge) -> bool:
    """Whether an edge is a matrix of numbers with a fraction."""
    shape = edge[0].output_shapes[edge[1]]
    return shape is not None and shape.ndims == 2 and edge[0].output_dtypes[edge[1]].is_floating and not is_ref(*edge)


def sum_of_slices(program: Program, session) -> int:
    """AddN of what came back from slices of one tensor, such as the time steps of an input: all added into one tensor of zeros."""
    uses = uses_of(program)
    made: dict[Node, list[Node]] = {}
    for node, parts in _long_sums(program):
        if any(n.type != "StridedSliceGrad" or uses[n, 0] != 1 or n.inputs[0] != parts[0].inputs[0] for n in parts):
            continue
        keys = [slice_key(n, (1, 2, 3)) for n in parts]
        if None not in keys:
            inputs = [parts[0].inputs[0], *(n.inputs[4] for n in parts)]
            made[node] = [fused(program, node, _SUM_OF_SLICES, inputs, parts, N=len(parts), keys=keys)]
    return put(program, made)


# A sum of more is left to its kernel, which reads all of them at once.
MOST_PAIRED = 4


def sums_by_pairs(program: Program, session) -> int:
    """AddN of a few large tensors: additions that can be done in place."""
    made: dict[Node, list[Node]] = {}
    for node in program.nodes:
        if node.type != "AddN" or not 2 <= len(node.inputs) <= MOST_PAIRED or not node.output_dtypes[0].is_floating:
            continue
        shapes = [source.output_shapes[output] for source, output in node.inputs]
        if any(s is None or not s.is_fully_defined() or s.as_list() != shapes[0].as_list() for s in shapes) or any(
            is_ref(*e) for e in node.inputs
        ):
            continue
        total, steps = node.inputs[0], []
        for edge in node.inputs[1:]:
            step = fused(program, node, _ADD, [total, edge], [])
            step.output_shapes = [shapes[0]]
            steps.append(step)
            total = (step, 0)
        made[node] = steps
    return put(program, made)


# --- a product in a sum -----------------------------------------------------------------------


def sums_with_products(program: Program, session) -> int:
    """x + y * z and x - y * c: ATen multiplies while it adds, in one pass over memory.

    Such a sum is rounded once, not twice. The difference of two products stays as it is: where they are equal it must be zero.
    """
    uses = uses_of(program)
    comes_too_late = reads_of_variables(program)
    made: dict[Node, list[Node]] = {}
    for node in program.nodes:
        if node.type not in ("Add", "AddV2", "Sub") or node.output_dtypes[0] not in (dtypes.float32, dtypes.float64):
            continue
        if any(is_ref(*e) for e in node.inputs) or all(source.type == "Mul" for source, _ in node.inputs):
            continue
        for edge, other in (node.inputs[::-1], node.inputs)[: 1 if node.type == "Sub" else 2]:
            product = edge[0]
            if product.type != "Mul" or uses[edge] != 1 or any(is_ref(*e) for e in product.inputs) or comes_too_late(product, node):
                continue
            new = _with_scale(program, node, product, other) or _with_product(program, node, product, other)
            if new is not None:
                made[node] = [new]
                break
    return put(program, made)


def _with_scale(program: Program, node: Node, product: Node, other) -> Node | None:
    for factor, scaled in (product.inputs, product.inputs[::-1]):
        scale = product.constant_input(product.inputs.index(factor))
        if scale is not None and scale.dim() == 0:
            definition = _SCALED["Sub" if node.type == "Sub" else "Add"]
            return fused(program, node, definition, [other, scaled], [product, factor[0]], alpha=scale.item())
    return None


def _with_product(program: Program, node: Node, product: Node, other) -> Node | None:
    if node.type == "Sub" or not all(_ends_like(edge, node) for edge in (other, *product.inputs)):
        return None
    return fused(program, node, _ADD_PRODUCT, [other, *product.inputs], [product])


def _ends_like(edge, node: Node) -> bool:
    """Whether a value has the last dimensions of a node's result: to repeat it along its innermost one would be slow."""
    shape, whole = edge[0].output_shapes[edge[1]], node.output_shapes[0]
    if shape is None or whole is None or not shape.ndims or not shape.is_fully_defined() or not whole.is_fully_defined():
        return False
    return shape.as_list() == whole.as_list()[-shape.ndims :]
