"""Gradient descent, with momentum where wanted."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.keras.optimizers.optimizer import Optimizer, is_used
from everflow.ops import array


class SGD(Optimizer):
    """Weights move against the gradient times the learning rate; with momentum, earlier moves go on.

    Args:
        learning_rate: How far a step goes: a number, a schedule, or a function without arguments.
        momentum: How much of the last step is gone again.
        nesterov: Whether the gradient is taken where momentum leads (Nesterov).
        name: What the operations' names start with.
        **kwargs: `clipnorm`, `clipvalue`, and `lr` and `decay` as older programs have them.

    Example:
        >>> w = tf.Variable(1.0, use_resource=True)
        >>> optimizer = tf.keras.optimizers.SGD(learning_rate=0.1)
        >>> step, = optimizer.get_updates(tf.square(w), [w])
        >>> sess.run(tf.global_variables_initializer())
        >>> _ = sess.run(step)
        >>> print("%.3f" % sess.run(w))
        0.800
    """

    _written_hypers = ("learning_rate", "decay", "momentum")
    _written_attributes = {"nesterov": "nesterov"}

    def __init__(self, learning_rate=0.01, momentum=0.0, nesterov=False, name="SGD", **kwargs):
        super().__init__(name, **kwargs)
        self._momentum = is_used(momentum)
        self._set_hypers(kwargs.get("lr", learning_rate), momentum=momentum)
        self.nesterov = nesterov

    def _create_slots(self, var_list):
        if self._momentum:
            self._add_slots(var_list, "momentum")

    def _prepare_local(self, var_device, dtype, apply_state):
        super()._prepare_local(var_device, dtype, apply_state)
        prepared = apply_state[var_device, dtype]
        prepared["momentum"] = array.identity(self._get_hyper("momentum", dtype))

    def _resource_apply_dense(self, grad, var):
        if self._momentum:
            return raw.ResourceApplyKerasMomentum(**self._with_momentum(grad, var))
        rate = self._coefficients(var)["lr_t"]
        return raw.ResourceApplyGradientDescent(var=var.handle, alpha=rate, delta=grad, use_locking=self._use_locking)

    def _with_momentum(self, grad, var):
        return self._op_arguments(
            grad, var, {"accum": "momentum"}, {"momentum": "momentum"}, use_nesterov=self.nesterov
        )

    def _resource_apply_sparse_duplicate_indices(self, grad, var, indices):
        if self._momentum:
            return super()._resource_apply_sparse_duplicate_indices(grad, var, indices)
        rates = self._coefficients(var)
        return raw.ResourceScatterAdd(resource=var.handle, indices=indices, updates=-grad * rates["lr_t"])

    def _resource_apply_sparse(self, grad, var, indices):
        return raw.ResourceSparseApplyKerasMomentum(indices=indices, **self._with_momentum(grad, var))
