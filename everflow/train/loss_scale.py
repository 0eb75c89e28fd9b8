"""Loss scaling for half precision: a larger loss, so that small gradients don't vanish, and gradients divided again."""

from __future__ import annotations

import numpy as np

from everflow.framework.composites import IndexedSlices
from everflow.framework.scopes import executing_eagerly, init_scope
from everflow.ops import math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import cond, grouping
from everflow.ops.variables.variable import Variable
from everflow.platform.signatures import takes
from everflow.train.optimizer import _GRADIENT_PARAMETERS, Optimizer

# What chose the precision of this process, of which there is to be one: the functions at the end of this file, or a
# policy of Keras.
mixed_precision_graph_rewrite_is_enabled = False
using_default_mixed_precision_policy = True


class LossScale:
    """Base class: calling it gives the scale as a tensor; `update` gives (operation, whether to apply the gradients).

    Example:
        >>> isinstance(tf.train.experimental.FixedLossScale(8.0), tf.train.experimental.LossScale)
        True
    """

    def __init__(self):
        self._weights = {}

    def __call__(self):
        raise NotImplementedError

    def update(self, grads):
        """Look at the gradients and adapt."""
        raise NotImplementedError

    def get_config(self):
        """The constructor's arguments."""
        raise NotImplementedError

    @classmethod
    def from_config(cls, config):
        """A loss scale from what `get_config` gave."""
        return cls(**config)

    def _checkpoint_children(self):
        return list(self._weights.items())

    def _add_weight(self, name, initial_value):
        with init_scope():
            self._weights[name] = Variable(initial_value, name=name, trainable=False, use_resource=True)
        return self._weights[name]


class FixedLossScale(LossScale):
    """One scale for ever.

    Args:
        loss_scale_value: The scale.

    Example:
        >>> sess.run(tf.train.experimental.FixedLossScale(8.0)())
        np.float32(8.0)
    """

    def __init__(self, loss_scale_value):
        super().__init__()
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError(f"`loss_scale_value` must be an int or a float, not {loss_scale_value!r}")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self):
        return constant(self._loss_scale_value)

    def update(self, grads):
        return grouping.no_op(), True

    def get_config(self):
        return {"loss_scale_value": self._loss_scale_value}

    def __repr__(self):
        return f"FixedLossScale({self._loss_scale_value})"


def _all_finite(grads):
    finite = [
        math.reduce_all(math.is_finite(g.values if isinstance(g, IndexedSlices) else g)) for g in grads if g is not None
    ]
    return math.reduce_all(finite)


class DynamicLossScale(LossScale):
    """Grows after a run of steps with finite gradients, and shrinks where one is not.

    Args:
        initial_loss_scale: The first scale.
        increment_period: After how many good steps it grows.
        multiplier: What it is multiplied, or divided, by.

    Example:
        >>> scale = tf.train.experimental.DynamicLossScale(initial_loss_scale=8.0)
        >>> value = scale()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(value)
        np.float32(8.0)
    """

    def __init__(self, initial_loss_scale=2**15, increment_period=2000, multiplier=2.0):
        super().__init__()
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period = int(increment_period)
        self._multiplier = float(multiplier)
        self._current_loss_scale = self._add_weight("current_loss_scale", self._initial_loss_scale)
        self._num_good_steps = self._add_weight("good_steps", np.int64(0))

    initial_loss_scale = property(lambda self: self._initial_loss_scale)
    increment_period = property(lambda self: self._increment_period)
    multiplier = property(lambda self: self._multiplier)

    def __call__(self):
        return self._current_loss_scale.value()

    def update(self, grads):
        finite = _all_finite(grads)

        def grow():
            new = self._current_loss_scale * self._multiplier
            assign = cond(math.is_finite(new), lambda: self._current_loss_scale.assign(new).op, grouping.no_op)
            return grouping.group(assign, self._num_good_steps.assign(0))

        def after_finite():
            return cond(
                self._num_good_steps + 1 >= self._increment_period, grow, lambda: self._num_good_steps.assign_add(1).op
            )

        def after_overflow():
            smaller = math.maximum(self._current_loss_scale / self._multiplier, 1)
            return grouping.group(self._num_good_steps.assign(0), self._current_loss_scale.assign(smaller))

        return cond(finite, after_finite, after_overflow), finite

    def get_config(self):
        return {
            "initial_loss_scale": self.initial_loss_scale,
            "increment_period": self.increment_period,
            "multiplier": self.multiplier,
        }

    def __repr__(self):
        held = {}
        if executing_eagerly():
            held = {
                "current_loss_scale": self._current_loss_scale.numpy(),
                "num_good_steps": self._num_good_steps.numpy(),
            }
        shown = {**held, **self.get_config()}
        return "DynamicLossScale({})".format(", ".join(f"{name}={value}" for name, value in shown.items()))


def as_loss_scale(value):
    """A LossScale from itself, a number, or "dynamic"."""
    if isinstance(value, LossScale) or value is None:
        return value
    return DynamicLossScale() if value == "dynamic" else FixedLossScale(value)


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """Wraps an optimizer: scales the loss, unscales gradients, and leaves out steps whose gradients overflow.

    Args:
        opt: The optimizer.
        loss_scale: The scale: a number, `dynamic`, or a LossScale.

    Example:
        >>> w = tf.Variable(1.0)
        >>> optimizer = tf.train.GradientDescentOptimizer(0.1)
        >>> optimizer = tf.train.experimental.MixedPrecisionLossScaleOptimizer(optimizer, 8.0)
        >>> step = optimizer.minimize(tf.square(w))
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(w)
        np.float32(0.8)
    """

    def __init__(self, opt, loss_scale):
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an Optimizer, not {opt!r}')
        self._optimizer = opt
        super().__init__(use_locking=opt._use_locking, name=opt._name)
        self._loss_scale = as_loss_scale(loss_scale)
        if self._loss_scale is None:
            raise ValueError("loss_scale cannot be None")

    @takes(_GRADIENT_PARAMETERS)
    def compute_gradients(self, loss, **options):
        found = self._optimizer.compute_gradients(self._scaled(loss), **options)
        inverse = 1 / self._loss_scale()
        return [(None if g is None else self._unscaled(g, inverse), v) for g, v in found]

    def _scaled(self, loss):
        scale = self._loss_scale()
        return loss * math.cast(scale, loss.dtype)

    @staticmethod
    def _unscaled(grad, inverse):
        if isinstance(grad, IndexedSlices):
            return IndexedSlices(
                grad.values * math.cast(inverse, grad.dtype), grad.indices, dense_shape=grad.dense_shape
            )
        return grad * math.cast(inverse, grad.dtype)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        grads_and_vars = tuple(grads_and_vars)
        update, should_apply = self._loss_scale.update([g for g, _ in grads_and_vars])
        if should_apply is True:
            return self._optimizer.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        name = self._name if name is None else name

        def apply():
            return self._optimizer.apply_gradients(grads_and_vars, global_step=global_step, name=name + "-wrapped")

        return grouping.group(update, cond(should_apply, apply, grouping.no_op), name=name)

    def get_slot_names(self):
        return self._optimizer.get_slot_names()

    def get_slot(self, var, name):
        return self._optimizer.get_slot(var, name)

    def variables(self):
        return self._optimizer.variables() + list(self._loss_scale._weights.values())


def enable_mixed_precision_graph_rewrite(opt, loss_scale="dynamic"):
    """The optimizer with loss scaling. Kernels choose their precision by the graph's types: nothing is rewritten.

    Args:
        opt: The optimizer.
        loss_scale: The scale: a number, `dynamic`, or a LossScale.

    Returns:
        An optimizer.

    Raises:
        ValueError: If the optimizer is of the wrong kind.

    Example:
        >>> optimizer = tf.train.GradientDescentOptimizer(0.1)
        >>> type(tf.train.experimental.enable_mixed_precision_graph_rewrite(optimizer)).__name__
        'MixedPrecisionLossScaleOptimizer'
        >>> tf.train.experimental.disable_mixed_precision_graph_rewrite()
    """
    if isinstance(opt, MixedPrecisionLossScaleOptimizer):
        raise ValueError(f'"opt" has loss scaling already: it is a {type(opt).__name__}')
    global mixed_precision_graph_rewrite_is_enabled
    if not using_default_mixed_precision_policy:
        raise ValueError(
            "A mixed precision policy of Keras is set already, and does what the graph rewrite would: use one of the two."
        )
    # Optimizers of Keras know their own kind of wrapper.
    of_keras = hasattr(opt, "_with_loss_scale")
    wrapped = opt._with_loss_scale(loss_scale) if of_keras else MixedPrecisionLossScaleOptimizer(opt, loss_scale)
    mixed_precision_graph_rewrite_is_enabled = True
    return wrapped


def disable_mixed_precision_graph_rewrite():
    """Undo `enable_mixed_precision_graph_rewrite` for graphs made from here on.

    Returns:
        None.

    Example:
        >>> tf.train.experimental.disable_mixed_precision_graph_rewrite()
    """
    global mixed_precision_graph_rewrite_is_enabled
    mixed_precision_graph_rewrite_is_enabled = False
