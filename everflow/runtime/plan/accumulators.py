"""A rewrite of loops that add up gradients: what the rounds add is made together, many rows at a time."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.runtime.plan.patterns import Context, is_alone
from everflow.runtime.plan.products import is_float_matmul, transposes
from everflow.runtime.plan.program import LOOP, Node, internal, loop_variables
from everflow.runtime.plan.sums import is_matrix

START = internal("_RunningSum", "start", "sum")
ADD_MATMUL = internal("_RunningSumOfMatMuls", "sum a b", "sum", "transpose_a transpose_b")
ADD_ROWS = internal("_RunningSumOfRows", "sum values", "sum")
TOTAL = internal("_Total", "sum", "total")


def running_sums(context: Context) -> int:
    """total + a·b, or total + the sum of x's rows, in each round of a loop that does nothing else with the total.

    The loop then carries a `RunningSum` (see `kernels/math/running_sums.py`), which becomes a tensor where the loop is
    left.
    """
    count = 0
    for loop in [node for node in context.program.nodes() if node.type == LOOP]:
        for position, variable in enumerate(loop_variables(loop)):
            count += _waits_with_sum(context, loop, position, variable)
    return count


def _waits_with_sum(context: Context, loop: Node, position: int, variable: Node) -> bool:
    condition, body = loop.blocks
    add = body.end.inputs[position][0]
    total = (variable, 0)
    if (
        add.type not in ("Add", "AddV2")
        or total not in add.inputs
        or add.block is not body
        or not is_alone((add, 0), body.end)
    ):
        return False
    # Only the addition and the results of the loop may take the total.
    if set(variable.uses[0]) - {add, condition.end} or variable.uses[0][add] != 1 or condition.end.inputs[0] == total:
        return False
    addend = next(e for e in add.inputs if e != total)
    made, output = addend
    start, place = loop.inputs[position]
    if add.output_dtypes[0] not in (dtypes.float32, dtypes.float64) or {add.device, made.device} != {loop.device}:
        return False
    if start.shape(place) is None or start.shape(place) != made.shape(output) or not is_alone(addend, add):
        return False
    program = context.program
    if any(context.aliases.is_buffer(edge) for edge in made.inputs):
        return False
    if is_float_matmul(addend):
        step = program.new(ADD_MATMUL, [total, *made.inputs], add, **transposes(made))
    elif made.type == "BiasAddGrad" and is_matrix(made.inputs[0]):
        step = program.new(ADD_ROWS, [total, *made.inputs], add)
    else:
        return False
    program.substitute(add, step)
    first = program.new(START, [loop.inputs[position]], start)
    first.output_dtypes, first.output_shapes, first.uses = [dtypes.variant], [start.output_shapes[place]], [{}]
    loop.block.insert(first, loop)
    program.set_inputs(loop, [(first, 0) if i == position else e for i, e in enumerate(loop.inputs)])
    step.output_dtypes = variable.output_dtypes = [dtypes.variant]
    for result, edge in enumerate(condition.end.inputs[1:]):
        if edge == total:
            _read_total(context, loop, result)
    return True


def _read_total(context: Context, loop: Node, result: int) -> None:
    """Let who takes a result of the loop take what the running sum comes to."""
    program = context.program
    total = program.new(TOTAL, [], loop)
    total.output_dtypes, total.output_shapes, total.uses = (
        [loop.output_dtypes[result]],
        [loop.output_shapes[result]],
        [{}],
    )
    program.replace((loop, result), (total, 0), drop=False)
    program.set_inputs(total, [(loop, result)])
    loop.output_dtypes[result] = dtypes.variant
    following = loop.next
    if following is None:
        loop.block.append(total)
        total.order = loop.order
    else:
        loop.block.insert(total, following)
