"""Loops for training steps, drawn inside of computations for TPUs: `while_loop` and `repeat` with an infeed."""

from __future__ import annotations

from everflow.framework import nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Operation
from everflow.ops.array import constant
from everflow.ops.control_flow import loops
from everflow.ops.control_flow.grouping import tuple as grouped
from everflow.tpu.replication import wrong_arity


def while_loop(condition, body, inputs=None, infeed_queue=None, name=None):
    """Repeat `body` while `condition` holds; what the infeed queue gives comes after the inputs of `body`.

    `body` returns its tensors followed by operations, which each round waits for.
    """
    inputs = [] if inputs is None else [convert_to_tensor(x) for x in inputs]
    types = [tensor.dtype for tensor in inputs]
    arity = len(inputs)
    _check_arity("condition", condition, inputs, None)
    _check_arity("body", body, inputs, infeed_queue)
    if not inputs:
        inputs = [constant(0)]

    def loop_condition(*carried):
        return condition(*carried[:arity])

    def loop_body(*carried):
        given, waits = list(carried[:arity]), []
        if infeed_queue is not None:
            fed = infeed_queue.generate_dequeue_op(tpu_device=0)
            given += list(fed)
            waits = [fed[0].op] if fed else []
        tensors, operations = _tensors_and_operations(body(*given))
        if [tensor.dtype for tensor in tensors] != types:
            raise TypeError(
                f"The body of a loop on a TPU takes {types} and must return the same, not {[t.dtype for t in tensors]}."
            )
        tensors = tensors or [constant(0)]
        waits = operations + waits
        return grouped(tensors, control_inputs=waits) if waits else tensors

    outputs = loops.while_loop(loop_condition, loop_body, inputs, name="", parallel_iterations=1)
    if arity:
        return outputs
    return nest.flatten(outputs)[0].op


def repeat(n, body, inputs=None, infeed_queue=None, name=None):
    """Call `body` so many times, on a TPU core; its results are the inputs of the next round."""

    def counted(i, *carried):
        following = i + 1
        outputs = body(*carried)
        return following, *(outputs if isinstance(outputs, (list, tuple)) else [outputs])

    inputs = [] if inputs is None else inputs if isinstance(inputs, (list, tuple)) else [inputs]
    _check_arity("body", body, inputs, infeed_queue)
    outputs = while_loop(lambda i, *carried: i < n, counted, [0, *inputs], infeed_queue, name)
    return outputs[1:] if inputs else nest.flatten(outputs)[0].op


def _check_arity(what, function, inputs, infeed_queue):
    fed = 0 if infeed_queue is None else infeed_queue.number_of_tuple_elements
    wrong = wrong_arity(function, len(inputs) + fed)
    if wrong:
        names = [getattr(x, "name", x) for x in inputs]
        raise TypeError(f"The loop's {what} is given {names} and {fed} values from the infeed; it takes {wrong}.")


def _tensors_and_operations(outputs):
    flat = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    flat = [x if isinstance(x, Operation) else convert_to_tensor(x) for x in flat]
    operations = [x for x in flat if isinstance(x, Operation)]
    tensors = list(flat[: len(flat) - len(operations)])
    if any(isinstance(x, Operation) for x in tensors):
        raise ValueError(f"The body of a loop on a TPU returns its Tensors followed by its Operations, not {outputs}.")
    return tensors, operations
