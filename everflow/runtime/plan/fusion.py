"""How rewrites make one node of several, and those that do it with products. Sums are in `sums.py`, changes of variables in `updates.py`.

A made node has the Operation of the last node it stands for, so that errors and traces name what the user built.
"""

from __future__ import annotations

from collections import Counter

from everflow.framework import dtypes
from everflow.framework.op_defs import ArgDef, AttrDef, OpDef
from everflow.runtime.plan.program import Node, Program, is_ref
from everflow.runtime.plan.schedule import variable_accesses

TRANSPOSES = (AttrDef("transpose_a", "bool"), AttrDef("transpose_b", "bool"))
_CONVOLUTION = tuple(
    AttrDef(name, kind)
    for name, kind in (
        ("strides", "list(int)"),
        ("padding", "string"),
        ("explicit_paddings", "list(int)"),
        ("data_format", "string"),
        ("dilations", "list(int)"),
    )
)
_CONV2D_BIAS = OpDef("_Conv2DBias", (ArgDef("input"), ArgDef("filter"), ArgDef("bias")), (ArgDef("output"),), _CONVOLUTION)
_MATMUL_BIAS = OpDef("_MatMulBias", (ArgDef("a"), ArgDef("b"), ArgDef("bias")), (ArgDef("product"),), TRANSPOSES)
_MATMUL_COLUMNS = OpDef(
    "_MatMulColumns",
    (ArgDef("a"), ArgDef("b")),
    (ArgDef("product"),),
    (*TRANSPOSES, AttrDef("start", "int"), AttrDef("count", "int")),
)


def fused(program: Program, like: Node, definition: OpDef, inputs: list, parts: list[Node], **attributes) -> Node:
    """A node that stands for `like` and for `parts`, the nodes before it that nobody else needs."""
    node = Node(program.new_index(), like.op, like.name, definition.name)
    node.definition = definition
    node.inputs = inputs
    node.controls = list(dict.fromkeys(c for part in [*parts, like] for c in part.controls))
    node.output_dtypes, node.output_shapes, node.device = like.output_dtypes, like.output_shapes, like.device
    node.set_attributes(attributes)
    return node


def uses_of(program: Program) -> Counter:
    """How often each edge is taken; one that somebody waits for or fetches counts as taken, too."""
    counted = Counter(e for node in program.nodes for e in node.inputs)
    counted.update(f for f in program.fetches if isinstance(f, tuple))
    waited = {c for node in program.nodes for c in node.controls} | {f for f in program.fetches if isinstance(f, Node)}
    for node in waited:  # somebody wants this very node to have run
        counted.update((node, i) for i in range(len(node.output_dtypes)))
    return counted


def is_float_matmul(edge, uses) -> bool:
    """Whether an edge is a matrix product that nobody else takes."""
    node, _ = edge
    return node.type == "MatMul" and uses[edge] == 1 and node.output_dtypes[0].is_floating and not any(is_ref(*e) for e in node.inputs)


def transposes(node: Node) -> dict:
    """The attributes of a matrix product."""
    return {name: bool(node.attribute(name)) for name in ("transpose_a", "transpose_b")}


def _is_convolution(edge, uses) -> bool:
    node, _ = edge
    return (
        node.type == "Conv2D"
        and uses[edge] == 1
        and node.output_dtypes[0] in (dtypes.float32, dtypes.float64)
        and node.attribute("data_format") == "NHWC"
        and not any(is_ref(*e) for e in node.inputs)
    )


def product_with_bias(program: Program, session) -> int:
    """MatMul or Conv2D, then BiasAdd or the addition of a vector: ATen does both at once."""
    uses = uses_of(program)
    made: dict[Node, list[Node]] = {}
    for node in program.nodes:
        if node.type not in ("BiasAdd", "Add", "AddV2") or len(node.inputs) != 2:
            continue
        for product, bias in (node.inputs, node.inputs[::-1])[: 1 if node.type == "BiasAdd" else 2]:
            if is_float_matmul(product, uses) and not is_ref(*bias) and _is_bias(bias, product):
                matmul = product[0]
                made[node] = [fused(program, node, _MATMUL_BIAS, [*matmul.inputs, bias], [matmul], **transposes(matmul))]
                break
            if _is_convolution(product, uses) and not is_ref(*bias) and _is_bias(bias, product, rank=4):
                convolution = product[0]
                attributes = {attr.name: convolution.attribute(attr.name) for attr in _CONVOLUTION}
                made[node] = [fused(program, node, _CONV2D_BIAS, [*convolution.inputs, bias], [convolution], **attributes)]
                break
    return put(program, made)


def _is_bias(edge, product, rank=2) -> bool:
    """Whether a value is a vector as long as the product's last dimension."""
    shape, wide = edge[0].output_shapes[edge[1]], product[0].output_shapes[0]
    if shape is None or shape.ndims != 1 or wide is None or wide.ndims != rank:
        return False
    length, columns = shape.as_list()[0], wide.as_list()[-1]
    return length is not None and length == columns


def columns_of_product(program: Program, session) -> int:
    """A slice of some columns of a product, as the gradient of a joined input has: the product with those columns only."""
    uses = uses_of(program)
    made: dict[Node, list[Node]] = {}
    for node in program.nodes:
        if node.type != "Slice" or not is_float_matmul(node.inputs[0], uses):
            continue
        product = node.inputs[0][0]
        begin, size, shape = node.constant_input(1), node.constant_input(2), product.output_shapes[0]
        if begin is None or size is None or shape is None or not shape.is_fully_defined() or tuple(begin.shape) != (2,):
            continue
        (rows, columns), (first_row, start), (row_count, count) = shape.as_list(), begin.tolist(), size.tolist()
        count = columns - start if count == -1 else count
        if first_row == 0 and row_count in (-1, rows) and start >= 0 and count > 0 and start + count <= columns:
            made[node] = [
                fused(program, node, _MATMUL_COLUMNS, list(product.inputs), [product], **transposes(product), start=start, count=count)
            ]
    return put(program, made)


def put(program: Program, made: dict[Node, list[Node]]) -> int:
    """Put new nodes before the ones they replace; the last of them stands for the old one."""
    if made:
        program.insert(made)
        program.replace({(node, 0): (new[-1], 0) for node, new in made.items()}, {node: new[-1] for node, new in made.items()})
    return len(made)


def ancestors(program: Program, among: list[Node]) -> tuple[dict[Node, int], dict[Node, int]]:
    """Node → those of `among` that must run before it, as bits; and which bit each of those is."""
    bits = {node: 1 << i for i, node in enumerate(among)}
    above: dict[Node, int] = {}
    for node in program.nodes:
        mask = 0
        for source in [n for n, _ in node.inputs] + node.controls:
            mask |= above.get(source, 0) | bits.get(source, 0)
        above[node] = mask
    return above, bits


def reads_of_variables(program: Program):
    """`(node, later) → bool`: whether the node looks at a variable that is written between its own turn and that of a later node."""
    writers, users = variable_accesses(program)
    above, bits = ancestors(program, [w for found in writers.values() for w in found])
    read: dict[Node, int] = {}
    for variable, nodes in users.items():
        for node in nodes:
            read[node] = read.get(node, 0) | sum({bits[w] for w in writers[variable]})
    return lambda node, later: bool(above[later] & ~above[node] & read.get(node, 0))
