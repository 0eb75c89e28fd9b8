"""The backend's random numbers. Seeds come from numpy where none is given: np.random.seed makes programs repeat."""

from __future__ import annotations

import numpy as np

from everflow.keras.backend.config import floatx
from everflow.ops import array
from everflow.ops.random import distributions as random_ops


def _defaults(dtype, seed):
    return floatx() if dtype is None else dtype, np.random.randint(int(10e6)) if seed is None else seed


def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal values.

    Args:
        shape: The lengths of the axes.
        mean: The mean.
        stddev: The standard deviation.
        dtype: The type, or its name; `floatx()` if None.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.keras.backend.random_normal((2, 3), seed=1)).shape
        (2, 3)
    """
    dtype, seed = _defaults(dtype, seed)
    return random_ops.random_normal(shape, mean=mean, stddev=stddev, dtype=dtype, seed=seed)


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Uniform values in [minval, maxval).

    Args:
        shape: The lengths of the axes.
        minval: The lower bound.
        maxval: The upper bound, which is not reached.
        dtype: The type, or its name; `floatx()` if None.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.keras.backend.random_uniform((2, 3), seed=1)).shape
        (2, 3)
    """
    dtype, seed = _defaults(dtype, seed)
    return random_ops.random_uniform(shape, minval=minval, maxval=maxval, dtype=dtype, seed=seed)


def random_binomial(shape, p=0.0, dtype=None, seed=None):
    """Ones with probability p, zeros otherwise.

    Args:
        shape: The lengths of the axes.
        p: The probability.
        dtype: The type, or its name; `floatx()` if None.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        A tensor.

    Example:
        >>> set(sess.run(tf.keras.backend.random_binomial((8,), 0.5)).tolist()) <= {0.0, 1.0}
        True
    """
    dtype, seed = _defaults(dtype, seed)
    drawn = random_ops.random_uniform(shape, dtype=dtype, seed=seed)
    return array.where(drawn <= p, array.ones(shape, dtype=dtype), array.zeros(shape, dtype=dtype))


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal values within two deviations of the mean.

    Args:
        shape: The lengths of the axes.
        mean: The mean.
        stddev: The standard deviation.
        dtype: The type, or its name; `floatx()` if None.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.keras.backend.truncated_normal((2, 3), seed=1)).shape
        (2, 3)
    """
    dtype, seed = _defaults(dtype, seed)
    return random_ops.truncated_normal(shape, mean, stddev, dtype=dtype, seed=seed)
