"""Dropout: setting a random share of entries to zero while training."""

from __future__ import annotations

import numbers

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, as_shape, dimension_value
from everflow.framework.static_values import constant_value
from everflow.ops import array
from everflow.ops import math as math_ops
from everflow.ops.array.basic import either
from everflow.ops.random.distributions import random_uniform


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """Entries of x times `1 / (1 - rate)`, a share of `rate` set to zero at random.

    Args:
        x: A tensor, or what can be made one.
        keep_prob: Deprecated: `1 - rate`.
        noise_shape: The shape of what is decided; 1 where all entries along a dimension are kept or dropped together.
        seed: A number that makes the random numbers the same in each run of the program.
        name: The name of the operation in the graph.
        rate: The share that is dropped.

    Returns:
        A tensor of the shape of `x`.

    Raises:
        ValueError: If the share is not given, or isn't in [0, 1), or the tensor isn't of floats.

    Example:
        >>> tf.set_random_seed(1)
        >>> y = tf.nn.dropout(tf.ones([6]), rate=0.5)
        >>> set(sess.run(y).tolist()) <= {0.0, 2.0}
        True
    """
    rate = either("rate", rate, "keep_prob", None if keep_prob is None else _dropped(keep_prob))
    if rate is None:
        raise ValueError("dropout() wants a rate, the part of x that is dropped")
    return dropout_v2(x, rate, noise_shape=noise_shape, seed=seed, name=name)


def _dropped(keep_prob):
    try:
        return 1.0 - keep_prob
    except TypeError:
        raise ValueError(f"keep_prob must be a number or a float tensor, not {keep_prob!r}") from None


def dropout_v2(x, rate, noise_shape=None, seed=None, name=None):
    """`dropout` by rate only."""
    with name_scope(name, "dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(
                f"What is left by dropout is scaled up, so x must be of a floating point dtype, not {x.dtype.name}"
            )
        if isinstance(rate, numbers.Real):
            if not 0 <= rate < 1:
                raise ValueError(f"rate must be at least 0 and below 1, not {rate:g}")
            if rate == 0:
                return x
        rate = convert_to_tensor(rate, dtype=x.dtype, name="rate")
        rate.shape.assert_has_rank(0)
        if constant_value(rate) == 0:
            return x
        noise_shape = _noise_shape(x, noise_shape)
        random = random_uniform(noise_shape, seed=seed, dtype=x.dtype)
        scale = 1 / (1 - rate)
        keep = random >= rate
        result = x * scale * math_ops.cast(keep, x.dtype)
        result.set_shape(x.shape)
        return result


def _noise_shape(x, noise_shape):
    """The shape of the mask; None in a list stands for x's own size."""
    if noise_shape is None:
        return array.shape(x)
    try:
        given = as_shape(noise_shape)
    except (TypeError, ValueError):
        return noise_shape
    if x.shape.dims is not None and len(x.shape.dims) == len(given.dims):
        sizes = zip(x.shape.dims, given.dims, strict=True)
        return TensorShape(
            [own if size.value is None and own.value is not None else dimension_value(size) for own, size in sizes]
        )
    return noise_shape
