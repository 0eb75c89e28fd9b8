"""Rewrites that make one node of several: products with a bias, sums of products.

A made node has the Operation of the last node it stands for, so that errors and traces name what the user built.
"""

from __future__ import annotations

from collections import Counter

from everflow.framework.op_defs import ArgDef, AttrDef, OpDef
from everflow.runtime.plan.program import Node, Program, is_ref

_TRANSPOSES = (AttrDef("transpose_a", "bool"), AttrDef("transpose_b", "bool"))
_DEFINITIONS = {
    "_MatMulBias": OpDef("_MatMulBias", (ArgDef("a"), ArgDef("b"), ArgDef("bias")), (ArgDef("product"),), _TRANSPOSES),
    "_SumOfMatMuls": OpDef(
        "_SumOfMatMuls",
        (ArgDef("a", number_attr="N"), ArgDef("b", number_attr="N")),
        (ArgDef("product"),),
        (*_TRANSPOSES, AttrDef("N", "int")),
    ),
    "_SumOfRows": OpDef("_SumOfRows", (ArgDef("values", number_attr="N"),), (ArgDef("sum"),), (AttrDef("N", "int"),)),
}
# Few products are as quick one by one; joining inputs costs, too.
FEWEST_SUMMED = 3


def _fused(program: Program, like: Node, op_type: str, inputs: list, parts: list[Node], **attributes) -> Node:
    node = Node(program.new_index(), like.op, like.name, op_type)
    node.definition = _DEFINITIONS[op_type]
    node.inputs = inputs
    node.controls = list(dict.fromkeys(c for part in [*parts, like] for c in part.controls))
    node.output_dtypes, node.output_shapes, node.device = like.output_dtypes, like.output_shapes, like.device
    node.set_attributes(attributes)
    return node


def _uses(program: Program) -> Counter:
    counted = Counter(e for node in program.nodes for e in node.inputs)
    counted.update(f for f in program.fetches if isinstance(f, tuple))
    waited = {c for node in program.nodes for c in node.controls} | {f for f in program.fetches if isinstance(f, Node)}
    for node in waited:  # somebody wants this very node to have run
        counted.update((node, i) for i in range(len(node.output_dtypes)))
    return counted


def _is_float_matmul(edge, uses) -> bool:
    node, _ = edge
    return node.type == "MatMul" and uses[edge] == 1 and node.output_dtypes[0].is_floating and not any(is_ref(*e) for e in node.inputs)


def _transposes(node: Node) -> dict:
    return {name: bool(node.attribute(name)) for name in ("transpose_a", "transpose_b")}


def product_with_bias(program: Program, session) -> int:
    """MatMul, then BiasAdd or the addition of a vector: ATen does both at once."""
    uses = _uses(program)
    made: dict[Node, list[Node]] = {}
    for node in program.nodes:
        if node.type not in ("BiasAdd", "Add", "AddV2") or len(node.inputs) != 2:
            continue
        for product, bias in (node.inputs, node.inputs[::-1])[: 1 if node.type == "BiasAdd" else 2]:
            if _is_float_matmul(product, uses) and not is_ref(*bias) and _is_bias(bias, product):
                matmul = product[0]
                made[node] = [_fused(program, node, "_MatMulBias", [*matmul.inputs, bias], [matmul], **_transposes(matmul))]
                break
    return _put(program, made)


def _is_bias(edge, product) -> bool:
    """Whether a value is a vector as long as the product's rows."""
    shape, wide = edge[0].output_shapes[edge[1]], product[0].output_shapes[0]
    if shape is None or shape.ndims != 1 or wide is None or wide.ndims != 2:
        return False
    length, columns = shape.as_list()[0], wide.as_list()[1]
    return length is not None and length == columns


def sum_of_products(program: Program, session) -> int:
    """AddN of matrix products, as gradients of unrolled networks have: one product of the joined matrices."""
    uses = _uses(program)
    made: dict[Node, list[Node]] = {}
    for node in program.nodes:
        if node.type != "AddN" or len(node.inputs) < FEWEST_SUMMED:
            continue
        parts = [n for n, _ in node.inputs]
        if all(_is_float_matmul(e, uses) for e in node.inputs) and len({tuple(_transposes(n).items()) for n in parts}) == 1:
            inputs = [n.inputs[0] for n in parts] + [n.inputs[1] for n in parts]
            made[node] = [_fused(program, node, "_SumOfMatMuls", inputs, parts, N=len(parts), **_transposes(parts[0]))]
        elif all(n.type == "BiasAddGrad" and uses[n, 0] == 1 and _is_matrix(n.inputs[0]) for n in parts):
            made[node] = [_fused(program, node, "_SumOfRows", [n.inputs[0] for n in parts], parts, N=len(parts))]
    return _put(program, made)


def _is_matrix(edge) -> bool:
    shape = edge[0].output_shapes[edge[1]]
    return shape is not None and shape.ndims == 2 and edge[0].output_dtypes[edge[1]].is_floating and not is_ref(*edge)


def _put(program: Program, made: dict[Node, list[Node]]) -> int:
    if made:
        program.insert_before(made)
        program.replace({(node, 0): (new[0], 0) for node, new in made.items()}, {node: new[0] for node, new in made.items()})
    return len(made)
