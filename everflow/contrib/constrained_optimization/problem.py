"""What is minimized under which constraints, and the form of optimizers for it."""

from __future__ import annotations

import abc

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies
from everflow.ops.control_flow import cond
from everflow.ops.math import cast
from everflow.train.optimizer import Optimizer


class ConstrainedMinimizationProblem(abc.ABC):
    """An objective, and constraints that are to be at most zero. Subclasses say what both are."""

    @property
    @abc.abstractmethod
    def objective(self):
        """A scalar tensor, to be minimized."""

    @property
    @abc.abstractmethod
    def constraints(self):
        """A tensor of values that are to be at most zero."""

    @property
    def num_constraints(self):
        """How many values the constraints have; their shape must be known."""
        shape = self.constraints.shape
        if not shape.is_fully_defined():
            raise ValueError(f"The shape of constraints must be known, but is {shape}")
        return shape.num_elements()

    @property
    def proxy_constraints(self):
        """What stands for the constraints where a gradient is taken, of the same shape; None where they can be
        differentiated themselves.
        """
        return None

    @property
    def pre_train_ops(self):
        """Operations to run before each training step; None or a list."""
        return None


class ConstrainedOptimizer(abc.ABC):
    """Minimizes problems with constraints, by another optimizer's steps.

    Args:
      optimizer: A `tf.train.Optimizer`, for the model's variables.
    """

    def __init__(self, optimizer):
        self._optimizer = optimizer

    optimizer = property(lambda self: self._optimizer, doc="What steps the model's variables.")

    @abc.abstractmethod
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
        """An op for a step of training, without what runs before it; to be defined by subclasses."""

    def minimize_constrained(
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
        """An op for a step that minimizes the objective while the constraints hold.

        Args:
          minimization_problem: A `ConstrainedMinimizationProblem`.
          global_step: A variable to count steps; None counts none.
          var_list: The model's variables; None are all trainable ones.
          gate_gradients: As in `tf.train.Optimizer.minimize`.
          aggregation_method: As there.
          colocate_gradients_with_ops: As there.
          name: A name for the op.
          grad_loss: As there.

        Returns:
          The op.
        """

        def step():
            return self._minimize_constrained(
                minimization_problem,
                global_step=global_step,
                var_list=var_list,
                gate_gradients=gate_gradients,
                aggregation_method=aggregation_method,
                colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name,
                grad_loss=grad_loss,
            )

        return _after(minimization_problem.pre_train_ops, step)

    def minimize_unconstrained(
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
        """An op for a step that minimizes the objective alone; takes what `minimize_constrained` does."""

        def step():
            return self.optimizer.minimize(
                minimization_problem.objective,
                global_step=global_step,
                var_list=var_list,
                gate_gradients=gate_gradients,
                aggregation_method=aggregation_method,
                colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name,
                grad_loss=grad_loss,
            )

        return _after(minimization_problem.pre_train_ops, step)

    def minimize(
        self,
        minimization_problem,
        unconstrained_steps=None,
        global_step=None,
        var_list=None,
        gate_gradients=Optimizer.GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        name=None,
        grad_loss=None,
    ):
        """An op for a step of training: without constraints for the first `unconstrained_steps`, counted by
        `global_step`; otherwise as `minimize_constrained`.

        Raises:
          ValueError: If there are unconstrained steps, but nothing counts them.
        """
        arguments = {
            "global_step": global_step,
            "var_list": var_list,
            "gate_gradients": gate_gradients,
            "aggregation_method": aggregation_method,
            "colocate_gradients_with_ops": colocate_gradients_with_ops,
            "name": name,
            "grad_loss": grad_loss,
        }
        if unconstrained_steps is None:
            return self.minimize_constrained(minimization_problem, **arguments)
        if global_step is None:
            raise ValueError("unconstrained_steps are counted by a global_step: give one")
        unconstrained_steps = convert_to_tensor(unconstrained_steps)
        return cond(
            cast(global_step, unconstrained_steps.dtype) < unconstrained_steps,
            lambda: self.minimize_unconstrained(minimization_problem, **arguments),
            lambda: self.minimize_constrained(minimization_problem, **arguments),
        )


def _after(operations, step):
    """What `step` makes, to run after some operations."""
    if not operations:
        return step()
    with control_dependencies(list(operations)):
        return step()
