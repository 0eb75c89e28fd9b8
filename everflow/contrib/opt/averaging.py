"""What optimizers that average over workers share: local copies of variables, their centers, a local step."""

from __future__ import annotations

from everflow.contrib.opt.wrapping import WrappingOptimizer
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import control_dependencies, device
from everflow.ops import math
from everflow.ops.control_flow import cond, no_op
from everflow.ops.variables import assign as state
from everflow.ops.variables import scope as scopes
from everflow.ops.variables.variable import global_variables_initializer, local_variables_initializer
from everflow.train.optimizer import Optimizer
from everflow.train.session_run_hook import SessionRunHook

GLOBAL_CENTER = "global_center_variable"


class CenterGetter:
    """A custom getter: a trainable variable becomes local to the worker, and its center is a global variable.

    A subclass may want a second local variable, its companion, under a scope. All are found by the variable.
    """

    _companion_scope: str | None = None

    def __init__(self, worker_device):
        self._worker_device = worker_device
        self.centers, self.companions = {}, {}

    def __call__(self, getter, name, trainable, collections, *args, **kwargs):
        if not trainable:
            if GraphKeys.LOCAL_VARIABLES in (collections or ()):
                with device(self._worker_device):
                    return getter(name, *args, trainable=trainable, collections=collections, **kwargs)
            return getter(name, *args, trainable=trainable, collections=collections, **kwargs)
        local = [GraphKeys.LOCAL_VARIABLES]
        with device(self._worker_device):
            variable = getter(name, *args, trainable=True, collections=local, **kwargs)
        options = {"trainable": False, "collections": [GraphKeys.GLOBAL_VARIABLES]}
        self.centers[variable] = getter(f"{GLOBAL_CENTER}/{name}", *args, **options, **kwargs)
        if self._companion_scope:
            with device(self._worker_device):
                options = {"trainable": False, "collections": local}
                self.companions[variable] = getter(f"{self._companion_scope}/{name}", *args, **options, **kwargs)
        return variable


def every(period, step, applied, update):
    """After `applied`, count a step; at each `period`-th of them run `update()`."""
    with control_dependencies([applied]):
        counted = state.assign_add(step, 1, name="local_step_update").op
    with control_dependencies([counted]):
        return cond(math.equal(math.mod(step, period), 0), update, no_op)


class AveragingOptimizer(WrappingOptimizer):
    """Lets a worker train its local variables; a subclass says what all do together at the end of a period."""

    def __init__(self, opt, num_worker, getter, period, use_locking, name):
        super().__init__(opt, use_locking, name)
        self._num_worker, self._getter, self._period = num_worker, getter, period
        local = [GraphKeys.LOCAL_VARIABLES]
        self._local_step = scopes.get_variable("local_step", initializer=0, trainable=False, collections=local)
        self._opt._prepare()

    get_slot, get_slot_names = Optimizer.get_slot, Optimizer.get_slot_names

    def make_session_run_hook(self, is_chief, task_index):
        """A hook for the session of this worker."""
        return CenterHook(self, is_chief, task_index=task_index)


class CenterHook(SessionRunHook):
    """Initializes what the Scaffold doesn't: local variables take the centers' values."""

    def __init__(self, optimizer, is_chief, **init_arguments):
        self._optimizer, self._is_chief, self._init_arguments = optimizer, is_chief, init_arguments

    def begin(self):
        self._local_init_op = local_variables_initializer()
        self._global_init_op = global_variables_initializer() if self._is_chief else None
        self._init_op = self._optimizer.get_init_op(**self._init_arguments)

    def after_create_session(self, session, coord):
        """Start from the centers."""
        session.run(self._init_op)
