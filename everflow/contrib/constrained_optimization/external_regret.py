"""Multipliers that go along the constraints: the Lagrangian's game, without regret for what was chosen together."""

from __future__ import annotations

from everflow.contrib.constrained_optimization.game import GameOptimizer
from everflow.contrib.constrained_optimization.projection import projected
from everflow.framework import dtypes
from everflow.ops import array, math
from everflow.ops.math.matrix import tensordot


def _project_multipliers_wrt_euclidean_norm(multipliers, radius):
    """The nearest multipliers that are at least zero and add up to `radius` at most."""
    dims = multipliers.shape.as_list() if hasattr(multipliers.shape, "as_list") else list(multipliers.shape)
    if len(dims) != 1:
        raise ValueError(f"multipliers must have rank 1, but have the shape {dims}")
    if dims[0] is None:
        raise ValueError("The size of multipliers must be known")

    def shift(multipliers, inactive):
        missing = radius - math.reduce_sum(multipliers)
        return math.minimum(0.0, missing / math.maximum(1.0, math.reduce_sum(inactive)))

    return projected(multipliers, dims[0], shift)


class _ExternalRegretOptimizer(GameOptimizer):
    _STATE_NAME = "external_regret_optimizer_state"

    def _lagrange_multipliers(self, state):
        raise NotImplementedError

    def _players(self, state, objective, constraints, proxy_constraints):
        multipliers = self._lagrange_multipliers(state)
        return objective + tensordot(multipliers, proxy_constraints, 1), constraints


class AdditiveExternalRegretOptimizer(_ExternalRegretOptimizer):
    """Minimizes the Lagrangian: multipliers rise where constraints are violated, and stay at zero or above.

    Args:
      optimizer: A `tf.train.Optimizer`, for the model's variables.
      constraint_optimizer: One for the multipliers; None takes the same.
      maximum_multiplier_radius: What the multipliers may add up to at most; None bounds nothing.

    Raises:
      ValueError: If the radius is negative.
    """

    def __init__(self, optimizer, constraint_optimizer=None, maximum_multiplier_radius=None):
        super().__init__(optimizer=optimizer, constraint_optimizer=constraint_optimizer)
        if maximum_multiplier_radius is not None and maximum_multiplier_radius < 0:
            raise ValueError(f"maximum_multiplier_radius must be at least 0, but is {maximum_multiplier_radius}")
        self._maximum_multiplier_radius = maximum_multiplier_radius

    def _initial_state(self, num_constraints):
        return array.zeros((num_constraints,), dtype=dtypes.float32)

    def _lagrange_multipliers(self, state):
        return state

    def _constraint_grad_and_var(self, state, gradient):
        return (math.negative(gradient), state)  # up, along the constraints

    def _projection_op(self, state, name=None):
        if self._maximum_multiplier_radius is None:
            projected = math.maximum(state, 0.0)
        else:
            projected = _project_multipliers_wrt_euclidean_norm(state, self._maximum_multiplier_radius)
        return state.assign(projected, name=name)
