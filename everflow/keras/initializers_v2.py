"""tf.compat.v2.initializers: as tf's, without a type of their own, and with a seed always of the same values.

With a seed they draw from stateless generators: neither the graph's seed nor the place in the graph matters.
"""

from __future__ import annotations

import types

import numpy as np

from everflow.framework import dtypes
from everflow.keras.initializers import deserialize, get, serialize  # noqa: F401  they are public here
from everflow.ops import initializers, random, random_stateless
from everflow.ops.constants import constant as constant_tensor
from everflow.ops.initializers import Initializer, floating_dtype


def _seeded(plain, stateless):
    def draw(shape, first, second, dtype, seed=None):
        if seed is None:
            return plain(shape, first, second, dtype)
        return stateless(shape, [seed, 0], first, second, dtype)

    return draw


_DRAWS = types.SimpleNamespace(
    random_normal=_seeded(random.random_normal, random_stateless.stateless_random_normal),
    truncated_normal=_seeded(random.truncated_normal, random_stateless.stateless_truncated_normal),
    random_uniform=_seeded(random.random_uniform, random_stateless.stateless_random_uniform),
)


class _Untyped:
    """The type is an argument of the call."""

    _draws = _DRAWS
    _floating = True

    def __call__(self, shape, dtype=dtypes.float32):
        return super().__call__(shape, floating_dtype(dtype) if self._floating else dtype)

    def get_config(self):
        return {key: value for key, value in super().get_config().items() if key != "dtype"}


class Zeros(_Untyped, initializers.Zeros):
    """All zeros."""

    _floating = False

    def __init__(self):
        super().__init__()


class Ones(_Untyped, initializers.Ones):
    """All ones."""

    _floating = False

    def __init__(self):
        super().__init__()


class Constant(Initializer):
    """A value, or as many values as the shape holds."""

    def __init__(self, value=0):
        if not (np.isscalar(value) or isinstance(value, list | tuple | np.ndarray)):
            raise TypeError(f"A constant is a number, a list or tuple of them, or an array, not {type(value)}.")
        self.value = value

    def __call__(self, shape, dtype=None):
        return constant_tensor(self.value, dtype=dtype and dtypes.as_dtype(dtype), shape=shape, verify_shape=np.size(self.value) != 1)

    def get_config(self):
        return {"value": self.value}


class RandomUniform(_Untyped, initializers.RandomUniform):
    """Uniform values in [minval, maxval)."""

    _floating = False

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        super().__init__(minval, maxval, seed)


class RandomNormal(_Untyped, initializers.RandomNormal):
    """Normal values."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        super().__init__(mean, stddev, seed)


class TruncatedNormal(_Untyped, initializers.TruncatedNormal):
    """Normal values, those beyond two deviations drawn again."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        super().__init__(mean, stddev, seed)


class VarianceScaling(_Untyped, initializers.VarianceScaling):
    """Values whose variance is `scale` over the number of inputs, outputs, or their average."""

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None):
        super().__init__(scale, mode, distribution, seed)


class GlorotUniform(_Untyped, initializers.GlorotUniform):
    """Uniform values by the average of inputs and outputs (Xavier)."""

    def __init__(self, seed=None):
        super().__init__(seed)


class GlorotNormal(_Untyped, initializers.GlorotNormal):
    """Truncated normal values by the average of inputs and outputs (Xavier)."""

    def __init__(self, seed=None):
        super().__init__(seed)


class Orthogonal(_Untyped, initializers.Orthogonal):
    """An orthogonal matrix; of more dimensions, all but the last are taken together."""

    def __init__(self, gain=1.0, seed=None):
        super().__init__(gain, seed)


class Identity(_Untyped, initializers.Identity):
    """The identity matrix times `gain`."""

    def __init__(self, gain=1.0):
        super().__init__(gain)


def _by_inputs(scale, distribution):
    def make(seed=None):
        """An initializer whose variance goes with the number of inputs."""
        return VarianceScaling(scale, "fan_in", distribution, seed)

    return make


he_normal, he_uniform = _by_inputs(2.0, "truncated_normal"), _by_inputs(2.0, "uniform")
lecun_normal, lecun_uniform = _by_inputs(1.0, "truncated_normal"), _by_inputs(1.0, "uniform")
zeros, ones, constant, identity, orthogonal = Zeros, Ones, Constant, Identity, Orthogonal
glorot_uniform, glorot_normal = GlorotUniform, GlorotNormal
