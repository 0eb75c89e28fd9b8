"""`hvd.DistributedOptimizer(..., op=hvd.Adasum)`: what is put together are the steps that processes took, not their gradients."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.scopes import colocate_with, control_dependencies, name_scope
from everflow.horovod.exchanges import Adasum, allreduce
from everflow.ops import math
from everflow.ops.control_flow.conditionals import cond
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.variables.variable import Variable
from everflow.train.optimizer import Optimizer


class AdasumOptimizer(Optimizer):
    """An optimizer that takes steps of its own and, every so often, joins what came of them with those of all processes."""

    def __init__(self, optimizer, name, use_locking, compression, passes):
        super().__init__(name=name or f"DistributedDelta{type(optimizer).__name__}", use_locking=use_locking)
        self._optimizer, self._compression, self._passes = optimizer, compression, passes

    def compute_gradients(self, *args, **kwargs):
        """(gradient, variable) of this process."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Take this process's step; after `backward_passes_per_step` of them, go where all processes' steps lead together."""
        pairs = list(grads_and_vars)
        moved = [v for g, v in pairs if g is not None]
        with name_scope(name, self._name):
            starts = [self._start(v) for v in moved]
            applied = self._optimizer.apply_gradients(pairs)
            with control_dependencies([applied]):
                joined = self._every_so_often(lambda: group(*map(self._join, moved, starts)))
            with control_dependencies([joined]):
                return no_op() if global_step is None else global_step.assign_add(1).op

    def _every_so_often(self, join):
        if self._passes == 1:
            return join()
        passed = Variable(0, trainable=False, name="passes", dtype=dtypes.int32)
        count = passed.assign_add(1)
        return cond(math.equal(math.floormod(count, self._passes), 0), join, no_op)

    def _start(self, variable):
        """Where the steps that are to be joined began: a variable of its own, saved with the others."""
        with colocate_with(variable):
            slots = self._slot_dict("delta_start")
            if variable not in slots:
                value = variable.initialized_value()
                name = f"{variable.op.name}/delta_start"
                slots[variable] = Variable(value, trainable=False, name=name, dtype=variable.dtype.base_dtype)
            return slots[variable]

    def _join(self, variable, start):
        delta = variable.read_value() - start.read_value()
        name = f"delta_{variable.op.name.replace('/', '_')}"
        total = start.read_value() + allreduce(delta, op=Adasum, compression=self._compression, name=name)
        moved = variable.assign(total)
        with control_dependencies([moved.op if hasattr(moved, "op") else moved]):
            return start.assign(variable.read_value()).op

    def get_slot(self, var, name):
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self):
        return self._optimizer.get_slot_names()

    def variables(self):
        return self._optimizer.variables()
