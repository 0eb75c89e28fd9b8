"""An optimizer of tf.train where a Keras optimizer is wanted."""

from __future__ import annotations

from everflow.framework import strategy_context
from everflow.framework.scopes import init_scope
from everflow.keras import backend as K
from everflow.keras.engine import workers
from everflow.ops.gradients.reverse import gradients


class TFOptimizer:
    """What `model.compile` makes of an optimizer of tf.train."""

    def __init__(self, optimizer, iterations=None):
        self.optimizer = optimizer
        if iterations is None:
            with K.name_scope(type(self).__name__), init_scope():
                self.iterations = K.variable(0, dtype="int64", name="iterations")
        else:
            self.iterations = iterations
        self.updates = []

    def apply_gradients(self, grads):
        """An op that updates variables from pairs (gradient, variable), and counts the step."""
        strategy = _strategy_around()
        if strategy is None:
            return self.optimizer.apply_gradients(grads, global_step=self.iterations)
        return self._applied_by(strategy, grads)

    def _applied_by(self, strategy, grads):
        """An op that updates the copies of variables that a strategy keeps."""
        present = [(grad, variable) for grad, variable in grads if grad is not None]
        if not present:
            raise ValueError(f"No gradients provided for any variable: {[str(variable) for _, variable in grads]}")
        return self.optimizer._distributed_apply(strategy, present, self.iterations)

    def get_grads(self, loss, params):
        """Pairs (gradient, variable)."""
        return self.optimizer.compute_gradients(loss, params)

    def get_gradients(self, loss, params):
        """The gradients of a loss by each of the parameters; ValueError where there is none."""
        grads = gradients(loss, params)
        if any(grad is None for grad in grads):
            raise ValueError(
                f"The loss doesn't depend on each of {params} by a differentiable way: a gradient is None."
            )
        return grads

    def get_updates(self, loss, params):
        """A list of ops that make one step."""
        self.updates = self._updates(loss, params)
        return self.updates

    def _updates(self, loss, params):
        if not params:
            return [K.update_add(self.iterations, 1)]
        strategy = workers.worker()
        if strategy is not None:  # whose workers apply the sum of what they have
            loss = loss / strategy.num_replicas_in_sync
        strategy = strategy or _strategy_around()
        if strategy is None:
            grads = self.optimizer.compute_gradients(loss, params)
            return [self.optimizer.apply_gradients(grads, global_step=self.iterations)]
        with strategy_context.entered(None):
            grads = self.optimizer.compute_gradients(loss, params)
        return [self._applied_by(strategy, grads)]

    @property
    def weights(self):
        raise NotImplementedError

    def get_config(self):
        raise NotImplementedError

    def from_config(self, config):
        raise NotImplementedError

    def _checkpoint_children(self):
        return [("optimizer", self.optimizer), ("global_step", self.iterations)]


def _strategy_around():
    """The strategy in whose scope a model with one replica is trained as one without, or None."""
    frame = strategy_context.current()
    return frame.strategy if frame is not None and frame.replica_context is None else None


def is_train_optimizer(value):
    """Whether a value is an optimizer of tf.train."""
    from everflow.train.optimizer import Optimizer  # loads google_crc32c

    return isinstance(value, Optimizer)
