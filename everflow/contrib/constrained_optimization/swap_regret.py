"""Multipliers as the stationary distribution of a matrix that goes along the constraints: a game in which proxies may
stand for constraints that have no gradient.
"""

from __future__ import annotations

import math as python_math

from everflow.contrib.constrained_optimization.game import GameOptimizer
from everflow.contrib.constrained_optimization.projection import projected
from everflow.framework import dtypes
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import while_loop
from everflow.ops.linalg.norms import norm
from everflow.ops.math.matrix import matmul, tensordot


def _square_dims(matrix):
    """The size of a square matrix."""
    if matrix.shape.rank != 2:
        raise ValueError(f"matrix must have rank 2, but has the shape {matrix.shape}")
    rows, columns = matrix.shape.as_list()
    if rows != columns or rows is None:
        raise ValueError(f"matrix must be square and of a known size, but has the shape {matrix.shape}")
    return rows


def _maximal_eigenvector_power_method(matrix, epsilon=1e-6, maximum_iterations=100):
    """The eigenvector of the largest eigenvalue, of length one, by multiplying again and again."""
    _square_dims(matrix)

    def goes_on(iteration, eigenvector, old_eigenvector):
        return math.logical_and(iteration < maximum_iterations, norm(eigenvector - old_eigenvector) > epsilon)

    def step(iteration, eigenvector, old_eigenvector):
        del old_eigenvector
        iteration += 1
        product = matmul(matrix, array.expand_dims(eigenvector, 1))[:, 0]
        return (iteration, product / norm(product), eigenvector)

    iteration = constant(0)
    eigenvector = array.ones_like(matrix[:, 0])
    eigenvector /= norm(eigenvector)
    first = step(iteration, eigenvector, None)
    return while_loop(goes_on, step, loop_vars=first, name="power_method")[1]


def _project_stochastic_matrix_wrt_euclidean_norm(matrix):
    """The nearest matrix whose entries are at least zero and whose columns add up to one."""
    dims = _square_dims(matrix)

    def shift(matrix, inactive):
        missing = 1.0 - math.reduce_sum(matrix, axis=0, keepdims=True)
        return missing / math.maximum(1.0, math.reduce_sum(inactive, axis=0, keepdims=True))

    return projected(matrix, dims, shift)


def _project_log_stochastic_matrix_wrt_kl_divergence(log_matrix):
    """The logarithms of the matrix with its columns scaled so that they add up to one."""
    log_matrix = log_matrix - math.reduce_max(log_matrix, axis=0, keepdims=True)
    return log_matrix - math.log(math.reduce_sum(math.exp(log_matrix), axis=0, keepdims=True))


class _SwapRegretOptimizer(GameOptimizer):
    _STATE_NAME = "swap_regret_optimizer_state"

    def _stochastic_matrix(self, state):
        raise NotImplementedError

    def _distribution(self, state):
        weights = math.abs(_maximal_eigenvector_power_method(self._stochastic_matrix(state)))
        return weights / math.reduce_sum(weights)

    def _players(self, state, objective, constraints, proxy_constraints):
        zero_and_constraints = array.concat((array.zeros((1,), dtype=constraints.dtype), constraints), axis=0)
        objective_and_proxies = array.concat((array.expand_dims(objective, 0), proxy_constraints), axis=0)
        distribution = self._distribution(state)
        loss = tensordot(distribution, objective_and_proxies, 1)
        return loss, matmul(array.expand_dims(zero_and_constraints, 1), array.expand_dims(distribution, 0))


class AdditiveSwapRegretOptimizer(_SwapRegretOptimizer):
    """The matrix itself goes along the constraints, and back to the nearest one whose columns are distributions.

    Args:
      optimizer: A `tf.train.Optimizer`, for the model's variables.
      constraint_optimizer: One for the matrix; None takes the same.
    """

    def _initial_state(self, num_constraints):
        size = num_constraints + 1
        return array.concat((array.ones((1, size)), array.zeros((num_constraints, size))), axis=0)

    def _stochastic_matrix(self, state):
        return state

    def _constraint_grad_and_var(self, state, gradient):
        return (math.negative(gradient), state)

    def _projection_op(self, state, name=None):
        return state.assign(_project_stochastic_matrix_wrt_euclidean_norm(state), name=name)


class MultiplicativeSwapRegretOptimizer(_SwapRegretOptimizer):
    """The logarithms of the matrix go along the constraints, and its columns are scaled.

    Args:
      optimizer: A `tf.train.Optimizer`, for the model's variables.
      constraint_optimizer: One for the matrix; None takes the same.
      minimum_multiplier_radius: How small an entry may become, as a share of what one of equal entries would be; between
        0 and 1.
      initial_multiplier_radius: What an entry of a constraint starts with, likewise; None is `minimum_multiplier_radius`.

    Raises:
      ValueError: If a radius is out of its bounds.
    """

    def __init__(
        self, optimizer, constraint_optimizer=None, minimum_multiplier_radius=1e-3, initial_multiplier_radius=None
    ):
        super().__init__(optimizer=optimizer, constraint_optimizer=constraint_optimizer)
        if not 0.0 < minimum_multiplier_radius < 1.0:
            raise ValueError(f"minimum_multiplier_radius must be between 0 and 1, but is {minimum_multiplier_radius}")
        if initial_multiplier_radius is None:
            initial_multiplier_radius = minimum_multiplier_radius
        elif not minimum_multiplier_radius <= initial_multiplier_radius <= 1.0:
            raise ValueError(
                "initial_multiplier_radius must be between minimum_multiplier_radius and 1, but is "
                f"{initial_multiplier_radius}"
            )
        self._minimum_multiplier_radius = minimum_multiplier_radius
        self._initial_multiplier_radius = initial_multiplier_radius

    def _initial_state(self, num_constraints):
        size = num_constraints + 1
        each = self._initial_multiplier_radius / size
        first = 1.0 - self._initial_multiplier_radius * num_constraints / size
        rows = [constant(python_math.log(first), dtype=dtypes.float32, shape=(1, size))]
        rows.append(constant(python_math.log(each), dtype=dtypes.float32, shape=(num_constraints, size)))
        return array.concat(rows, axis=0)

    def _stochastic_matrix(self, state):
        return math.exp(state)

    def _constraint_grad_and_var(self, state, gradient):
        return (math.negative(gradient), state)

    def _projection_op(self, state, name=None):
        size = state.shape.as_list()[0]
        lowest = math.log(self._minimum_multiplier_radius / math.to_float(size))
        projected = math.maximum(_project_log_stochastic_matrix_wrt_kl_divergence(state), lowest)
        return state.assign(projected, name=name)
