"""Elastic averaging SGD (Zhang, Choromanska and LeCun, 2015): workers explore around a center that they pull along."""

from __future__ import annotations

from everflow.contrib.opt.averaging import AveragingOptimizer, CenterGetter, every
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import colocate_with, control_dependencies, device
from everflow.ops import math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import group, no_op
from everflow.ops.queues.queues import FIFOQueue
from everflow.ops.variables import assign as state
from everflow.ops.variables.variable import trainable_variables
from everflow.platform.signatures import takes
from everflow.train.optimizer import Optimizer
from everflow.train.saver import Saver


class ElasticAverageCustomGetter(CenterGetter):
    """The custom getter for `ElasticAverageOptimizer`: local variables, with a global center and a local copy of it."""

    _companion_scope = "local_center_variable"


class ElasticAverageOptimizer(AveragingOptimizer):
    """Lets each worker train by `opt`; every `communication_period` steps worker and center move towards each other.

    >>> getter = tf.contrib.opt.ElasticAverageCustomGetter(worker_device="/job:worker/task:0")
    >>> with tf.variable_scope("", custom_getter=getter):
    ...     loss = build_model()
    >>> optimizer = tf.contrib.opt.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 2, getter)
    """

    BETA = 0.9

    def __init__(self, opt, num_worker, ea_custom_getter, communication_period=10, moving_rate=None, rho=None, use_locking=True,
                 synchronous=False, name="ElasticAverageOptimizer"):  # fmt: skip
        self._synchronous = synchronous
        self._moving_rate = self.BETA / communication_period / num_worker if moving_rate is None else moving_rate
        rate = opt._learning_rate if hasattr(opt, "_learning_rate") else opt._lr
        self._rho = self._moving_rate / rate if rho is None else rho
        super().__init__(opt, num_worker, ea_custom_getter, communication_period, use_locking, name)

    @takes(Optimizer.compute_gradients)
    def compute_gradients(self, loss, var_list=None, **given):
        """Gradients of the loss and of the distance from the local copy of the center."""
        var_list = var_list or trainable_variables()
        distances = [math.subtract(v, self._getter.companions[v]) for v in var_list]
        penalty = self._rho * math.add_n([raw.L2Loss(t=distance) for distance in distances])
        return self._opt.compute_gradients(loss + penalty, var_list, **given)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Apply `opt`'s updates, then, at the end of a period, the elastic ones. `global_step` counts periods."""
        variables = [v for _, v in grads_and_vars]
        applied = self._opt.apply_gradients(grads_and_vars)
        return every(self._period, self._local_step, applied, lambda: self._exchange(variables, global_step))

    def _exchange(self, variables, global_step):
        centers = [self._getter.centers[v] for v in variables]
        local_centers = [self._getter.companions[v] for v in variables]
        fetched = [state.assign(local, center) for local, center in zip(local_centers, centers)]
        updates = []
        with control_dependencies(fetched):
            distances = []
            for variable, local in zip(variables, local_centers):
                with device(variable.device):
                    distances.append(math.subtract(variable, local))
            for variable, center, distance in zip(variables, centers, distances):
                with device(variable.device):
                    updates.append(state.assign_sub(variable, math.multiply(self._moving_rate, distance)))
                with device(center.device):
                    updates.append(state.assign_add(center, math.multiply(self._moving_rate, distance)))
            if global_step is not None:
                with colocate_with(global_step):
                    updates.append(state.assign_add(global_step, 1))
        return group(*updates)

    def get_init_op(self, task_index):
        """An op that lets local variables start from the centers; with `synchronous` workers wait for each other."""
        copies = [state.assign(v, center) for v, center in self._getter.centers.items()]
        copies += [state.assign(local, self._getter.centers[v]) for v, local in self._getter.companions.items()]
        started = group(*copies)
        if not (self._synchronous and self._num_worker > 1):
            return started
        queues = [
            FIFOQueue(self._num_worker, [dtypes.bool], shapes=[[]], shared_name=f"variable_init_sync_queue{i}")
            for i in range(self._num_worker)
        ]
        token = constant(False)
        with control_dependencies([started]):
            told = [no_op() if i == task_index else queue.enqueue(token) for i, queue in enumerate(queues)]
        heard = queues[task_index].dequeue_many(self._num_worker - 1)
        return group(*told, heard)

    def swapping_saver(self, var_list=None, name="swapping_saver", **kwargs):
        """A Saver that saves the centers under the names of the variables."""
        var_list = trainable_variables() if var_list is None else var_list
        named = var_list if isinstance(var_list, dict) else {v.op.name: v for v in var_list}
        return Saver({key: self._getter.centers.get(v, v) for key, v in named.items()}, name=name, **kwargs)
