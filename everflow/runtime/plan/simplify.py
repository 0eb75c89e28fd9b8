"""Rules that leave out what need not be computed: constants, known shapes, neutral arithmetic, copies, branches whose
side is known.

What a ref variable's memory shows is left alone where a rule would hand it on: `x * 1` is a copy, which later writes
don't change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework import op_defs
from everflow.kernels import registry
from everflow.kernels.facts import Effect
from everflow.kernels.tensors import torch_dtype
from everflow.runtime.denormals import flushed
from everflow.runtime.plan.binding import CONSTANTS, bind, call_arguments, constant_value
from everflow.runtime.plan.patterns import ANY, Bits, Match, Rule, const, op, value
from everflow.runtime.plan.program import (
    FEED,
    IF,
    Edge,
    Node,
    Program,
    facts_of,
    flat_results,
    is_known,
    is_ref,
    same_shape,
)

if TYPE_CHECKING:
    from everflow.framework.shapes import TensorShape
    from everflow.runtime.hints import Value
    from everflow.runtime.state import SessionState

# Folded values stay with the plan, so large ones are computed anew at each run instead.
LARGEST_FOLDED = 1 << 16


# --- constants -------------------------------------------------------------------------------


def _folded(m: Match) -> list[Edge] | None:
    """What depends on constants only is computed now."""
    node = m.root
    if not node.inputs or node.blocks or node.effect is not Effect.PURE or _is_large(node):
        return None
    if any(source.type not in CONSTANTS for source, _ in node.inputs):
        return None
    results = computed(node, [constant_value(source, m.context.state) for source, _ in node.inputs], m.context.state)
    if results is None:
        return None
    return [(m.program.constant(r, node.output_dtypes[i], node, i), 0) for i, r in enumerate(results)]


def _is_large(node: Node) -> bool:
    sizes = [shape.num_elements() for shape in node.output_shapes if is_known(shape)]
    return any(size is not None and size > LARGEST_FOLDED for size in sizes)


def computed(node: Node, values: list[Value], state: SessionState) -> list[Value] | None:
    """The node's results, or None where it fails (it will fail again, with a better message, when it runs) or they are
    large.
    """
    if node.facts.renames:
        return [values[0]]
    try:
        binding = bind(node, state)
        if binding is None:
            return None
        with flushed():
            results = flat_results(node, binding.function(*call_arguments(node, values), **binding.keywords))
    except Exception:  # whatever a kernel raises is told when the node runs
        return None
    return (
        None
        if any(isinstance(r, (torch.Tensor, np.ndarray)) and _numel(r) > LARGEST_FOLDED for r in results)
        else results
    )


def _numel(value: torch.Tensor | np.ndarray) -> int:
    return value.numel() if isinstance(value, torch.Tensor) else value.size


def _known_side(m: Match) -> list[Edge] | None:
    """A branch on a predicate that is known: its nodes stand in its place. So do those of all branches on it, since one
    may take what an
    earlier one made."""
    branch = m.root
    predicate, output = branch.inputs[0]
    value = constant_value(predicate, m.context.state) if predicate.type in CONSTANTS else None
    if not isinstance(value, torch.Tensor) or value.dim() != 0:
        return None
    _let_go_of_dead_fetches(m.program, (predicate, output), bool(value))
    alike = sorted((user for user in predicate.uses[output] if user.type == IF), key=lambda user: user.order)
    for each in reversed(alike):  # who takes a value goes before it does
        side, other = each.blocks[bool(value)], each.blocks[not value]
        for node in list(side):
            side.remove(node)
            each.block.insert(node, each)
        m.program.set_inputs(other.end, side.end.inputs)
        for node in reversed(list(other)):
            m.program.erase(node)
    for each in alike:
        if each is not branch:
            m.touched += [user for users in each.uses for user in users]
            for result, edge in enumerate(_given(m.program, each, bool(value))):
                m.program.replace((each, result), edge, drop=False)
            m.program.drop_if_unneeded(each)
    m.context.forget_aliases()
    return _given(m.program, branch, bool(value))


def _given(program: Program, branch: Node, side: bool) -> list[Edge]:
    """What a side of a branch gives; of a feed another name, for a fetch never becomes one and the branch goes."""
    edges = list(branch.blocks[side].end.inputs)
    for result, (source, output) in enumerate(edges):
        if source.type == FEED:
            named = program.new(op_defs.get("Identity"), [(source, output)], source, T=source.output_dtypes[output])
            branch.block.insert(named, branch)
            edges[result] = (named, 0)
    return edges


def _let_go_of_dead_fetches(program: Program, predicate: Edge, value: bool) -> None:
    """Note which fetches never have a value, now that a predicate is known; the end of the program no longer takes
    them.
    """
    end = program.top.end
    inputs, fetches, conditions = list(end.inputs), list(program.fetches), list(program.conditions)
    for number, condition in enumerate(conditions):
        if any(inputs[position] == predicate and side != value for position, side in condition or ()):
            place = fetches[number]
            if place is not None:
                inputs[place] = predicate
            fetches[number] = conditions[number] = None
    program.fetches, program.conditions = fetches, conditions
    program.set_inputs(end, inputs)


# --- shapes that are known before running ------------------------------------------------------

SHAPE_OPS = "Shape ShapeN Size Rank"


def _known_shape(m: Match) -> list[Edge] | None:
    """Shape, Size and Rank of tensors whose shape the graph knows."""
    node, made = m.root, []
    for output, (source, index) in enumerate(node.inputs):
        found = None if is_ref(source, index) else shape_value(node, source.output_shapes[index], output)
        if found is None:
            return None
        made.append((output, found))
    for source, _ in node.inputs:
        # Where a variable has no value yet, asking for its shape must raise, so somebody has to look.
        source.wanted = source.wanted or source.effect is Effect.READS
    return [(m.program.constant(found, node.output_dtypes[output], node, output), 0) for output, found in made]


def shape_value(node: Node, shape: TensorShape | None, output: int) -> torch.Tensor | None:
    """What a Shape op gives for a shape, or None where it is not known."""
    if shape is None or shape.ndims is None or (node.type != "Rank" and not shape.is_fully_defined()):
        return None
    found = shape.ndims if node.type == "Rank" else shape.num_elements() if node.type == "Size" else shape.as_list()
    return torch.tensor(found, dtype=torch_dtype(node.output_dtypes[output]))


def _known_sizes(m: Match) -> Edge | None:
    """A part of a shape that the graph knows, though it may not know the whole shape."""
    (source, output), slicing = m.root.inputs[0][0].inputs[0], m.root.inputs[1:]
    shape = None if is_ref(source, output) else source.output_shapes[output]
    if shape is None or shape.ndims is None or source.effect is Effect.READS:
        return None
    sizes = torch.tensor([-1 if size is None else size for size in shape.as_list()])
    sizes = sizes.to(torch_dtype(m.root.output_dtypes[0]))
    found = computed(m.root, [sizes, *(constant_value(edge[0], m.context.state) for edge in slicing)], m.context.state)
    if found is None or not isinstance(found[0], torch.Tensor) or (found[0] < 0).any():
        return None
    return m.constant(found[0])


# --- arithmetic --------------------------------------------------------------------------------


def _is_neutral(neutral: int) -> Callable[[Match], bool]:
    """`x op c` is x where c is neutral, of one element, and the shape of x is the result's. (x + 0.0 and x - -0.0 are
    not x for -0.0.)
    """

    def holds(m: Match) -> bool:
        constant = m.value("c")
        if not isinstance(constant, torch.Tensor) or constant.numel() != 1 or constant.item() != neutral:
            return False
        if (
            neutral == 0
            and m.root.output_dtypes[0].is_floating
            and (m.root.type != "Sub" or torch.signbit(constant).any())
        ):
            return False
        return (constant.dim() == 0 or same_shape(m.x, (m.root, 0))) and not m.context.aliases.is_buffer(m.x)

    return holds


_NEUTRAL = [("Mul", 1, True), ("Add AddV2", 0, True), ("Sub", 0, False), ("RealDiv", 1, False)]


def _negated(m: Match) -> Node | None:
    """-(c * x) and c * -x are -c * x, to the bit."""
    constant = m.value("c")
    if (
        not isinstance(constant, torch.Tensor)
        or not m.root.output_dtypes[0].is_floating
        or constant.numel() > LARGEST_FOLDED
    ):
        return None
    return m.node("Mul", [m.x, m.constant(-constant)], T=m.root.output_dtypes[0])


def _joined_factors(m: Match) -> Node | None:
    """c * (d * x) is (c * d) * x, but for rounding."""
    one, other = m.value("c"), m.value("d")
    if (
        not all(isinstance(v, torch.Tensor) and v.numel() <= LARGEST_FOLDED for v in (one, other))
        or not m.root.output_dtypes[0].is_floating
    ):
        return None
    return m.node("Mul", [m.x, m.constant(one * other)], T=m.root.output_dtypes[0])


# --- shapes that don't change ------------------------------------------------------------------

_RESHAPING = ("Reshape", "Squeeze", "ExpandDims")
_REPEATING = ("Tile", "BroadcastTo", "Sum", "Mean", "Max", "Min", "Prod", "All", "Any")


def _unchanged(m: Match) -> Edge | Node | None:
    """Reshapes to the shape there is, reductions over nothing, tiling once: their input serves as well."""
    node = m.root
    if not _keeps_values(node) or m.context.aliases.is_buffer(node.inputs[0]):
        return None
    if same_shape((node, 0), node.inputs[0]):
        return node.inputs[0]
    source = _reshaped(node.inputs[0])
    if source == node.inputs[0] or node.type != "Reshape" or node.shape() is None:
        return None
    return m.node("Reshape", [source, node.inputs[1]], **node.attrs)


def _keeps_values(node: Node) -> bool:
    """Whether a node gives the elements of its input, in their order."""
    if not node.inputs or is_ref(*node.inputs[0]):
        return False
    if node.type in _RESHAPING:
        return True
    if node.type not in _REPEATING:
        return False
    source, output = node.inputs[0]
    before, after = source.output_shapes[output], node.output_shapes[0]
    return is_known(before) and is_known(after) and before.num_elements() == after.num_elements() != 0


def _reshaped(edge: Edge) -> Edge:
    """Where the elements of a value come from, through nodes that only give them another shape, and can't fail to."""
    while _keeps_values(edge[0]) and edge[0].shape() is not None:
        source, output = edge[0].inputs[0]
        if source.shape(output) is None:
            break
        edge = source, output
    return edge


def _renamed(m: Match) -> Edge | None:
    """Users of an Identity and its like take its input."""
    return None if is_ref(*m.root.inputs[0]) else m.root.inputs[0]


def _without_reserve(m: Match) -> Node:
    """No kernel here looks at what version 3 of a batch norm reserves for its gradient."""
    names = ("epsilon", "data_format", "is_training")
    return m.node("FusedBatchNormGradV2", m.root.inputs[:5], **{name: m.root.attribute(name) for name in names})


x, c, d = value("x"), const("c"), const("d")
_MUL = op("Mul", x, c, alone=True, commutes=True)

SIMPLIFICATIONS = [
    Rule("known shapes", "shape_optimization", op(SHAPE_OPS), _known_shape),
    Rule(
        "known sizes",
        "shape_optimization",
        op("StridedSlice", op("Shape", ANY), const("begin"), const("end"), const("strides")),
        _known_sizes,
    ),
    Rule(
        "copies", "dependency_optimization", op(" ".join(t for t in registry.names() if facts_of(t).renames)), _renamed
    ),
    Rule("known branches", "constant_folding", op(IF), _known_side),
    Rule("constant folding", "constant_folding", ANY, _folded),
    *(
        Rule(
            "neutral arithmetic",
            "arithmetic_optimization",
            op(types, x, c, commutes=commutes),
            lambda m: m.x,
            _is_neutral(neutral),
        )
        for types, neutral, commutes in _NEUTRAL
    ),
    Rule("unchanged shapes", "shape_optimization", op(" ".join(_RESHAPING + _REPEATING)), _unchanged),
    Rule("batch norms' reserves", "remapping", op("FusedBatchNormGradV3"), _without_reserve),
]

FACTORS = [
    Rule("negated products", "arithmetic_optimization", op("Neg", _MUL), _negated),
    Rule(
        "negated products", "arithmetic_optimization", op("Mul", op("Neg", x, alone=True), c, commutes=True), _negated
    ),
    Rule(
        "joined factors",
        "arithmetic_optimization",
        op("Mul", op("Mul", x, d, alone=True, commutes=True), c, commutes=True),
        _joined_factors,
        bits=Bits.ROUNDED,
    ),
]
