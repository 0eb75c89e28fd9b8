"""Rewrites of what changes variables: moving averages in one pass, the steps of many variables in one call."""

from __future__ import annotations

from collections import Counter

from everflow.framework import dtypes
from everflow.framework.op_defs import ArgDef, AttrDef, OpDef
from everflow.runtime.plan.aliasing import variable_of
from everflow.runtime.plan.fusion import ancestors, fused, put, reads_of_variables, uses_of
from everflow.runtime.plan.locking import excludes_others
from everflow.runtime.plan.program import Node, Program, is_ref
from everflow.runtime.plan.schedule import variable_accesses
from everflow.runtime.plan.structure import structure

_SCALED = {
    "Assign": OpDef("_ScaleRef", (ArgDef("ref", is_ref=True), ArgDef("rate")), (ArgDef("output_ref", is_ref=True),), is_stateful=True),
    "AssignVariableOp": OpDef("_ScaleResource", (ArgDef("resource", is_ref=True), ArgDef("rate")), (), is_stateful=True),
}
_STEP = (ArgDef("rate"), ArgDef("moment"), ArgDef("denominator"))
_QUOTIENT = {
    "AssignSub": OpDef("_StepRef", (ArgDef("ref", is_ref=True), *_STEP), (ArgDef("output_ref", is_ref=True),), is_stateful=True),
    "AssignSubVariableOp": OpDef("_StepResource", (ArgDef("resource", is_ref=True), *_STEP), (), is_stateful=True),
}
_MOVE_TOWARDS = OpDef("_MoveTowards", (ArgDef("variable", is_ref=True), ArgDef("value"), ArgDef("rate")), (), is_stateful=True)


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
            made[node] = [fused(program, node, _MOVE_TOWARDS, [node.inputs[0], change.inputs[1], rate], [change, step])]
            made[node][0].output_dtypes, made[node][0].output_shapes = [], []
            break
    return _put(program, made)


def _put(program: Program, made: dict[Node, list[Node]]) -> int:
    """Put new writers in the place of old ones, for those who wait for them and those who fetch them, too."""
    count = put(program, made)
    program.fetches = [made[f][-1] if isinstance(f, Node) and f in made else f for f in program.fetches]
    return count


def scaled_variables(program: Program, session) -> int:
    """v = v * rate, as the moments of rows without a gradient fade: in place."""
    uses = uses_of(program)
    writers, _ = variable_accesses(program)
    above, bits = ancestors(program, [w for found in writers.values() for w in found])
    made: dict[Node, list[Node]] = {}

    def nobody_comes_between(read: Node, node: Node) -> bool:
        others = [w for w in writers[variable_of(node)] if w is not node]
        return all(above[read] & bits[w] or above[w] & bits[node] for w in others)

    for node in program.nodes:
        if node.type not in _SCALED or node.input_dtypes[1] not in (dtypes.float32, dtypes.float64):
            continue
        variable, value = node.inputs
        product = value[0]
        if product.type != "Mul" or uses[value] != 1:
            continue
        for old, rate in (product.inputs, product.inputs[::-1]):
            read = product if old == variable else old[0]
            if _reads(old, variable) and _is_scalar(rate) and nobody_comes_between(read, node):
                made[node] = [fused(program, node, _SCALED[node.type], [variable, rate], [product])]
                break
    return _put(program, made)


def subtracted_quotients(program: Program, session) -> int:
    """v -= rate * m / d, as optimizers step that are written in ops: in one pass."""
    uses = uses_of(program)
    comes_too_late = reads_of_variables(program)
    made: dict[Node, list[Node]] = {}
    for node in program.nodes:
        if node.type not in _QUOTIENT or node.input_dtypes[1] not in (dtypes.float32, dtypes.float64):
            continue
        variable, value = node.inputs
        quotient = value[0]
        if quotient.type != "RealDiv" or uses[value] != 1 or comes_too_late(quotient, node):
            continue
        numerator, denominator = quotient.inputs
        product = numerator[0]
        if product.type != "Mul" or uses[numerator] != 1 or comes_too_late(product, node) or not _are_alike(denominator, value):
            continue
        for rate, moment in (product.inputs, product.inputs[::-1]):
            if _is_scalar(rate) and _are_alike(moment, value):
                inputs = [variable, rate, moment, denominator]
                made[node] = [fused(program, node, _QUOTIENT[node.type], inputs, [quotient, product])]
                break
    return _put(program, made)


def _are_alike(edge, other) -> bool:
    """Whether both have the same known shape."""
    shapes = [node.output_shapes[output] for node, output in (edge, other)]
    return all(s is not None and s.is_fully_defined() for s in shapes) and shapes[0].as_list() == shapes[1].as_list()


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


def _joint(op_type: str, variables: int, shared: int) -> OpDef:
    held = tuple(ArgDef(f"variables_{i}", number_attr="N", is_ref=True) for i in range(variables))
    same = tuple(ArgDef(f"shared_{i}") for i in range(shared))
    return OpDef(op_type, (*held, *same, ArgDef("gradients", number_attr="N")), (), (AttrDef("N", "int"),), is_stateful=True)


_DEFINITIONS = {joint: _joint(joint, variables, shared) for joint, variables, shared, *_ in _UPDATES.values()}


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
    above, bits = ancestors(program, candidates)
    joined: dict[Node, Node] = {}
    added: dict[Node, list[Node]] = {}
    for (op_type, same_for_all, *_), members in groups.items():
        theirs = sum(bits[n] for n in members)
        free = [n for n in members if not above[n] & theirs]
        joint, variables, _, gradient, fewest = _UPDATES[op_type]
        if len(free) < fewest:
            continue
        inputs = [n.inputs[i] for i in range(variables) for n in free]
        inputs += [*same_for_all, *[n.inputs[gradient] for n in free]]
        made = fused(program, free[-1], _DEFINITIONS[joint], inputs, free, N=len(free))
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
