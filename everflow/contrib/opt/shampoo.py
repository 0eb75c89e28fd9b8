"""Shampoo (Gupta, Koren and Singer, 2018): each axis of a gradient is preconditioned by outer products."""

from __future__ import annotations

from everflow.contrib.opt.matrix_roots import matrix_power
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import colocate_with
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import cond
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.variables import assign as state
from everflow.train.optimizer import Optimizer


def _at(parameter, step):
    """A parameter's value at a step: some are functions of it."""
    return parameter(step) if callable(parameter) else parameter


class ShampooOptimizer(Optimizer):
    """Preconditions gradients axis by axis: by a matrix for axes up to `max_matrix_size`, else by its diagonal.

    `gbar` is the average of gradients, `Gbar_i` that of outer products along axis i, and `H_i`, where it isn't computed
    at each step, the root of it. Weights, decays, `learning_rate` and `alpha` may be functions of the step.

    >>> optimizer = tf.contrib.opt.ShampooOptimizer(global_step, learning_rate=0.1, svd_interval=10)
    """

    def __init__(self, global_step=0, max_matrix_size=768, gbar_decay=0.0, gbar_weight=1.0, mat_gbar_decay=1.0, mat_gbar_weight=1.0,
                 learning_rate=1.0, svd_interval=1, precond_update_interval=1, epsilon=1e-4, alpha=0.5, use_iterative_root=False,
                 use_locking=False, name="Shampoo"):  # fmt: skip
        super().__init__(use_locking, name)
        self._global_step = math.cast(global_step, dtypes.float32)
        self._max_matrix_size = max_matrix_size
        self._gbar_decay, self._gbar_weight = gbar_decay, gbar_weight
        self._mat_gbar_decay, self._mat_gbar_weight = mat_gbar_decay, mat_gbar_weight
        self._learning_rate = learning_rate
        self._svd_interval, self._precond_update_interval = svd_interval, precond_update_interval
        self._epsilon, self._alpha, self._use_iterative_root = epsilon, alpha, use_iterative_root

    def _create_slots(self, var_list):
        for variable in var_list:
            with colocate_with(variable.op):
                self._zeros_slot(variable, "gbar", self._name)
                for axis, size in enumerate(variable.shape.as_list()):
                    length = constant(size, name="shape_as_tensor")
                    self._create_preconditioner(variable, axis, length, size <= self._max_matrix_size)

    def _create_preconditioner(self, variable, axis, size, as_matrix):
        if as_matrix:
            zeros = array.zeros_like(linalg.eye(size))
            if self._svd_interval > 1:
                self._get_or_make_slot(variable, linalg.eye(size), f"H_{axis}", self._name)
        else:
            zeros = array.zeros([size])
        self._get_or_make_slot(variable, zeros, f"Gbar_{axis}", self._name)

    def _apply_dense(self, grad, var):
        return self._precondition_and_apply(grad, var)

    def _resource_apply_dense(self, grad, var):
        return self._precondition_and_apply(grad, var)

    def _apply_sparse(self, grad, var):
        return self._apply_rows(grad.values, grad.indices, var)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._apply_rows(grad, indices, var)

    def _apply_rows(self, rows, indices, var):
        """Update some rows only, where a diagonal and no average of gradients asks for the others."""
        if var.shape[0] <= self._max_matrix_size or self._gbar_decay != 0.0:
            full = array.scatter_nd(array.expand_dims(indices, 1), rows, array.shape(var))
            return self._precondition_and_apply(full, var)
        return self._precondition_and_apply(rows, var, indices)

    def _precondition_and_apply(self, grad, var, indices=None):
        step = self._global_step + 1
        if indices is None:
            average, weight = self.get_slot(var, "gbar"), _at(self._gbar_weight, step)
            direction = self._averaged(average, grad, self._gbar_decay, weight, step)
        else:
            direction = grad
        rank = len(var.shape)
        exponent = -_at(self._alpha, step) / rank
        for axis, size in enumerate(var.shape.as_list()):
            if size <= self._max_matrix_size:
                root = self._matrix_root(grad, var, axis, size, exponent, step)
                direction = math.tensordot(direction, root, axes=([0], [0]), name=f"precond_{axis}")
            else:
                root = self._diagonal_root(grad, var, axis, size, exponent, step, indices)
                # As tensordot, it moves the first axis to the end.
                direction = array.transpose(direction, perm=[*range(1, rank), 0]) * root
        rate = _at(self._learning_rate, step)
        if indices is None:
            return state.assign_sub(var, rate * direction)
        return state.scatter_add(var, indices, -rate * direction)

    def _averaged(self, slot, value, decay, weight, step):
        """Take a value into the average that a slot keeps."""
        value = weight * value
        if not callable(decay) and decay == 0.0:
            return value
        if callable(decay) or decay != 1.0:
            value = (_at(decay, step) - 1.0) * slot + value
        return state.assign_add(slot, value)

    def _matrix_root(self, grad, var, axis, size, exponent, step):
        slot = self.get_slot(var, f"Gbar_{axis}")
        interval = _at(self._precond_update_interval, step)
        others = [i for i in range(len(var.shape)) if i != axis]

        def updated():
            outer = math.tensordot(grad, grad, axes=(others, others), name=f"grad_outer_{axis}")
            return self._averaged(slot, outer, self._mat_gbar_decay, _at(self._mat_gbar_weight, step) * interval, step)

        matrix = cond(math.less(math.mod(step, interval), 1), updated, lambda: slot) / float(size)
        arguments = (matrix, size, exponent, self._epsilon, self._use_iterative_root)
        if self._svd_interval == 1:
            return matrix_power(*arguments)
        root = self.get_slot(var, f"H_{axis}")
        due = math.less(math.mod(step, self._svd_interval), 1)
        return cond(due, lambda: matrix_power(*arguments, into=lambda power: state.assign(root, power)), lambda: root)

    def _diagonal_root(self, grad, var, axis, size, exponent, step, indices):
        slot = self.get_slot(var, f"Gbar_{axis}")
        squares = grad * grad
        others = [i for i in range(len(var.shape)) if i != axis]
        if others:
            squares = math.reduce_sum(squares, others) / (float(size) if indices is None else 1.0)
        weight = _at(self._mat_gbar_weight, step)
        if indices is None or axis:
            diagonal = convert_to_tensor(self._averaged(slot, squares, self._mat_gbar_decay, weight, step))
        else:
            message = "mat_gbar_decay must be 1 where gradients are sparse: rows without one wouldn't decay."
            assert self._mat_gbar_decay == 1.0, message
            diagonal = array.gather(state.scatter_add(slot, indices, weight * squares), indices)
        return array.where(math.greater(diagonal, 0.0), math.pow(diagonal, exponent), array.zeros_like(diagonal))
