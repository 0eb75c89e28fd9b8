"""Rewrites that make one node of several: products with a bias, sums of products.

A made node has the Operation of the last node it stands for, so that errors and traces name what the user built.
"""

from __future__ import annotations

from collections import Counter

from everflow.framework import dtypes
from everflow.framework.op_defs import ArgDef, AttrDef, OpDef
from everflow.runtime.plan.locking import excludes_others
from everflow.runtime.plan.program import Node, Program, is_ref
from everflow.runtime.plan.structure import structure

_TRANSPOSES = (AttrDef("transpose_a", "bool"), AttrDef("transpose_b", "bool"))
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
_DEFINITIONS = {
    "_Conv2DBias": OpDef("_Conv2DBias", (ArgDef("input"), ArgDef("filter"), ArgDef("bias")), (ArgDef("output"),), _CONVOLUTION),
    "_MatMulBias": OpDef("_MatMulBias", (ArgDef("a"), ArgDef("b"), ArgDef("bias")), (ArgDef("product"),), _TRANSPOSES),
    "_MatMulColumns": OpDef(
        "_MatMulColumns",
        (ArgDef("a"), ArgDef("b")),
        (ArgDef("product"),),
        (*_TRANSPOSES, AttrDef("start", "int"), AttrDef("count", "int")),
    ),
    "_SumOfMatMuls": OpDef(
        "_SumOfMatMuls",
        (ArgDef("a", number_attr="N"), ArgDef("b", number_attr="N")),
        (ArgDef("product"),),
        (*_TRANSPOSES, AttrDef("N", "int")),
    ),
    "_SumOfRows": OpDef("_SumOfRows", (ArgDef("values", number_attr="N"),), (ArgDef("sum"),), (AttrDef("N", "int"),)),
}
_DEFINITIONS["AddV2"] = OpDef("AddV2", (ArgDef("x"), ArgDef("y")), (ArgDef("z"),))
_DEFINITIONS["_MoveTowards"] = OpDef(
    "_MoveTowards", (ArgDef("variable", is_ref=True), ArgDef("value"), ArgDef("rate")), (), is_stateful=True
)
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


def uses_of(program: Program) -> Counter:
    """How often each edge is taken; one that somebody waits for or fetches counts as taken, too."""
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
            if _is_float_matmul(product, uses) and not is_ref(*bias) and _is_bias(bias, product):
                matmul = product[0]
                made[node] = [_fused(program, node, "_MatMulBias", [*matmul.inputs, bias], [matmul], **_transposes(matmul))]
                break
            if _is_convolution(product, uses) and not is_ref(*bias) and _is_bias(bias, product, rank=4):
                convolution = product[0]
                attributes = {attr.name: convolution.attribute(attr.name) for attr in _CONVOLUTION}
                made[node] = [_fused(program, node, "_Conv2DBias", [*convolution.inputs, bias], [convolution], **attributes)]
                break
    return put(program, made)


def _is_bias(edge, product, rank=2) -> bool:
    """Whether a value is a vector as long as the product's last dimension."""
    shape, wide = edge[0].output_shapes[edge[1]], product[0].output_shapes[0]
    if shape is None or shape.ndims != 1 or wide is None or wide.ndims != rank:
        return False
    length, columns = shape.as_list()[0], wide.as_list()[-1]
    return length is not None and length == columns


def sum_of_products(program: Program, session) -> int:
    """AddN of matrix products, as gradients of unrolled networks have: one product of the joined matrices."""
    uses = uses_of(program)
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
    return put(program, made)


def columns_of_product(program: Program, session) -> int:
    """A slice of some columns of a product, as the gradient of a joined input has: the product with those columns only."""
    uses = uses_of(program)
    made: dict[Node, list[Node]] = {}
    for node in program.nodes:
        if node.type != "Slice" or not _is_float_matmul(node.inputs[0], uses):
            continue
        product = node.inputs[0][0]
        begin, size, shape = node.constant_input(1), node.constant_input(2), product.output_shapes[0]
        if begin is None or size is None or shape is None or not shape.is_fully_defined() or tuple(begin.shape) != (2,):
            continue
        (rows, columns), (first_row, start), (row_count, count) = shape.as_list(), begin.tolist(), size.tolist()
        count = columns - start if count == -1 else count
        if first_row == 0 and row_count in (-1, rows) and start >= 0 and count > 0 and start + count <= columns:
            made[node] = [
                _fused(program, node, "_MatMulColumns", list(product.inputs), [product], **_transposes(product), start=start, count=count)
            ]
    return put(program, made)


def _is_matrix(edge) -> bool:
    shape = edge[0].output_shapes[edge[1]]
    return shape is not None and shape.ndims == 2 and edge[0].output_dtypes[edge[1]].is_floating and not is_ref(*edge)


def put(program: Program, made: dict[Node, list[Node]]) -> int:
    """Put new nodes before the ones they replace; the last of them stands for the old one."""
    if made:
        program.insert(made)
        program.replace({(node, 0): (new[-1], 0) for node, new in made.items()}, {node: new[-1] for node, new in made.items()})
    return len(made)


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
            step = _fused(program, node, "AddV2", [total, edge], [])
            step.output_shapes = [shapes[0]]
            steps.append(step)
            total = (step, 0)
        made[node] = steps
    return put(program, made)


# --- moving averages --------------------------------------------------------------------------


def moving_averages(program: Program, session) -> int:
    """v -= (v - x) * rate, as moving averages are kept: v goes towards x, in one pass."""
    uses = uses_of(program)
    writers = Counter(n.inputs[0] for n in program.nodes if n.inputs and n.type.startswith(("Assign", "Apply", "Resource", "Scatter")))
    taken = {e[0] for node in program.nodes for e in node.inputs} | {f[0] for f in program.fetches if isinstance(f, tuple)}
    made: dict[Node, list[Node]] = {}
    for node in program.nodes:
        if node.type not in ("AssignSub", "AssignSubVariableOp") or writers[node.inputs[0]] != 1 or node in taken:
            continue
        step = node.inputs[1][0]
        if step.type != "Mul" or uses[step, 0] != 1:
            continue
        for difference, rate in (step.inputs, step.inputs[::-1]):
            change = difference[0]
            if change.type != "Sub" or uses[difference] != 1 or not _reads(change.inputs[0], node.inputs[0]):
                continue
            before = set(change.controls) | set(step.controls)
            if not _is_scalar(rate) or not change.output_dtypes[0].is_floating or not set(node.controls) <= before:
                continue
            made[node] = [_fused(program, node, "_MoveTowards", [node.inputs[0], change.inputs[1], rate], [change, step])]
            made[node][0].output_dtypes, made[node][0].output_shapes = [], []
            break
    if made:
        joined = {node: new[0] for node, new in made.items()}
        program.insert(made)
        program.replace({}, joined)
        program.fetches = [joined.get(f, f) if isinstance(f, Node) else f for f in program.fetches]
    return len(made)


def _reads(edge, variable) -> bool:
    """Whether an edge is the value of this very variable."""
    node = edge[0]
    return edge == variable or (node.type in ("Identity", "ReadVariableOp") and node.inputs[0] == variable)


def _is_scalar(edge) -> bool:
    shape = edge[0].output_shapes[edge[1]]
    return shape is not None and shape.ndims == 0 and not is_ref(*edge)


# --- one update of many variables -------------------------------------------------------------

# Op type: (type of the joint node, inputs that are variables, inputs that are the same for all, position of the gradient,
# from how many on it pays).
_UPDATES = {
    "ApplyAdam": ("_ApplyAdams", 3, 6, 9, 2),
    "ResourceApplyAdam": ("_ApplyAdams", 3, 6, 9, 2),
    "ApplyGradientDescent": ("_ApplyGradientDescents", 1, 1, 2, 4),
    "ResourceApplyGradientDescent": ("_ApplyGradientDescents", 1, 1, 2, 4),
}


def _update_definition(op_type: str, variables: int, shared: int) -> OpDef:
    held = tuple(ArgDef(f"variables_{i}", number_attr="N", is_ref=True) for i in range(variables))
    same = tuple(ArgDef(f"shared_{i}") for i in range(shared))
    return OpDef(op_type, (*held, *same, ArgDef("gradients", number_attr="N")), (), (AttrDef("N", "int"),), is_stateful=True)


for _joint, _variables, _shared, *_ in _UPDATES.values():
    _DEFINITIONS[_joint] = _update_definition(_joint, _variables, _shared)


def joint_updates(program: Program, session) -> int:
    """Optimizer steps of many variables with the same rates: one call for all."""
    candidates = [n for n in program.nodes if n.type in _UPDATES]
    if len(candidates) < 2:
        return 0
    structure(program)  # only what is in the same branch and loop may be joined
    taken = {e[0] for node in program.nodes for e in node.inputs} | {f[0] for f in program.fetches if isinstance(f, tuple)}
    groups: dict = {}
    for node in candidates:
        _, variables, shared, gradient, _ = _UPDATES[node.type]
        same_for_all = tuple(node.inputs[variables : variables + shared])
        if node in taken or node.input_dtypes[gradient] is not dtypes.float32 or node.attrs.get("use_nesterov"):
            continue
        if not excludes_others(node):
            groups.setdefault((node.type, same_for_all, node.device, node.guard, node.frame), []).append(node)
    above = _ancestors(program, candidates)
    joined: dict[Node, Node] = {}
    added: dict[Node, list[Node]] = {}
    for (op_type, same_for_all, *_), members in groups.items():
        free = [n for n in members if not above[n].intersection(members)]
        joint, variables, _, gradient, fewest = _UPDATES[op_type]
        if len(free) < fewest:
            continue
        inputs = [n.inputs[i] for i in range(variables) for n in free]
        inputs += [*same_for_all, *[n.inputs[gradient] for n in free]]
        made = _fused(program, free[-1], joint, inputs, free, N=len(free))
        made.output_dtypes, made.output_shapes = [], []
        joined.update(dict.fromkeys(free, made))
        added[free[-1]] = [made]
    if joined:
        program.insert(added)
        program.replace({}, joined)
        program.fetches = [joined.get(f, f) if isinstance(f, Node) else f for f in program.fetches]
        program.keep_needed()
        program.sort()
    return len(joined)


def _ancestors(program: Program, among: list[Node]) -> dict[Node, set[Node]]:
    """Node → those of `among` that must run before it."""
    bits = {node: 1 << i for i, node in enumerate(among)}
    above: dict[Node, int] = {}
    for node in program.nodes:
        mask = 0
        for source in [n for n, _ in node.inputs] + node.controls:
            mask |= above.get(source, 0) | bits.get(source, 0)
        above[node] = mask
    return {node: {other for other in among if above[node] & bits[other]} for node in among}
