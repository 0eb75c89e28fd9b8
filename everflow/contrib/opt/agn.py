"""Accumulated gradient normalization (Hermans, Spanakis and Möckel, 2017): workers give mean gradients."""

from __future__ import annotations

from everflow.contrib.opt.averaging import AveragingOptimizer, CenterGetter
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import colocate_with, control_dependencies, get_collection_ref
from everflow.ops import array, math
from everflow.ops.control_flow import cond, group, no_op
from everflow.ops.variables import assign as state
from everflow.ops.variables.variable import global_variables, trainable_variables
from everflow.platform.signatures import takes
from everflow.train.optimizer import Optimizer


class AGNCustomGetter(CenterGetter):
    """The custom getter for `AGNOptimizer`: local variables, each with a global center and a local sum of gradients."""

    _companion_scope = "grad_variable"


class AGNOptimizer(AveragingOptimizer):
    """Lets each worker train by `optimizer`; every `communication_period` steps mean gradients move the centers.

    >>> getter = tf.contrib.opt.AGNCustomGetter(worker_device="/job:worker/task:0")
    >>> with tf.variable_scope("", custom_getter=getter):
    ...     loss = build_model()
    >>> optimizer = tf.contrib.opt.AGNOptimizer(tf.train.GradientDescentOptimizer(0.1), 2, getter)
    """

    def __init__(
        self, optimizer, num_worker, custom_getter, communication_period=10, use_locking=True, name="AGNOptimizer"
    ):
        super().__init__(optimizer, num_worker, custom_getter, communication_period, use_locking, name)

    @takes(Optimizer.compute_gradients)
    def compute_gradients(self, loss, var_list=None, **given):
        """Those of `optimizer`, of the local variables."""
        return self._opt.compute_gradients(loss, var_list or trainable_variables(), **given)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Apply `optimizer`'s updates and add to the sums; `global_step` counts periods, which update centers."""
        grads_and_vars = list(grads_and_vars)
        variables = [v for _, v in grads_and_vars]
        applied = self._apply_locally(grads_and_vars)
        summed = [state.assign_add(self._getter.companions[v], g).op for g, v in grads_and_vars if g is not None]
        counted = state.assign_add(self._local_step, 1, name="local_step_update").op
        with control_dependencies([counted]):
            due = math.equal(math.mod(self._local_step, self._period), 0)
        with control_dependencies([applied, *summed]):
            return cond(due, lambda: self._exchange(variables, global_step), no_op)

    def _apply_locally(self, grads_and_vars):
        """`optimizer`'s updates. What it keeps for them, as the variables themselves, is the worker's own."""
        known = set(global_variables())
        applied = self._opt.apply_gradients(grads_and_vars)
        kept = get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
        get_collection_ref(GraphKeys.LOCAL_VARIABLES).extend(v for v in kept if v not in known)
        kept[:] = [v for v in kept if v in known]
        return applied

    def _exchange(self, variables, global_step):
        centers = [self._getter.centers[v] for v in variables]
        sums = [self._getter.companions[v] for v in variables]
        means = [state.assign(total, total / self._period) for total in sums]
        with control_dependencies(means):
            moved = self._opt.apply_gradients(zip(sums, centers))
        updates = []
        with control_dependencies([moved]):
            if global_step is not None:
                with colocate_with(global_step):
                    updates.append(state.assign_add(global_step, 1))
            updates += [state.assign(v, center.read_value()) for v, center in zip(variables, centers)]
            updates += [state.assign(total, array.zeros_like(total)) for total in sums]
            return group(*updates)

    def get_init_op(self, task_index):
        """An op that lets local variables start from the centers, and the sums from zero."""
        copies = [state.assign(v, center) for v, center in self._getter.centers.items()]
        copies += [state.assign(total, array.zeros_like(total)) for total in self._getter.companions.values()]
        return group(*copies)
