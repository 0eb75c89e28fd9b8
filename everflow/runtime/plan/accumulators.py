"""A rewrite of loops that add up gradients: what the rounds add is made together, many rows at a time."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.op_defs import ArgDef, OpDef
from everflow.runtime.plan.fusion import TRANSPOSES, fused, is_float_matmul, transposes, uses_of
from everflow.runtime.plan.program import Node, Program
from everflow.runtime.plan.stores import views_of_variables
from everflow.runtime.plan.structure import EXIT, MERGE, NEXT, is_loop_switch
from everflow.runtime.plan.sums import is_matrix

_START = OpDef("_RunningSum", (ArgDef("start"),), (ArgDef("sum"),))
_ADD_MATMUL = OpDef("_RunningSumOfMatMuls", (ArgDef("sum"), ArgDef("a"), ArgDef("b")), (ArgDef("sum"),), TRANSPOSES)
_ADD_ROWS = OpDef("_RunningSumOfRows", (ArgDef("sum"), ArgDef("values")), (ArgDef("sum"),))
_TOTAL = OpDef("_Total", (ArgDef("sum"),), (ArgDef("total"),))


def running_sums(program: Program, session) -> int:
    """total + a·b, or total + the sum of x's rows, in each round of a loop that does nothing else with the total.

    The loop then carries a `RunningSum` (see `kernels/running_sums.py`), which becomes a tensor where the loop is left.
    """
    leaving = [node for node in program.nodes if node.type in EXIT]
    if not leaving:
        return 0
    uses = uses_of(program)
    may_change = views_of_variables(program)
    starts: dict[Node, Node] = {}
    steps: dict[Node, Node] = {}
    totals: dict[Node, Node] = {}
    for leave in leaving:
        circle = _circle(leave, uses)
        step = _step(program, circle, uses) if circle else None
        if step is None or any(may_change(edge) for edge in step.inputs[1:]):
            continue
        enter, merge, switch, add, onward = circle
        starts[enter] = start = fused(program, enter, _START, enter.inputs, [])
        steps[add] = step
        totals[leave] = total = fused(program, leave, _TOTAL, [], [])
        start.controls, total.controls, enter.inputs = [], [], [(start, 0)]
        for node in (start, enter, merge, switch, step, onward, leave):
            node.output_dtypes = [dtypes.variant if d.is_floating else d for d in node.output_dtypes]
    if totals:
        program.insert({node: [new] for node, new in (starts | steps | totals).items()})
        program.replace({(node, 0): (new, 0) for node, new in (steps | totals).items()}, steps)
        for leave, total in totals.items():
            total.inputs = [(leave, 0)]
        program.sort()
    return len(totals)


def _circle(leave: Node, uses) -> tuple[Node, ...] | None:
    """The nodes by which a total goes round a loop that it leaves by an Exit, where nothing else looks at it: Enter, Merge, Switch,
    the addition and NextIteration."""
    switch, output = leave.inputs[0]
    if not is_loop_switch(switch) or output != 0 or switch.inputs[0][0].type not in MERGE:
        return None
    merge = switch.inputs[0][0]
    onward = next((n for n, _ in merge.inputs if n.type in NEXT), None)
    enter = next((n for n, _ in merge.inputs if n.type == "Enter"), None)
    if enter is None or onward is None or len(merge.inputs) != 2:
        return None
    add = onward.inputs[0][0]
    taken_once = [(enter, 0), (merge, 0), (switch, 0), (switch, 1), (add, 0), (onward, 0)]
    if add.type not in ("Add", "AddV2") or (switch, 1) not in add.inputs or any(uses[e] != 1 for e in taken_once) or uses[merge, 1]:
        return None
    return enter, merge, switch, add, onward


def _step(program: Program, circle: tuple[Node, ...], uses) -> Node | None:
    """What is to stand for the addition, if it is one that can wait."""
    enter, _, switch, add, _ = circle
    made, output = addend = next(e for e in add.inputs if e != (switch, 1))
    source, place = enter.inputs[0]
    shapes = source.output_shapes[place], made.output_shapes[output]
    if add.output_dtypes[0] not in (dtypes.float32, dtypes.float64) or len({node.device for node in (*circle, made)}) > 1:
        return None
    if any(s is None or not s.is_fully_defined() for s in shapes) or shapes[0].as_list() != shapes[1].as_list():
        return None
    if is_float_matmul(addend, uses):
        return fused(program, add, _ADD_MATMUL, [(switch, 1), *made.inputs], [made], **transposes(made))
    if made.type == "BiasAddGrad" and uses[addend] == 1 and is_matrix(made.inputs[0]):
        return fused(program, add, _ADD_ROWS, [(switch, 1), *made.inputs], [made])
    return None
