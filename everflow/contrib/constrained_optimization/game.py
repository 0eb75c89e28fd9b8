"""A step of the game: the model's variables go down their loss, the multipliers' state along the constraints, and is
brought back to where it may be.
"""

from __future__ import annotations

import abc

from everflow.contrib.constrained_optimization.problem import ConstrainedOptimizer
from everflow.framework import dtypes
from everflow.framework.scopes import colocate_with, control_dependencies
from everflow.ops import array
from everflow.ops.control_flow.grouping import group
from everflow.ops.variables.assign import assign_add
from everflow.ops.variables.variable import Variable
from everflow.train.optimizer import Optimizer


class GameOptimizer(ConstrainedOptimizer):
    """A constrained optimizer with a second player, whose state a variable holds.

    Args:
      optimizer: A `tf.train.Optimizer`, for the model's variables.
      constraint_optimizer: One for the state; None takes the same.
    """

    _STATE_NAME: str

    def __init__(self, optimizer, constraint_optimizer=None):
        super().__init__(optimizer=optimizer)
        self._constraint_optimizer = constraint_optimizer

    constraint_optimizer = property(lambda self: self._constraint_optimizer, doc="What steps the multipliers' state.")

    @abc.abstractmethod
    def _initial_state(self, num_constraints):
        """What the state starts with."""

    @abc.abstractmethod
    def _constraint_grad_and_var(self, state, gradient):
        """(gradient, variable) for a step of the state."""

    @abc.abstractmethod
    def _projection_op(self, state, name=None):
        """An op that brings the state back to where it may be."""

    @abc.abstractmethod
    def _players(self, state, objective, constraints, proxy_constraints):
        """The model's loss, and the gradient of the other player's."""

    def _minimize_constrained(
        self,
        minimization_problem,
        global_step=None,
        var_list=None,
        gate_gradients=Optimizer.GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        name=None,
        grad_loss=None,
    ):
        objective = minimization_problem.objective
        num_constraints = minimization_problem.num_constraints
        constraints = minimization_problem.constraints
        proxy_constraints = minimization_problem.proxy_constraints
        if proxy_constraints is None:
            proxy_constraints = constraints
        constraints = array.reshape(constraints, (num_constraints,))
        proxy_constraints = array.reshape(proxy_constraints, (num_constraints,))
        state = Variable(
            lambda: self._initial_state(num_constraints),
            trainable=False,
            name=self._STATE_NAME,
            dtype=dtypes.float32,
            use_resource=True,
        )
        loss, gradient = self._players(state, objective, constraints, proxy_constraints)
        of_model = self.optimizer.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        of_state = [self._constraint_grad_and_var(state, gradient)]
        if self.constraint_optimizer is None:
            updates = [self.optimizer.apply_gradients(of_model + of_state, name="update")]
        else:
            with control_dependencies([grad for grad, _ in of_model + of_state if grad is not None]):
                updates = [
                    self.optimizer.apply_gradients(of_model, name="update"),
                    self.constraint_optimizer.apply_gradients(of_state, name="optimizer_state_update"),
                ]
        with control_dependencies(updates):
            if global_step is None:
                return self._projection_op(state, name=name)
            projected = self._projection_op(state, name="project")
            with colocate_with(global_step):
                counted = assign_add(global_step, 1, name="global_step_increment")
            return group(projected, counted, name=name)
