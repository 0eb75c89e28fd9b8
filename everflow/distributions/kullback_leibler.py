"""The Kullback-Leibler divergence between two distributions, by a function registered for their classes."""

from __future__ import annotations

from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.control_flow import Assert

_DIVERGENCES: dict[tuple[type, type], callable] = {}


def _registered_kl(a, b):
    """The function for two classes: the one registered for their nearest bases."""
    near = [
        (i + j, _DIVERGENCES[base_a, base_b])
        for i, base_a in enumerate(a.__mro__)
        for j, base_b in enumerate(b.__mro__)
        if (base_a, base_b) in _DIVERGENCES
    ]
    return min(near, key=lambda found: found[0])[1] if near else None


def kl_divergence(distribution_a, distribution_b, allow_nan_stats=True, name=None):
    """The Kullback-Leibler divergence KL(a || b): how many nats a code made for b wastes on draws from a.

    Args:
        distribution_a: The first.
        distribution_b: The second.
        allow_nan_stats: Whether it may be NaN; else that is an error of the run.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the batch's shape.

    Raises:
        NotImplementedError: If nobody registered a function for these classes.

    Example:
        >>> a, b = tf.distributions.Normal(0.0, 1.0), tf.distributions.Normal(1.0, 1.0)
        >>> sess.run(tf.distributions.kl_divergence(a, b))
        np.float32(0.5)
    """
    function = _registered_kl(type(distribution_a), type(distribution_b))
    if function is None:
        pair = f"{type(distribution_a).__name__} || {type(distribution_b).__name__}"
        raise NotImplementedError(f"No KL({pair}) is registered: tf.distributions.RegisterKL registers one.")
    with name_scope("KullbackLeibler"):
        divergence = function(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return divergence
        divergence = array.identity(divergence, name="kl")
        message = (
            f"KL calculation between {distribution_a.name} and {distribution_b.name} returned NaN values "
            "(and was called with allow_nan_stats=False). Values:"
        )
        defined = math.logical_not(math.reduce_any(math.is_nan(divergence)))
        with control_dependencies([Assert(defined, [message, divergence])]):
            return array.identity(divergence, name="checked_kl")


def cross_entropy(ref, other, allow_nan_stats=True, name=None):
    """The cross entropy of `other` to `ref`: ref's entropy and its divergence from other."""
    with name_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)


class RegisterKL:
    """A decorator that registers a function for the divergence between two classes of distributions.

    Args:
        dist_cls_a: The class of the first.
        dist_cls_b: The class of the second.

    Example:
        >>> class Mine(tf.distributions.Normal):
        ...     pass
        >>> @tf.distributions.RegisterKL(Mine, Mine)
        ... def divergence(a, b, name=None):
        ...     return tf.constant(0.0)
        >>> sess.run(tf.distributions.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0)))
        np.float32(0.0)
    """

    def __init__(self, dist_cls_a, dist_cls_b):
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn):
        pair = " || ".join(cls.__name__ for cls in self._key)
        if not callable(kl_fn):
            raise TypeError(f"KL({pair}) must be a function, not {kl_fn!r}")
        known = _DIVERGENCES.get(self._key)
        if known is not None:
            raise ValueError(f"KL({pair}) is registered already: {known}")
        return _DIVERGENCES.setdefault(self._key, kl_fn)
