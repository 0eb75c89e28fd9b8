"""Initializers of TensorFlow 2: as tf's, without a type of their own, and with a seed always of the same values.

With a seed they draw from stateless generators: neither the graph's seed nor the place in the graph matters.
"""

from __future__ import annotations

import types

import numpy as np

from everflow.framework import dtypes
from everflow.ops.array.constants import constant_v2
from everflow.ops.random import distributions as random
from everflow.ops.random import stateless as random_stateless
from everflow.ops.variables import initializers
from everflow.ops.variables.initializers import Initializer, floating_dtype
from everflow.platform.signatures import constructor


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

    _numeric = False  # whether nothing but numbers and bools will do

    def __call__(self, shape, dtype=dtypes.float32):
        dtype = floating_dtype(dtype) if self._floating else dtypes.as_dtype(dtype)
        if self._numeric and dtype == dtypes.string:
            raise ValueError("This initializer makes numbers or bools, no strings")
        return super().__call__(shape, dtype)

    def get_config(self):
        return {key: value for key, value in super().get_config().items() if key != "dtype"}

    @classmethod
    def from_config(cls, config):
        """An initializer from what `get_config` gave; the type that one of TensorFlow 1 wrote is left out."""
        return cls(**{key: value for key, value in config.items() if key != "dtype"})


class Constant(Initializer):
    """A value, or as many values as the shape holds."""

    from_config = classmethod(_Untyped.from_config.__func__)

    def __init__(self, value=0):
        if not (np.isscalar(value) or isinstance(value, list | tuple | np.ndarray)):
            raise TypeError(f"A constant is a number, a list or tuple of them, or an array, not {type(value)}.")
        self.value = value

    def __call__(self, shape, dtype=None):
        return constant_v2(self.value, dtype and dtypes.as_dtype(dtype), shape)

    def get_config(self):
        return {"value": self.value}


def _untyped(base, doc, floating=True, **arguments):
    """The class of an initializer of tf.initializers without a type; its arguments have other defaults."""
    start = constructor(arguments, base.__init__)
    return type(
        base.__name__,
        (_Untyped, base),
        {"__init__": start, "_floating": floating, "__doc__": doc, "__module__": __name__},
    )


Zeros = _untyped(initializers.Zeros, "All zeros.", floating=False)
Ones = _untyped(initializers.Ones, "All ones.", floating=False)
Ones._numeric = True
RandomUniform = _untyped(
    initializers.RandomUniform,
    "Uniform values in [minval, maxval).",
    floating=False,
    minval=-0.05,
    maxval=0.05,
    seed=None,
)
RandomNormal = _untyped(initializers.RandomNormal, "Normal values.", mean=0.0, stddev=0.05, seed=None)
TruncatedNormal = _untyped(
    initializers.TruncatedNormal,
    "Normal values, those beyond two deviations drawn again.",
    mean=0.0,
    stddev=0.05,
    seed=None,
)
VarianceScaling = _untyped(
    initializers.VarianceScaling,
    "Values whose variance is `scale` over the number of inputs, outputs, or their average.",
    scale=1.0,
    mode="fan_in",
    distribution="truncated_normal",
    seed=None,
)
GlorotUniform = _untyped(
    initializers.GlorotUniform, "Uniform values by the average of inputs and outputs (Xavier).", seed=None
)
GlorotNormal = _untyped(
    initializers.GlorotNormal, "Truncated normal values by the average of inputs and outputs (Xavier).", seed=None
)
Orthogonal = _untyped(
    initializers.Orthogonal,
    "An orthogonal matrix; of more dimensions, all but the last are taken together.",
    gain=1.0,
    seed=None,
)
Identity = _untyped(initializers.Identity, "The identity matrix times `gain`.", gain=1.0)


def _by_inputs(scale, distribution):
    def make(seed=None):
        """An initializer whose variance goes with the number of inputs."""
        return VarianceScaling(scale, "fan_in", distribution, seed)

    return make


he_normal, he_uniform = _by_inputs(2.0, "truncated_normal"), _by_inputs(2.0, "uniform")
lecun_normal, lecun_uniform = _by_inputs(1.0, "truncated_normal"), _by_inputs(1.0, "uniform")
zeros, ones, constant, identity, orthogonal = Zeros, Ones, Constant, Identity, Orthogonal
glorot_uniform, glorot_normal = GlorotUniform, GlorotNormal

# What names in files and programs stand for, in programs for TensorFlow 2.
by_name = {name: made for name, made in globals().items() if callable(made) and not name.startswith("_")}
by_name = {name: made for name, made in by_name.items() if getattr(made, "__module__", None) == __name__}
by_name |= {"zero": Zeros, "one": Ones, "normal": RandomNormal, "uniform": RandomUniform}
by_name |= {"random_normal": RandomNormal, "random_uniform": RandomUniform, "truncated_normal": TruncatedNormal}
