"""Optimizers without memory and with momentum: gradient descent, its proximal form, momentum."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.ops.math import cast
from everflow.platform.signatures import takes
from everflow.train.optimizer import KernelUpdate, Optimizer


class GradientDescentOptimizer(KernelUpdate, Optimizer):
    """Subtracts the gradient times the learning rate.

    Args:
        learning_rate: How far a step goes: a number or a tensor.
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.

    Example:
        >>> w = tf.Variable(1.0)
        >>> step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(w))
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(w)
        np.float32(0.8)
    """

    _rule = "GradientDescent"
    _scalars = {"alpha": "learning_rate"}

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name)
        self._set(learning_rate=learning_rate)

    # Rows that come twice may be subtracted twice: no need to add them up first.

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        return raw.ResourceScatterAdd(handle.handle, indices, -grad * self._learning_rate)

    def _apply_sparse_duplicate_indices(self, grad, var):
        delta = IndexedSlices(
            grad.values * cast(self._learning_rate_tensor, var.dtype.base_dtype), grad.indices, grad.dense_shape
        )
        return var.scatter_sub(delta, use_locking=self._use_locking)


class ProximalGradientDescentOptimizer(KernelUpdate, Optimizer):
    """Gradient descent with L1 and L2 regularization that sets small weights to zero.

    Args:
        learning_rate: How far a step goes: a number or a tensor.
        l1_regularization_strength: The cost of the absolute value of a weight.
        l2_regularization_strength: The cost of the square of a weight.
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.

    Example:
        >>> w = tf.Variable(1.0)
        >>> step = tf.train.ProximalGradientDescentOptimizer(0.1).minimize(tf.square(w))
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(w)
        np.float32(0.8)
    """

    _rule = "ProximalGradientDescent"
    _scalars = {"alpha": "learning_rate", "l1": "l1_regularization_strength", "l2": "l2_regularization_strength"}

    @takes(
        """learning_rate, l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False,
        name="ProximalGradientDescent" """,
    )
    def __init__(self, use_locking, name, **hyperparameters):
        super().__init__(use_locking, name)
        self._set(**hyperparameters)


class MomentumOptimizer(KernelUpdate, Optimizer):
    """Keeps a decaying sum of gradients and moves along it; with `use_nesterov`, looks ahead.

    Args:
        learning_rate: How far a step goes: a number or a tensor.
        momentum: How much of the last step is gone again.
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.
        use_nesterov: Whether the gradient is taken where momentum leads (Nesterov).

    Example:
        >>> w = tf.Variable(1.0)
        >>> step = tf.train.MomentumOptimizer(0.1, momentum=0.9).minimize(tf.square(w))
        >>> sess.run(tf.global_variables_initializer())
        >>> for _ in range(2):
        ...     sess.run(step)
        >>> sess.run(w)
        np.float32(0.46)
    """

    _rule = "Momentum"
    _rule_slots = {"accum": "momentum"}
    _scalars = {"lr": "learning_rate", "momentum": "momentum"}
    _zero_slots = ("momentum",)

    def __init__(self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False):
        super().__init__(use_locking, name)
        self._set(learning_rate=learning_rate, momentum=momentum)
        self._use_nesterov = use_nesterov

    def _rule_attributes(self):
        return {"use_nesterov": self._use_nesterov}
