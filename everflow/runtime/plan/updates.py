"""Rewrites of what changes variables: moving averages in one pass, the steps of many variables in one call."""

from __future__ import annotations

from collections import Counter

from everflow.framework import dtypes
from everflow.framework.op_defs import ArgDef, AttrDef, OpDef
from everflow.runtime.plan.fusion import ancestors, fused, uses_of
from everflow.runtime.plan.locking import excludes_others
from everflow.runtime.plan.program import Node, Program, is_ref
from everflow.runtime.plan.structure import structure

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
