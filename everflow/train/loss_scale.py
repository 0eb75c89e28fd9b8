"""Loss scaling for half precision: a larger loss, so that small gradients don't vanish, and gradients divided again."""

from __future__ import annotations

import abc

import numpy as np

from everflow.framework import dtypes
from everflow.framework import strategy_context as distribution
from everflow.framework.composites import IndexedSlices
from everflow.framework.scopes import executing_eagerly, init_scope
from everflow.ops import math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import cond, grouping
from everflow.ops.variables.trackable import Trackable
from everflow.ops.variables.variable import Variable
from everflow.platform.signatures import takes
from everflow.runtime.process_options import PROCESS
from everflow.train.optimizer import _GRADIENT_PARAMETERS, Optimizer

# What chose the precision of this process, of which there is to be one: the functions at the end of this file, or a
# policy of Keras.
mixed_precision_graph_rewrite_is_enabled = False
using_default_mixed_precision_policy = True


class LossScale(Trackable, metaclass=abc.ABCMeta):
    """Base class: calling it gives the scale as a tensor; `update` gives (operation, whether to apply the gradients).

    Example:
        >>> isinstance(tf.train.experimental.FixedLossScale(8.0), tf.train.experimental.LossScale)
        True
    """

    def __init__(self):
        self._weights = {}

    @abc.abstractmethod
    def __call__(self):
        """The scale, as a tensor."""

    @abc.abstractmethod
    def update(self, grads):
        """Look at the gradients and adapt."""

    @abc.abstractmethod
    def get_config(self):
        """The constructor's arguments."""

    @classmethod
    def from_config(cls, config):
        """A loss scale from what `get_config` gave."""
        return cls(**config)

    def _add_weight(self, name, initial_value, dtype=None):
        with init_scope():
            self._weights[name] = Variable(initial_value, name=name, dtype=dtype, trainable=False, use_resource=True)
        return self._weights[name]

    def _checkpoint_children(self):
        return [*self._weights.items(), *super()._checkpoint_children()]


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
            raise ValueError(f"loss_scale_value is an int or a float of Python, not {loss_scale_value!r}")
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


def _all_finite_in_all_replicas(grads):
    """Whether the gradients of all replicas are finite."""
    strategy = distribution.current().strategy
    finite = strategy.extended.call_for_each_replica(
        lambda own: math.cast(_all_finite(own), dtypes.float32), args=(grads,)
    )
    return math.equal(strategy.reduce("SUM", finite), strategy.num_replicas_in_sync)


def _op_in_graph_mode(assigned):
    """What an assignment gave, as something that a branch can return; its name inside TensorFlow."""
    return assigned if executing_eagerly() else assigned.op


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
        together = distribution.has_strategy() and distribution.in_cross_replica_context()
        finite = _all_finite_in_all_replicas(grads) if together else _all_finite(grads)

        def grow():
            new = self._current_loss_scale * self._multiplier
            assign = cond(
                math.is_finite(new), lambda: _op_in_graph_mode(self._current_loss_scale.assign(new)), grouping.no_op
            )
            return grouping.group(assign, self._num_good_steps.assign(0))

        def after_finite():
            return cond(
                self._num_good_steps + 1 >= self._increment_period,
                grow,
                lambda: _op_in_graph_mode(self._num_good_steps.assign_add(1)),
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
    if value != "dynamic" if isinstance(value, str) else not isinstance(value, (int, float)):
        raise ValueError(f"Could not interpret loss scale identifier: {value!r} is no number, 'dynamic' or LossScale")
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
            raise ValueError(f'"opt" must be an instance of Optimizer, not {opt!r}')
        self._optimizer = opt
        super().__init__(use_locking=opt._use_locking, name=opt._name)
        self._loss_scale = as_loss_scale(loss_scale)
        if self._loss_scale is None:
            raise TypeError("`loss_scale` must be a number, 'dynamic' or a LossScale; it is None")

    def _checkpoint_children(self):
        return [("base_optimizer", self._optimizer), ("loss_scale", self._loss_scale)]

    def _doing_dynamic_loss_scaling(self):
        return not isinstance(self._loss_scale, FixedLossScale)

    @takes(_GRADIENT_PARAMETERS)
    def compute_gradients(self, loss, **options):
        found = self._optimizer.compute_gradients(self._scale_loss(loss), **options)
        grads = self._unscale_grads([g for g, _ in found])
        return list(zip(grads, [v for _, v in found], strict=True))

    def _scale_loss(self, loss):
        """A loss times the scale; of a function without arguments, such a function."""
        if callable(loss):
            return lambda: self._scale_loss(loss())
        return loss * math.cast(self._loss_scale(), loss.dtype)

    def _unscale_grads(self, grads):
        inverse = 1 / self._loss_scale()
        return [None if grad is None else self._scale_grad(grad, inverse) for grad in grads]

    @staticmethod
    def _scale_grad(grad, loss_scale_reciprocal):
        inverse = math.cast(loss_scale_reciprocal, grad.dtype)
        if isinstance(grad, IndexedSlices):
            return IndexedSlices(grad.values * inverse, grad.indices, dense_shape=grad.dense_shape)
        return grad * inverse

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        grads_and_vars = tuple(grads_and_vars)
        has_strategy = distribution.has_strategy()
        if has_strategy and distribution.in_cross_replica_context():
            raise ValueError("`apply_gradients` is called in a replica: see `experimental_run_v2`")
        if not self._doing_dynamic_loss_scaling():
            return self._optimizer.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        if has_strategy:
            return distribution.current().replica_context.merge_call(
                self._distributed_apply, args=(grads_and_vars, global_step, name)
            )
        return self._apply_if_finite(self._optimizer.apply_gradients, grads_and_vars, global_step, name)

    def _distributed_apply(self, strategy, grads_and_vars, global_step=None, name=None):
        def in_each_replica(*given):
            return strategy.extended.call_for_each_replica(self._optimizer.apply_gradients, args=given)

        return self._apply_if_finite(in_each_replica, grads_and_vars, global_step, name)

    def _apply_if_finite(self, apply_gradients, grads_and_vars, global_step, name):
        update, should_apply = self._loss_scale.update([g for g, _ in grads_and_vars])
        name = self._name if name is None else name

        def apply():
            applied = apply_gradients(grads_and_vars, global_step, name + "-wrapped")
            return grouping.no_op() if applied is None else grouping.group(applied)

        return grouping.group(update, cond(should_apply, apply, grouping.no_op), name=name)


# What wraps an optimizer, by its kind; Keras enters its own.
SCALING: dict[type, type] = {Optimizer: MixedPrecisionLossScaleOptimizer}


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
    if hasattr(opt, "_loss_scale"):
        raise ValueError(
            f"The optimizer must not already be an instance of {type(opt).__name__}, which scales its loss"
        )
    global mixed_precision_graph_rewrite_is_enabled
    wrappers = [wrapper for kind, wrapper in SCALING.items() if isinstance(opt, kind)]
    if not wrappers:
        raise ValueError(f"opt is an optimizer of tf.train or tf.keras.optimizers, not {opt!r}")
    if not using_default_mixed_precision_policy:
        raise ValueError(
            "A mixed precision policy of Keras is set already, and does what the graph rewrite would: use one of the two."
        )
    made = wrappers[0](opt, loss_scale)
    PROCESS.optimizer["auto_mixed_precision"] = True
    mixed_precision_graph_rewrite_is_enabled = True
    return made


def disable_mixed_precision_graph_rewrite():
    """Undo `enable_mixed_precision_graph_rewrite` for graphs made from here on.

    Returns:
        None.

    Example:
        >>> tf.train.experimental.disable_mixed_precision_graph_rewrite()
    """
    global mixed_precision_graph_rewrite_is_enabled
    PROCESS.optimizer["auto_mixed_precision"] = False
    mixed_precision_graph_rewrite_is_enabled = False
