"""Several steps in one run: a loop over an iterator's elements, and what its last step leaves behind."""

from __future__ import annotations

from everflow.distribute import context
from everflow.framework import dtypes, nest
from everflow.framework.operation import Operation
from everflow.framework.scopes import control_dependencies
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.grouping import group
from everflow.ops.control_flow.loops import while_loop


class MultiStepContext:
    """What a step function leaves for after the last step."""

    def __init__(self):
        self._last_step_outputs = {}
        self._last_step_outputs_reduce_ops = {}
        self._non_tensor_outputs = {}
        self.run_op = None

    last_step_outputs = property(lambda self: self._last_step_outputs, doc="Tensors of the last step, by name.")
    non_tensor_outputs = property(lambda self: self._non_tensor_outputs, doc="What isn't a tensor, by name.")

    def _set_last_step_outputs(self, outputs):
        if not isinstance(outputs, dict):
            raise ValueError(f"Outputs of the last step are a dictionary, not {outputs!r}")
        self._last_step_outputs = outputs

    def set_last_step_output(self, name, output, reduce_op=None):
        """Keep a tensor of the last step; with `reduce_op`, its sum or mean over the replicas."""
        replica = context.get_replica_context()
        if context.in_cross_replica_context() or replica is None:
            self._keep(context.get_strategy(), name, output, reduce_op)
            return

        def merge(strategy, value):
            self._keep(strategy, name, value, reduce_op)

        replica.merge_call(merge, args=(output,))

    def _keep(self, strategy, name, output, reduce_op):
        self._last_step_outputs_reduce_ops[name] = reduce_op
        self._last_step_outputs[name] = output if reduce_op is None else strategy.reduce(reduce_op, output, axis=None)

    def set_non_tensor_output(self, name, output):
        """Keep what isn't a tensor; of replicas, all of theirs."""
        replica = context.get_replica_context()
        if context.in_cross_replica_context() or replica is None:
            self._non_tensor_outputs[name] = output
            return

        def merge(strategy, value):
            self._non_tensor_outputs[name] = strategy.experimental_local_results(value)

        replica.merge_call(merge, args=(output,))


def run_steps(extended, fn, iterator, iterations, initial_loop_values=None) -> MultiStepContext:
    """`fn(context, inputs)` in a loop over the iterator; `run_op` of the context runs it."""
    made = MultiStepContext()
    first = initial_loop_values or {}
    names = nest.flatten(first)

    def body(i, *_):
        ran = fn(made, iterator.get_next())
        if isinstance(ran, Operation):
            ran = [ran]
        left = nest.flatten(made.last_step_outputs)
        with control_dependencies(left + [op for op in nest.flatten(ran) if op is not None]):
            return [i + 1, *left]

    loop_vars = [constant(0, dtypes.int32), *names]
    results = while_loop(
        lambda i, *_: i < iterations,
        body,
        loop_vars,
        parallel_iterations=1,
        back_prop=False,
        swap_memory=False,
        return_same_structure=True,
    )
    outputs = results[1:]
    made.run_op = group(results)
    made._set_last_step_outputs(nest.pack_sequence_as(made.last_step_outputs, outputs))
    for name, reduce_op in made._last_step_outputs_reduce_ops.items():
        if reduce_op is None:
            value = made._last_step_outputs[name]
            made._last_step_outputs[name] = (
                extended._local_results(value)[0] if len(extended.worker_devices) == 1 else value
            )
    return made
