"""`LossScaleOptimizer`: a Keras optimizer that scales losses up and gradients down, for half precision."""

from __future__ import annotations

from everflow.framework import strategy_context as distribution
from everflow.framework.composites import IndexedSlices
from everflow.keras.backend.state import track_variable
from everflow.keras.optimizers.optimizer import Optimizer
from everflow.ops import math
from everflow.ops.control_flow import cond
from everflow.ops.control_flow.grouping import group, no_op
from everflow.train.loss_scale import SCALING, as_loss_scale


class LossScaleOptimizer(Optimizer):
    """Another optimizer with loss scaling: "dynamic", a number, or a `tf.train.experimental.LossScale`.

    Steps whose gradients are not finite are left out where the scale is dynamic.

    Args:
        opt: The optimizer.
        loss_scale: `dynamic`, a number, or a LossScale.

    Example:
        >>> optimizer = tf.keras.mixed_precision.experimental.LossScaleOptimizer(tf.keras.optimizers.SGD(), 8.0)
        >>> type(optimizer.loss_scale).__name__
        'FixedLossScale'
    """

    def __init__(self, opt, loss_scale):
        if not isinstance(opt, Optimizer):
            raise ValueError(f"`opt` must be an instance of OptimizerV2, a Keras optimizer; {opt!r} is none.")
        for clip in ("clipnorm", "clipvalue"):
            if hasattr(opt, clip):
                raise ValueError(
                    f"A LossScaleOptimizer can't wrap an optimizer that clips gradients; this one has {clip}={getattr(opt, clip)}."
                )
        scale = as_loss_scale(loss_scale)
        if scale is None:
            raise ValueError("loss_scale cannot be None.")
        for weight in scale._weights.values():
            track_variable(weight)
        # The wrapped optimizer has everything else: its variables and its settings.
        self.__dict__.update(_optimizer=opt, _loss_scale=scale, _hyper={}, _name=opt._name)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def __setattr__(self, name, value):
        if name in ("learning_rate", "lr", "iterations"):
            setattr(self._optimizer, name, value)
        else:
            object.__setattr__(self, name, value)

    loss_scale = property(lambda self: self._loss_scale, doc="What tells the scale, and adapts it.")
    iterations = property(lambda self: self._optimizer.iterations, doc="The number of steps so far.")
    weights = property(lambda self: self._optimizer.weights, doc="The variables of the wrapped optimizer.")
    learning_rate = property(lambda self: self._optimizer.learning_rate)
    lr = property(lambda self: self._optimizer.lr)

    def get_scaled_loss(self, loss):
        """A loss times the scale; of a function without arguments, such a function."""
        if callable(loss):
            return lambda: self.get_scaled_loss(loss())
        return loss * math.cast(self._loss_scale(), loss.dtype)

    def get_unscaled_gradients(self, grads):
        """Gradients of a scaled loss as those of the loss itself."""
        inverse = 1.0 / self._loss_scale()

        def unscaled(grad):
            if grad is None:
                return None
            if isinstance(grad, IndexedSlices):
                return IndexedSlices(
                    grad.values * math.cast(inverse, grad.dtype), grad.indices, dense_shape=grad.dense_shape
                )
            return grad * math.cast(inverse, grad.dtype)

        return [unscaled(grad) for grad in grads]

    def _compute_gradients(self, loss, var_list, grad_loss=None):
        pairs = self._optimizer._compute_gradients(self.get_scaled_loss(loss), var_list, grad_loss)
        return list(zip(self.get_unscaled_gradients([g for g, _ in pairs]), [v for _, v in pairs], strict=True))

    def get_gradients(self, loss, params):
        """The gradients of a loss, found by way of the scaled one."""
        return self.get_unscaled_gradients(self._optimizer.get_gradients(self.get_scaled_loss(loss), params))

    def apply_gradients(self, grads_and_vars, name=None):
        """Apply unscaled gradients, unless the scale finds that the step is to be left out."""
        grads_and_vars = tuple(grads_and_vars)
        # Variables can't be made in a branch.
        optimizer, variables = self._optimizer, [v for _, v in grads_and_vars]
        _ = optimizer.iterations
        optimizer._create_hypers()
        optimizer._create_slots(variables)
        if distribution.has_strategy() and not distribution.in_cross_replica_context():
            replica = distribution.current().replica_context
            return replica.merge_call(self._apply_in_all_replicas, args=(grads_and_vars, name))
        return self._apply_if_finite(optimizer.apply_gradients, grads_and_vars, name)

    def _apply_in_all_replicas(self, strategy, grads_and_vars, name):
        def in_each_replica(*given):
            return strategy.extended.call_for_each_replica(self._optimizer.apply_gradients, args=given)

        return self._apply_if_finite(in_each_replica, grads_and_vars, name)

    def _apply_if_finite(self, apply_gradients, grads_and_vars, name):
        update, should_apply = self._loss_scale.update([g for g, _ in grads_and_vars])
        if should_apply is True:
            return group(apply_gradients(grads_and_vars, name), update)
        applied = cond(should_apply, lambda: group(apply_gradients(grads_and_vars, name)), no_op)
        return group(applied, update)

    def variables(self):
        """The variables of the wrapped optimizer."""
        return self._optimizer.variables()

    def get_weights(self):
        return self._optimizer.get_weights()

    def set_weights(self, weights):
        self._optimizer.set_weights(weights)

    def get_slot(self, var, slot_name):
        return self._optimizer.get_slot(var, slot_name)

    def get_slot_names(self):
        return self._optimizer.get_slot_names()

    def add_slot(self, var, slot_name, initializer="zeros"):
        raise AttributeError("Slots are made by the wrapped optimizer.")

    def get_config(self):
        raise NotImplementedError("A LossScaleOptimizer has no configuration.")

    @classmethod
    def from_config(cls, config, custom_objects=None):
        raise NotImplementedError("A LossScaleOptimizer can't be made from a configuration.")

    def _checkpoint_children(self):
        return [("base_optimizer", self._optimizer), ("loss_scale", self._loss_scale)]


SCALING[Optimizer] = LossScaleOptimizer
