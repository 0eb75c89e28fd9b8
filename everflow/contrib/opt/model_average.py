"""Model averaging: workers train alone, and every so many steps all start again from the mean of their variables."""

from __future__ import annotations

from everflow.contrib.opt.averaging import AveragingOptimizer, CenterGetter, CenterHook, every
from everflow.framework import dtypes
from everflow.framework.scopes import colocate_with, control_dependencies, device, name_scope
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import group
from everflow.ops.queues.accumulators import ConditionalAccumulator
from everflow.ops.queues.queues import FIFOQueue
from everflow.ops.variables import assign as state


class ModelAverageCustomGetter(CenterGetter):
    """The custom getter for `ModelAverageOptimizer`: local variables, each with a global one that holds the mean."""


class ModelAverageOptimizer(AveragingOptimizer):
    """Lets each worker train by `opt`, and averages all variables every `interval_steps` steps."""

    def __init__(
        self,
        opt,
        num_worker,
        is_chief,
        ma_custom_getter,
        interval_steps=100,
        use_locking=True,
        name="ModelAverageOptimizer",
    ):
        super().__init__(opt, num_worker, ma_custom_getter, interval_steps, use_locking, name)
        self._is_chief, self._accumulators = is_chief, []

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Apply `opt`'s updates, and average at the end of an interval. `global_step` counts intervals."""
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required")
        variables = [v for _, v in grads_and_vars]
        applied = self._opt.apply_gradients(grads_and_vars)
        made = every(self._period, self._local_step, applied, lambda: self._average(variables, global_step))
        self._chief_init_op = self._set_global_steps(global_step)
        return made

    def _average(self, variables, global_step):
        with colocate_with(global_step), device(global_step.device):
            queue = FIFOQueue(max(self._num_worker - 1, 1), [dtypes.bool], shapes=[[]], shared_name="sync_queue")
        centers = [self._getter.centers[v] for v in variables]
        given, means = [], []
        with name_scope(None, self._name + "/global"):
            for variable, center in zip(variables, centers):
                with device(center.device):
                    dtype, shape, name = variable.dtype.base_dtype, variable.shape, f"{center.name}/var_accum"
                    accumulator = ConditionalAccumulator(dtype, shape, shared_name=name)
                    value = getattr(variable, "_ref", variable.value)()
                    given.append(accumulator.apply_grad(value, local_step=global_step))
                    means.append(accumulator.take_grad(self._num_worker))
                self._accumulators.append((accumulator, center.device))
        if self._is_chief:
            with control_dependencies(given):
                updates = []
                for center, mean in zip(centers, means):
                    with device(center.device):
                        updates.append(state.assign(center, mean))
                with device(global_step.device):
                    updates.append(state.assign_add(global_step, 1))
            with control_dependencies(updates), device(global_step.device):
                tokens = array.fill([self._num_worker - 1], constant(False))
                synced = queue.enqueue_many(tokens)
        else:
            with device(global_step.device), control_dependencies(given):
                synced = queue.dequeue()
        with control_dependencies([synced]):
            copies = []
            for variable, center in zip(variables, centers):
                with device(variable.device):
                    copies.append(state.assign(variable, center.read_value()))
        return group(*copies, synced)

    def _set_global_steps(self, global_step):
        made = []
        for accumulator, where in self._accumulators:
            with device(where):
                made.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
        return group(*made)

    def get_init_op(self):
        """An op that lets local variables start from the centers."""
        copies = []
        for variable, center in self._getter.centers.items():
            with device(variable.device):
                copies.append(state.assign(variable, center.read_value()))
        return group(*copies)

    def make_session_run_hook(self):
        """A hook for the session of this worker."""
        return _ModelAverageHook(self, self._is_chief)


class _ModelAverageHook(CenterHook):
    def after_create_session(self, session, coord):
        """The chief also tells the accumulators which step it is."""
        if self._is_chief:
            session.run(self._optimizer._chief_init_op)
        super().after_create_session(session, coord)
