"""The backend's random numbers. Seeds come from numpy where none is given: np.random.seed makes programs repeat."""

from __future__ import annotations

import numpy as np

from everflow.keras.backend.config import floatx
from everflow.ops import array
from everflow.ops.random import distributions as random_ops


def _defaults(dtype, seed):
    return floatx() if dtype is None else dtype, np.random.randint(int(10e6)) if seed is None else seed


def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal values."""
    dtype, seed = _defaults(dtype, seed)
    return random_ops.random_normal(shape, mean=mean, stddev=stddev, dtype=dtype, seed=seed)


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Uniform values in [minval, maxval)."""
    dtype, seed = _defaults(dtype, seed)
    return random_ops.random_uniform(shape, minval=minval, maxval=maxval, dtype=dtype, seed=seed)


def random_binomial(shape, p=0.0, dtype=None, seed=None):
    """Ones with probability p, zeros otherwise."""
    dtype, seed = _defaults(dtype, seed)
    drawn = random_ops.random_uniform(shape, dtype=dtype, seed=seed)
    return array.where(drawn <= p, array.ones(shape, dtype=dtype), array.zeros(shape, dtype=dtype))


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal values within two deviations of the mean."""
    dtype, seed = _defaults(dtype, seed)
    return random_ops.truncated_normal(shape, mean, stddev, dtype=dtype, seed=seed)
