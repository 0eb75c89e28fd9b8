"""Rewrites of what changes variables: moving averages in one call, the steps of many variables in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from everflow.framework import dtypes
from everflow.runtime.plan.locking import excludes_others
from everflow.runtime.plan.patterns import Context, Match, Pass, Rule, is_alone, op
from everflow.runtime.plan.program import Edge, Node, internal, is_ref, same_shape

if TYPE_CHECKING:
    from everflow.framework.op_defs import OpDef

SCALED = {
    "Assign": internal("_ScaleRef", "&ref rate", "&output_ref", acts=True),
    "AssignVariableOp": internal("_ScaleResource", "&resource rate", "", acts=True),
}
QUOTIENT = {
    "AssignSub": internal("_StepRef", "&ref rate moment denominator", "&output_ref", acts=True),
    "AssignSubVariableOp": internal("_StepResource", "&resource rate moment denominator", "", acts=True),
}
MOVE_TOWARDS = internal("_MoveTowards", "&variable value rate", "", acts=True)


def _pairs(node: Node) -> list[tuple[Edge, Edge]]:
    """The two inputs of a node that may stand in either order."""
    one, other = node.inputs
    return [(one, other), (other, one)]


def _reads(edge: Edge, m: Match) -> bool:
    """Whether an edge is the value that the variable of the root has when the root writes it."""
    variable = m.root.inputs[0]
    if edge == variable:
        return True
    read = edge[0]
    if read.type not in ("Identity", "ReadVariableOp") or read.inputs[0] != variable or read.block is not m.root.block:
        return False
    aliases = m.context.aliases
    return not any(aliases.is_written(made, read, m.root) for made in aliases.variables_behind(variable))


def _is_scalar(edge: Edge) -> bool:
    shape = edge[0].output_shapes[edge[1]]
    return shape is not None and shape.ndims == 0 and not is_ref(*edge)


def _is_still_good(m: Match, edges: list[Edge], since: Node) -> bool:
    """Whether some values are at the root what they were when a node took them."""
    return not m.context.aliases.changes_between(edges, since, m.root)


def _brought_forward(m: Match, change: Node, rate: Edge) -> bool:
    """Where what `change` took is written before the root runs, let the root run right after it, if nobody looks at its
    variable in between.
    """
    root, aliases = m.root, m.context.aliases
    if rate[0].order > change.order:
        return False
    if any(
        aliases.is_accessed(variable, change.order, root.order - 1)
        for variable in aliases.variables_behind(root.inputs[0])
    ):
        return False
    block, following = root.block, change.next
    if following is None:  # the root comes after, so something follows
        return False
    block.remove(root)
    block.insert(root, following)
    root.order = change.order
    return True


def _moving_average(m: Match) -> Node | None:
    """v -= (v - x) * rate, as moving averages are kept: v goes towards x, in one call."""
    node = m.root
    if node.is_used() or not is_alone(node.inputs[1], node) or node.inputs[1][0].type != "Mul":
        return None
    step = node.inputs[1][0]
    for difference, rate in _pairs(step):
        change = difference[0]
        if (
            change.type != "Sub"
            or not is_alone(difference, step)
            or not _reads(change.inputs[0], m)
            or not _is_scalar(rate)
        ):
            continue
        if not change.output_dtypes[0].is_floating or is_ref(*change.inputs[1]) or change.block is not node.block:
            continue
        if _is_still_good(m, [change.inputs[1], rate], change) or _brought_forward(m, change, rate):
            made = m.node(MOVE_TOWARDS, [node.inputs[0], change.inputs[1], rate])
            made.output_dtypes, made.output_shapes, made.uses = [], [], []
            return made
    return None


def _scaled_variable(m: Match) -> Node | None:
    """v = v * rate, as the moments of rows without a gradient fade: in place."""
    node = m.root
    product = node.inputs[1][0]
    if (
        node.input_dtypes[1] not in (dtypes.float32, dtypes.float64)
        or product.type != "Mul"
        or not is_alone(node.inputs[1], node)
    ):
        return None
    for old, rate in _pairs(product):
        if _reads(old, m) and _is_scalar(rate) and not m.context.aliases.changes_between([rate], product, node):
            return m.node(SCALED[node.type], [node.inputs[0], rate])
    return None


def _subtracted_quotient(m: Match) -> Node | None:
    """v -= rate * m / d, as optimizers step that are written in ops: in one pass."""
    node = m.root
    changed = node.inputs[1]
    quotient = changed[0]
    if (
        node.input_dtypes[1] not in (dtypes.float32, dtypes.float64)
        or quotient.type != "RealDiv"
        or not is_alone(changed, node)
    ):
        return None
    numerator, denominator = quotient.inputs
    product = numerator[0]
    if product.type != "Mul" or not is_alone(numerator, quotient) or not same_shape(denominator, changed):
        return None
    for rate, moment in _pairs(product):
        if not _is_scalar(rate) or not same_shape(moment, changed):
            continue
        if not m.context.aliases.changes_between([rate, moment, denominator], product, node):
            return m.node(QUOTIENT[node.type], [node.inputs[0], rate, moment, denominator])
    return None


UPDATES = [
    Rule("moving averages", "remapping", op("AssignSub AssignSubVariableOp"), _moving_average),
    Rule("scaled variables", "remapping", op("Assign AssignVariableOp"), _scaled_variable),
    Rule("subtracted quotients", "remapping", op("AssignSub AssignSubVariableOp"), _subtracted_quotient),
]

# --- one update of many variables -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Joint:
    """An optimizer's step for many variables: how many inputs are variables, how many the same for all, and from how
    many on it pays.
    """

    name: str
    variables: int
    shared: int
    fewest: int

    def definition(self) -> OpDef:
        held = " ".join(f"*&variables_{i}" for i in range(self.variables))
        same = " ".join(f"shared_{i}" for i in range(self.shared))
        return internal(self.name, f"{held} {same} *gradients", "", "N", acts=True)


_ADAMS, _DESCENTS = _Joint("_ApplyAdams", 3, 6, 2), _Joint("_ApplyGradientDescents", 1, 1, 4)
JOINT = {
    "ApplyAdam": _ADAMS,
    "ResourceApplyAdam": _ADAMS,
    "ApplyGradientDescent": _DESCENTS,
    "ResourceApplyGradientDescent": _DESCENTS,
}


def joint_updates(context: Context) -> int:
    """Optimizer steps of many variables with the same rates: one call for all, where the last of them stands."""
    groups: dict = {}
    for node in context.program.nodes():
        kind = JOINT.get(node.type)
        if kind is None or node.is_used() or excludes_others(node) or node.attrs.get("use_nesterov"):
            continue
        if node.input_dtypes[kind.variables + kind.shared] is dtypes.float32:
            rates = tuple(node.inputs[kind.variables : kind.variables + kind.shared])
            groups.setdefault((node.type, rates, node.device, node.block), []).append(node)
    joined = 0
    for (op_type, rates, *_), members in groups.items():
        kind, last = JOINT[op_type], members[-1]
        free = [n for n in members if _may_wait(n, last, kind, rates, context)]
        if len(free) < kind.fewest:
            continue
        inputs = [n.inputs[i] for i in range(kind.variables) for n in free]
        inputs += [*rates, *[n.inputs[kind.variables + kind.shared] for n in free]]
        made = context.program.new(kind.definition(), inputs, last, N=len(free))
        made.output_dtypes, made.output_shapes, made.uses = [], [], []
        made.wanted = True
        last.block.insert(made, last)
        for node in free:
            node.wanted = False
            context.program.erase(node)
        joined += len(free)
    return joined


def _may_wait(node: Node, last: Node, kind: _Joint, rates: Sequence[Edge], context: Context) -> bool:
    """Whether nobody looks at what a step changes, the last step included, or changes what it looks at, before the last
    step.
    """
    if node is last:
        return True
    aliases = context.aliases
    for edge in node.inputs[: kind.variables]:
        if any(aliases.is_accessed(variable, node.order, last.order) for variable in aliases.variables_behind(edge)):
            return False
    return not aliases.changes_between([*rates, node.inputs[kind.variables + kind.shared]], node, last)


JOINT_UPDATES = Pass("joint updates", "scoped_allocator_optimization", joint_updates)
