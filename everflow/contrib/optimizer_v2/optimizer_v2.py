"""`OptimizerV2`: the base class of optimizers that keep nothing in attributes but hyperparameters as they were given. What
belongs to a graph, tensors of these and slots of variables, is in a state.
"""

from __future__ import annotations

from everflow.framework import attachments, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import (
    colocate_with,
    control_dependencies,
    executing_eagerly,
    get_default_graph,
    init_scope,
    name_scope,
)
from everflow.ops import math
from everflow.ops.control_flow import grouping
from everflow.ops.variables import assign as state_ops
from everflow.train.optimizer import (
    Optimizer,
    _as_train_op,
    _check_any_gradient,
    _deduplicate_indexed_slices,
    _Target,
)


class _OptimizerV2State:
    """What an optimizer has in a graph: hyperparameters as tensors, slots and other variables."""

    def __init__(self, optimizer, hyper):
        self._optimizer = optimizer
        self._hyper = hyper

    def get_hyper(self, name, dtype=None):
        """A hyperparameter as a tensor, of another type where one is given."""
        tensor = self._hyper[name]
        return tensor if dtype is None or tensor.dtype == dtype else math.cast(tensor, dtype)

    def get_slot(self, var, name):
        """The slot of a variable, or None."""
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self):
        return self._optimizer.get_slot_names()

    def create_slot(self, var, val, slot_name, optional_op_name=None):
        """The slot of a variable, which starts as `val`."""
        return self._optimizer._get_or_make_slot(var, val, slot_name, optional_op_name or self._optimizer.get_name())

    def create_slot_with_initializer(self, var, initializer, shape, dtype, slot_name, optional_op_name=None):
        """The slot of a variable, which starts as an initializer says."""
        return self._optimizer._get_or_make_slot_with_initializer(
            var, initializer, shape, dtype, slot_name, optional_op_name or self._optimizer.get_name()
        )

    def zeros_slot(self, var, slot_name, optional_op_name=None):
        """The slot of a variable, which starts as zeros."""
        return self._optimizer._zeros_slot(var, slot_name, optional_op_name or self._optimizer.get_name())

    def create_non_slot(self, initial_value, name, colocate_with=None):
        """A variable of the optimizer as a whole."""
        return self._optimizer._create_non_slot_variable(initial_value, name, colocate_with)

    def get_non_slot(self, name):
        """A variable of the optimizer as a whole, or None."""
        return self._optimizer._get_non_slot_variable(name, get_default_graph())


class _Given:
    """An optimizer with its state, as what takes gradients of one variable calls it."""

    def __init__(self, optimizer, state):
        for name in (
            "_apply_dense",
            "_resource_apply_dense",
            "_apply_sparse_duplicate_indices",
            "_resource_apply_sparse_duplicate_indices",
        ):
            method = getattr(optimizer, name)
            setattr(self, name, lambda *args, method=method: method(*args, state))


class OptimizerV2(Optimizer):
    """An optimizer whose methods are given a state.

    A subclass calls `_set_hyper` in its constructor, makes slots in `_create_vars(var_list, state)`, and changes variables in
    `_apply_dense(grad, var, state)` and its kin.

    Args:
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.
    """

    def __init__(self, use_locking, name):
        super().__init__(use_locking, name)
        self._hyper = {}

    def _set_hyper(self, name, value):
        """Keep a hyperparameter: a number, a tensor, or a function that gives one."""
        self._hyper[name] = value

    def _state_in(self, scope):
        """The state for one call: hyperparameters become tensors, in the order of their names."""
        with name_scope(scope):
            hyper = {
                name: convert_to_tensor(self._call_if_callable(value), name=name)
                for name, value in sorted(self._hyper.items())
            }
        return _OptimizerV2State(self, hyper)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that updates each variable with its gradient, and counts `global_step` up."""
        grads_and_vars = tuple(grads_and_vars)
        if not grads_and_vars:
            raise ValueError("No variables provided.")
        converted = [(self._converted(g), v, _Target(v)) for g, v in grads_and_vars]
        _check_any_gradient(grads_and_vars)
        present = [(g, v, target) for g, v, target in converted if g is not None]
        with name_scope(name, self._name) as scope:
            pass
        state = self._state_in(scope)
        with init_scope():
            self._create_vars([v for _, v, _ in present], state)
            attachments.joined(self)
        with name_scope(scope):
            self._prepare(state)
            given, updates = _Given(self, state), []
            for grad, variable, target in present:
                with name_scope("update_" + variable.op.name), colocate_with(variable.op):
                    updates.append(target.update(given, grad))
            done = grouping.group(*updates)
            with control_dependencies([done]):
                last = self._finish(state)
            if last is not None:
                done = grouping.group(done, *nest.flatten(last))
            if global_step is not None:
                with control_dependencies([done]), colocate_with(global_step.op):
                    done = state_ops.assign_add(global_step, 1, name=scope)
            if executing_eagerly():
                return None
            return _as_train_op(done.op if isinstance(done, Tensor) else done)

    def get_slot_names(self):
        """The names of slots, in the order of the alphabet."""
        return sorted(super().get_slot_names())

    # --- what subclasses define ------------------------------------------------------------------

    def _create_vars(self, var_list, state):
        """Make the slots that these variables need."""

    def _prepare(self, state):
        """Make what all updates use."""

    def _apply_dense(self, grad, var, state):
        raise NotImplementedError()

    def _resource_apply_dense(self, grad, handle, state):
        raise NotImplementedError()

    def _apply_sparse(self, grad, var, state):
        raise NotImplementedError()

    def _resource_apply_sparse(self, grad, handle, indices, state):
        raise NotImplementedError()

    def _apply_sparse_duplicate_indices(self, grad, var, state):
        """Apply slices in which an index may come twice: by default after adding those up."""
        summed, indices = _deduplicate_indexed_slices(values=grad.values, indices=grad.indices)
        return self._apply_sparse(type(grad)(summed, indices, grad.dense_shape), var, state)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices, state):
        """Apply slices in which an index may come twice: by default after adding those up."""
        summed, indices = _deduplicate_indexed_slices(values=grad, indices=indices)
        return self._resource_apply_sparse(summed, handle, indices, state)

    def _finish(self, state):
        """What runs after all updates: operations, or None."""
