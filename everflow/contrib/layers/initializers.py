"""Initial values of weights whose spread follows from the number of inputs and outputs."""

from __future__ import annotations

from math import sqrt

from everflow.framework import dtypes
from everflow.ops.random import distributions as random


def xavier_initializer(uniform=True, seed=None, dtype=dtypes.float32):
    """Values whose variance is 2 / (inputs + outputs), after Glorot and Bengio (2010).

    Args:
        uniform: Whether values are uniform; else normal.
        seed: A number that makes the random numbers the same in each run of the program.
        dtype: The type of the elements.

    Returns:
        A function of shape and dtype.

    Example:
        >>> sess.run(tf.contrib.layers.xavier_initializer(seed=1)([2, 3])).shape
        (2, 3)
    """
    return variance_scaling_initializer(factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype)


xavier_initializer_conv2d = xavier_initializer


def _fans(shape):
    """(inputs, outputs) that meet in a tensor of weights."""
    inputs = float(shape[-2]) if len(shape) > 1 else float(shape[-1])
    outputs = float(shape[-1])
    for size in shape[:-2]:
        inputs *= float(size)
        outputs *= float(size)
    return inputs, outputs


def _check_floating(dtype):
    if not dtype.is_floating:
        raise TypeError(f"Variances are scaled for floating-point types, not for {dtype.name}")


def variance_scaling_initializer(factor=2.0, mode="FAN_IN", uniform=False, seed=None, dtype=dtypes.float32):
    """Values whose variance is `factor` divided by the number of inputs, of outputs or their mean.

    >>> layers.variance_scaling_initializer()   # He et al. (2015), for layers with ReLU
    """
    _check_floating(dtype)
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"mode must be 'FAN_IN', 'FAN_OUT' or 'FAN_AVG', not {mode!r}")

    def _initializer(shape, dtype=dtype, partition_info=None):
        _check_floating(dtype)
        inputs, outputs = _fans(shape) if shape != [] else (1.0, 1.0)
        n = {"FAN_IN": inputs, "FAN_OUT": outputs, "FAN_AVG": (inputs + outputs) / 2.0}[mode]
        if uniform:
            limit = sqrt(3.0 * factor / n)
            return random.random_uniform(shape, -limit, limit, dtype, seed=seed)
        # A normal cut at two deviations is narrower than a whole one.
        return random.truncated_normal(shape, 0.0, sqrt(1.3 * factor / n), dtype, seed=seed)

    return _initializer


XAVIER = xavier_initializer()
