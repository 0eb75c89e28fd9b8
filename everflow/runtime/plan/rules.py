"""The table of rewrites. Each keeps the values that a run gives; `tests/runtime/test_rewrite.py` holds each to it."""

from __future__ import annotations

import numpy as np
import torch

from everflow.kernels.tensors import torch_dtype
from everflow.runtime.denormals import flushed
from everflow.runtime.plan.accumulators import running_sums
from everflow.runtime.plan.aliasing import roots
from everflow.runtime.plan.binding import (
    CONSTANTS,
    RENAMES,
    bind,
    call_arguments,
    constant_value,
    flat_results,
    is_pure,
)
from everflow.runtime.plan.factors import constant_factors
from everflow.runtime.plan.fusion import columns_of_product, product_with_bias
from everflow.runtime.plan.invariants import loop_invariants
from everflow.runtime.plan.program import FEED, VALUE, Node, Program, is_ref, value_node
from everflow.runtime.plan.rewrite import Rule
from everflow.runtime.plan.structure import CONTROL_FLOW, tells_branch
from everflow.runtime.plan.sums import sum_of_products, sum_of_slices, sums_by_pairs, sums_with_products
from everflow.runtime.plan.updates import joint_updates, moving_averages, scaled_variables, subtracted_quotients
from everflow.runtime.plan.waiting import needless_waiting

# Folded values stay with the plan, so large ones are computed anew at each run instead.
LARGEST_FOLDED = 1 << 16
_LARGEST_COMPARED = 256


def fold_constants(program: Program, session) -> int:
    """Compute now what depends on constants only."""
    edges: dict = {}
    added: dict[Node, list[Node]] = {}
    for node in program.nodes:
        sources = [edges.get(e, e) for e in node.inputs]
        if not node.inputs or not all(s.type in CONSTANTS for s, _ in sources) or not (node.type in RENAMES or is_pure(node)):
            continue
        if node.type in CONTROL_FLOW or _is_large(node):
            continue
        results = computed(node, [constant_value(s, session) for s, _ in sources], session)
        if results is None:
            continue
        # Where a branch or a control dependency put it, its value stays.
        controls = list(dict.fromkeys(node.controls + [c for s, _ in sources for c in s.controls]))
        for output, result in enumerate(results):
            made = value_node(program.new_index(), result, node.output_dtypes[output], node, output)
            made.controls = controls
            added.setdefault(node, []).append(made)
            edges[node, output] = (made, 0)
    if edges:
        program.insert(added)
        program.replace(edges, dict.fromkeys(added))
    return len(added)


def _is_large(node: Node) -> bool:
    sizes = [shape.num_elements() for shape in node.output_shapes if shape is not None and shape.ndims is not None]
    return any(size is not None and size > LARGEST_FOLDED for size in sizes)


def computed(node: Node, values: list, session):
    """The node's results, or None where it fails (it will fail again, with a better message, when it runs) or they are large."""
    if node.type in RENAMES:
        return [values[0]]
    try:
        binding = bind(node, session)
        with flushed():
            results = flat_results(node, binding.function(*call_arguments(node, values), **binding.keywords))
    except Exception:  # whatever a kernel raises is told when the node runs
        return None
    return None if any(isinstance(r, (torch.Tensor, np.ndarray)) and _numel(r) > LARGEST_FOLDED for r in results) else results


def _numel(value) -> int:
    return value.numel() if isinstance(value, torch.Tensor) else value.size


# --- shapes that are known before running ----------------------------------------------------


SHAPE_OPS = frozenset(["Shape", "ShapeN", "Size", "Rank"])


def known_shapes(program: Program, session) -> int:
    """Shape, Size and Rank of tensors whose shape the graph knows."""
    edges: dict = {}
    added: dict[Node, list[Node]] = {}
    branches = any(n.type in CONTROL_FLOW for n in program.nodes)
    for node in program.nodes:
        for output in range(len(node.output_dtypes)) if node.type in SHAPE_OPS else ():
            source, index = node.inputs[output]
            value = shape_value(node, source.output_shapes[index], output)
            if value is None or is_ref(source, index):
                continue
            made = value_node(program.new_index(), value, node.output_dtypes[output], node, output)
            # The tensor itself is not needed any more, but the branch it is in decides whether this value is there.
            made.controls = node.controls + (
                [tells_branch(source, node)] if (branches and source.type != FEED) or reads_variable(source) else []
            )
            added.setdefault(node, []).append(made)
            edges[node, output] = (made, 0)
    if edges:
        program.insert(added)
        program.replace(edges, {})
    return len(added)


def reads_variable(node: Node) -> bool:
    """Whether a node's value is a variable's: where that has none yet, asking for its shape must raise, so somebody has to look."""
    return node.type == "ReadVariableOp" or (node.type == "Identity" and is_ref(*node.inputs[0]))


def shape_value(node: Node, shape, output: int):
    """What a Shape op gives for a shape, or None where it is not known."""
    if shape is None or shape.ndims is None or (node.type != "Rank" and not shape.is_fully_defined()):
        return None
    found = shape.ndims if node.type == "Rank" else shape.num_elements() if node.type == "Size" else shape.as_list()
    return torch.tensor(found, dtype=torch_dtype(node.output_dtypes[output]))


# --- the same thing twice --------------------------------------------------------------------


def common_subexpressions(program: Program, session) -> int:
    """Nodes that compute the same from the same inputs become one."""
    seen: dict = {}
    edges: dict = {}
    nodes: dict = {}
    for node in program.nodes:
        if node.type in CONSTANTS:
            key = _constant_key(node, session)
        elif node.inputs and is_pure(node):
            inputs = tuple(edges.get(e, e) for e in node.inputs)
            key = (node.type, inputs, _controls_key(node), _attributes_key(node))
        else:
            key = None
        if key is None:
            continue
        other = seen.setdefault(key, node)
        if other is not node:
            nodes[node] = other
            edges.update(((node, i), (other, i)) for i in range(len(node.output_dtypes)))
    if edges:
        program.replace(edges, nodes)
    return len(nodes)


def _constant_key(node: Node, session):
    """What makes two small constants one: type, shape, values and what tells their place; None for others."""
    value = constant_value(node, session)
    if not isinstance(value, torch.Tensor) or value.numel() > _LARGEST_COMPARED or value.is_complex():
        return None
    # -0.0 equals 0.0, and no NaN equals itself: the text tells them apart.
    return VALUE, node.output_dtypes[0], tuple(value.shape), str(value.reshape(-1).tolist()), _controls_key(node)


def _controls_key(node: Node) -> tuple:
    return tuple(sorted(map(id, node.controls)))


def _attributes_key(node: Node):
    return tuple((name, _hashable(value)) for name, value in sorted(node.attrs.items()) if not name.startswith("_"))


def _hashable(value):
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes() if value.dtype.kind != "O" else tuple(value.reshape(-1))
    if isinstance(value, (list, tuple)):
        return tuple(_hashable(v) for v in value)
    return str(value)


# --- arithmetic ------------------------------------------------------------------------------

# What leaves the other input as it is, by op type: (position of the constant, its value).
_NEUTRAL = {
    "Mul": [(0, 1), (1, 1)],
    "Add": [(0, 0), (1, 0)],
    "AddV2": [(0, 0), (1, 0)],
    "Sub": [(1, 0)],
    "RealDiv": [(1, 1)],
}


def neutral_arithmetic(program: Program, session) -> int:
    """x * 1, x / 1, x - 0 and the like are x, where the shapes are known to agree. (x + 0 is not x for -0.0.)

    What a ref variable's memory shows is left alone: there x + 0 is a copy, which later writes don't change.
    """
    edges: dict = {}
    shared = None
    for node in program.nodes:
        for position, neutral in _NEUTRAL.get(node.type, ()):
            if node.type in ("Add", "AddV2") and node.output_dtypes[0].is_floating:
                continue
            constant, other = node.inputs[position], node.inputs[1 - position]
            if constant[0].type not in CONSTANTS or is_ref(*other) or constant[0].controls or node.controls:
                continue
            value = constant_value(constant[0], session)
            if not isinstance(value, torch.Tensor) or value.numel() != 1 or value.item() != neutral:
                continue
            shared = roots(program) if shared is None else shared
            if any(is_ref(*edge) for edge in shared.get(other, ())):
                continue
            if value.dim() == 0 or _same_known_shape(node.output_shapes[0], other[0].output_shapes[other[1]]):
                edges[node, 0] = other
                break
    if edges:
        program.replace(edges, {})
    return len(edges)


def _same_known_shape(one, other) -> bool:
    return _is_known(one) and _is_known(other) and one.as_list() == other.as_list()


# --- shapes that don't change ----------------------------------------------------------------

_REDUCTIONS = frozenset(["Sum", "Mean", "Max", "Min", "Prod", "All", "Any"])
_RESHAPING = frozenset(["Reshape", "Squeeze", "ExpandDims"])


def unchanged_shapes(program: Program, session) -> int:
    """Reshapes to the shape there is, reductions over nothing, tiling once: their input serves as well."""
    edges: dict = {}
    rewired = 0
    for node in program.nodes:
        node.inputs = [edges.get(e, e) for e in node.inputs]
        if node.type in _RESHAPING:
            source = _reshaped(node.inputs[0])
            if source != node.inputs[0] and node.type == "Reshape" and _is_known(node.output_shapes[0]):
                node.inputs[0] = source
                rewired += 1
        elif node.type not in _REDUCTIONS and node.type not in ("Tile", "BroadcastTo"):
            continue
        if node.controls or is_ref(*node.inputs[0]) or not (node.type in _RESHAPING or _keeps_values(node)):
            continue
        source, output = node.inputs[0]
        if _same_known_shape(node.output_shapes[0], source.output_shapes[output]):
            edges[node, 0] = node.inputs[0]
    if edges:
        program.replace(edges, {})
    return len(edges) + rewired


def _is_known(shape) -> bool:
    return shape is not None and shape.is_fully_defined()


def _reshaped(edge):
    """Where the elements of a value come from, through nodes that only give them another shape."""
    node, _ = edge
    while (node.type in _RESHAPING or _keeps_values(node)) and not node.controls and not is_ref(*node.inputs[0]):
        edge = node.inputs[0]
        node = edge[0]
    return edge


def _keeps_values(node: Node) -> bool:
    """Whether a reduction is over sides of length one, or a tiling makes no copies."""
    if not (node.type in _REDUCTIONS or node.type in ("Tile", "BroadcastTo")):
        return False
    source, output = node.inputs[0]
    before, after = source.output_shapes[output], node.output_shapes[0]
    return _is_known(before) and _is_known(after) and before.num_elements() == after.num_elements() != 0


# --- copies ----------------------------------------------------------------------------------


def plain_copies(program: Program, session) -> int:
    """Users of an Identity and its like take its input, where no control input says when."""
    branches = any(n.type in CONTROL_FLOW for n in program.nodes)
    edges = {
        (node, 0): node.inputs[0]
        for node in program.nodes
        if node.type in RENAMES and node.type not in CONTROL_FLOW and not node.controls and not is_ref(*node.inputs[0])
    }
    if edges:
        # In branches, control inputs tell on which side a node is; there the copies stay for those who wait for them.
        program.replace(edges, {} if branches else {node: None for node, _ in edges})
    return len(edges)


RULES = [
    Rule("known shapes", known_shapes, "shape_optimization"),
    Rule("constant folding", fold_constants, "constant_folding"),
    Rule("neutral arithmetic", neutral_arithmetic, "arithmetic_optimization"),
    Rule("unchanged shapes", unchanged_shapes, "shape_optimization"),
    Rule("needless waiting", needless_waiting, "dependency_optimization"),
    Rule("plain copies", plain_copies, "dependency_optimization"),
    Rule("common subexpressions", common_subexpressions, "arithmetic_optimization"),
    Rule("loop invariants", loop_invariants, "loop_optimization"),
    Rule("constant factors", constant_factors, "arithmetic_optimization"),
    Rule("sum of products", sum_of_products, "arithmetic_optimization"),
    Rule("sum of slices", sum_of_slices, "arithmetic_optimization"),
    Rule("running sums", running_sums, "arithmetic_optimization"),
    Rule("columns of a product", columns_of_product, "arithmetic_optimization"),
    Rule("product with bias", product_with_bias, "remapping"),
    Rule("moving averages", moving_averages, "remapping"),
    Rule("scaled variables", scaled_variables, "remapping"),
    Rule("subtracted quotients", subtracted_quotients, "remapping"),
    Rule("joint updates", joint_updates, "scoped_allocator_optimization"),
    Rule("sums by pairs", sums_by_pairs, "arithmetic_optimization"),
    Rule("sums with products", sums_with_products, "remapping"),
]
