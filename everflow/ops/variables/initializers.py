"""Initializers: objects that make the first value of a variable from its shape and dtype, and can be written down as a
config.
"""

from __future__ import annotations

import math

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.shapes import TensorShape
from everflow.ops.array.basic import ones, zeros
from everflow.ops.array.constants import constant
from everflow.ops.array.layout import matrix_transpose
from everflow.ops.linalg.decompositions import eye
from everflow.ops.random import distributions as random


class Initializer:
    """Base of all initializers: `initializer(shape, dtype)` makes a tensor.

    Example:
        >>> isinstance(tf.keras.initializers.Zeros(), tf.keras.initializers.Initializer)
        True
    """

    _draws = random  # where random values come from

    def __call__(self, shape, dtype=None, partition_info=None):
        raise NotImplementedError

    def get_config(self):
        """The arguments that make this initializer again."""
        return {}

    @classmethod
    def from_config(cls, config):
        """An initializer from what `get_config` gave."""
        return cls(**config)


def floating_dtype(dtype):
    """The DType, which must be a floating-point one."""
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype!s}.")
    return dtype


class TypedInitializer(Initializer):
    """Base of those with a dtype of their own. What they are made with is in attributes of the same names, and so in
    the config.
    """

    _settings = ()  # the names in the config, besides the dtype's

    def _keep(self, dtype, **settings):
        self.dtype = dtype
        vars(self).update(settings)

    def get_config(self):
        return {**{name: getattr(self, name) for name in self._settings}, "dtype": self.dtype.name}


class _Filled(TypedInitializer):
    _fill = None  # of shape and type

    def __init__(self, dtype=dtypes.float32):
        self._keep(dtypes.as_dtype(dtype))

    def __call__(self, shape, dtype=None, partition_info=None):
        return self._fill(shape, self.dtype if dtype is None else dtype)


class Zeros(_Filled):
    """All zeros.

    Args:
        dtype: The type of the elements, where the call doesn't say it.

    Example:
        >>> v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
        >>> sess.run(v.initializer)
        >>> sess.run(v)
        array([0., 0.], dtype=float32)
    """

    _fill = staticmethod(zeros)


class Ones(_Filled):
    """All ones.

    Args:
        dtype: The type of the elements, where the call doesn't say it.

    Example:
        >>> v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
        >>> sess.run(v.initializer)
        >>> sess.run(v)
        array([1., 1.], dtype=float32)
    """

    _fill = staticmethod(ones)


class Constant(TypedInitializer):
    """One value, or a list of values that fill the shape; the last one is repeated where they are too few.

    Args:
        value: A number, list or array.
        dtype: The type of the elements, where the call doesn't say it.
        verify_shape: Whether the value must have exactly the variable's shape.

    Example:
        >>> v = tf.get_variable("v", [2, 2], initializer=tf.constant_initializer([1.0, 2.0, 3.0, 4.0]))
        >>> sess.run(v.initializer)
        >>> sess.run(v)
        array([[1., 2.],
               [3., 4.]], dtype=float32)
    """

    _settings = ("value",)  # without `verify_shape`, so that configs stay readable by newer Keras

    def __init__(self, value=0, dtype=dtypes.float32, verify_shape=False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"A constant's value is a number, a list or tuple of them, or a numpy array, not {type(value)}"
            )
        self._keep(dtypes.as_dtype(dtype), value=value, _verify_shape=verify_shape)

    def __call__(self, shape, dtype=None, partition_info=None, verify_shape=None):
        if verify_shape is None:
            verify_shape = self._verify_shape
        return constant(
            self.value, dtype=self.dtype if dtype is None else dtype, shape=shape, verify_shape=verify_shape
        )


class RandomUniform(TypedInitializer):
    """Uniform values in [minval, maxval).

    Args:
        minval: The lower bound.
        maxval: The upper bound, which is not reached; 1 for floats if None.
        seed: A number that makes the random numbers the same in each run of the program.
        dtype: The type of the elements, where the call doesn't say it.

    Example:
        >>> v = tf.get_variable("v", [1000], initializer=tf.random_uniform_initializer(-1.0, 1.0, seed=1))
        >>> sess.run(v.initializer)
        >>> bool((abs(sess.run(v)) <= 1.0).all())
        True
    """

    _settings = ("minval", "maxval", "seed")

    def __init__(self, minval=0, maxval=None, seed=None, dtype=dtypes.float32):
        self._keep(dtypes.as_dtype(dtype), minval=minval, maxval=maxval, seed=seed)

    def __call__(self, shape, dtype=None, partition_info=None):
        return self._draws.random_uniform(
            shape, self.minval, self.maxval, self.dtype if dtype is None else dtype, seed=self.seed
        )


class _Normal(TypedInitializer):
    _draw = ""  # the name of what draws, of shape, mean, deviation, type and seed
    _settings = ("mean", "stddev", "seed")

    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=dtypes.float32):
        self._keep(floating_dtype(dtype), mean=mean, stddev=stddev, seed=seed)

    def __call__(self, shape, dtype=None, partition_info=None):
        draw = getattr(self._draws, self._draw)
        return draw(shape, self.mean, self.stddev, self.dtype if dtype is None else dtype, seed=self.seed)


class RandomNormal(_Normal):
    """Normal values.

    Args:
        mean: The mean.
        stddev: The standard deviation.
        seed: A number that makes the random numbers the same in each run of the program.
        dtype: The type of the elements, where the call doesn't say it.

    Example:
        >>> v = tf.get_variable("v", [1000], initializer=tf.random_normal_initializer(stddev=0.1, seed=1))
        >>> sess.run(v.initializer)
        >>> print("%.2f" % sess.run(v).std())
        0.10
    """

    _draw = "random_normal"


class TruncatedNormal(_Normal):
    """Normal values within two deviations of the mean.

    Args:
        mean: The mean.
        stddev: The standard deviation.
        seed: A number that makes the random numbers the same in each run of the program.
        dtype: The type of the elements, where the call doesn't say it.

    Example:
        >>> v = tf.get_variable("v", [1000], initializer=tf.truncated_normal_initializer(stddev=0.1, seed=1))
        >>> sess.run(v.initializer)
        >>> print("%.2f" % sess.run(v).std())
        0.09
    """

    _draw = "truncated_normal"


class UniformUnitScaling(TypedInitializer):
    """Uniform values that keep the scale of what a layer of linear units passes on.

    Args:
        factor: A factor.
        seed: A number that makes the random numbers the same in each run of the program.
        dtype: The type of the elements, where the call doesn't say it.

    Example:
        >>> v = tf.get_variable("v", [3, 3], initializer=tf.uniform_unit_scaling_initializer(seed=1))
        >>> sess.run(v.initializer)
        >>> bool((abs(sess.run(v)) <= 1.0).all())
        True
    """

    _settings = ("factor", "seed")

    def __init__(self, factor=1.0, seed=None, dtype=dtypes.float32):
        self._keep(floating_dtype(dtype), factor=factor, seed=seed)

    def __call__(self, shape, dtype=None, partition_info=None):
        if dtype is None:
            dtype = self.dtype
        full = partition_info.full_shape if partition_info is not None else shape
        # All dimensions but the last are inputs; a vector counts as one.
        inputs = max(math.prod(float(int(size)) for size in full[:-1]), 1.0)
        limit = math.sqrt(3 / inputs) * self.factor
        return self._draws.random_uniform(shape, -limit, limit, dtype, seed=self.seed)


# A truncated standard normal distribution has this deviation.
_TRUNCATED_DEVIATION = 0.87962566103423978


_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("normal", "uniform", "truncated_normal", "untruncated_normal")


class VarianceScaling(TypedInitializer):
    """Values whose variance is `scale` over the number of inputs, outputs, or their average.

    Args:
        scale: The numerator of the variance.
        mode: What it is divided by: `fan_in`, `fan_out` or `fan_avg`.
        distribution: `truncated_normal`, `untruncated_normal` or `uniform`.
        seed: A number that makes the random numbers the same in each run of the program.
        dtype: The type of the elements, where the call doesn't say it.

    Example:
        >>> v = tf.get_variable("v", [100, 50], initializer=tf.variance_scaling_initializer(2.0, seed=1))
        >>> sess.run(v.initializer)
        >>> print("%.2f" % sess.run(v).std())
        0.14
    """

    _settings = ("scale", "mode", "distribution", "seed")

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None, dtype=dtypes.float32):
        if scale <= 0.0:
            raise ValueError(f"`scale` must be positive, not {scale}")
        for argument, value, known in (("mode", mode, _MODES), ("distribution", distribution.lower(), _DISTRIBUTIONS)):
            if value not in known:
                raise ValueError(f"Invalid `{argument}` argument: {value!r} is not one of {known}")
        self._keep(floating_dtype(dtype), scale=scale, mode=mode, distribution=distribution.lower(), seed=seed)

    def __call__(self, shape, dtype=None, partition_info=None):
        if dtype is None:
            dtype = self.dtype
        full = partition_info.full_shape if partition_info is not None else shape
        fan_in, fan_out = compute_fans(full)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        scale = self.scale / max(1.0, fan)
        if self.distribution in ("normal", "truncated_normal"):
            return self._draws.truncated_normal(
                shape, 0.0, math.sqrt(scale) / _TRUNCATED_DEVIATION, dtype, seed=self.seed
            )
        if self.distribution == "untruncated_normal":
            return self._draws.random_normal(shape, 0.0, math.sqrt(scale), dtype, seed=self.seed)
        limit = math.sqrt(3.0 * scale)
        return self._draws.random_uniform(shape, -limit, limit, dtype, seed=self.seed)


def compute_fans(shape):
    """(inputs, outputs) of a weight: of a convolution's kernel, times the size of its window."""
    sizes = [int(size) for size in (shape.as_list() if isinstance(shape, TensorShape) else shape)]
    if len(sizes) < 1:
        return 1.0, 1.0
    if len(sizes) == 1:
        return sizes[0], sizes[0]
    window = math.prod(sizes[:-2])
    return sizes[-2] * window, sizes[-1] * window


class GlorotUniform(VarianceScaling):
    """Uniform values by the average of inputs and outputs (Xavier).

    Args:
        seed: A number that makes the random numbers the same in each run of the program.
        dtype: The type of the elements, where the call doesn't say it.

    Example:
        >>> v = tf.get_variable("v", [100, 100], initializer=tf.glorot_uniform_initializer(seed=1))
        >>> sess.run(v.initializer)
        >>> print("%.2f" % sess.run(v).std())
        0.10
    """

    _settings = ("seed",)

    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(scale=1.0, mode="fan_avg", distribution="uniform", seed=seed, dtype=dtype)


class GlorotNormal(VarianceScaling):
    """Truncated normal values by the average of inputs and outputs (Xavier).

    Args:
        seed: A number that makes the random numbers the same in each run of the program.
        dtype: The type of the elements, where the call doesn't say it.

    Example:
        >>> v = tf.get_variable("v", [100, 100], initializer=tf.glorot_normal_initializer(seed=1))
        >>> sess.run(v.initializer)
        >>> print("%.2f" % sess.run(v).std())
        0.10
    """

    _settings = ("seed",)

    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(scale=1.0, mode="fan_avg", distribution="truncated_normal", seed=seed, dtype=dtype)


def lecun_normal(seed=None):
    """Truncated normal values by the number of inputs.

    Args:
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        An initializer.

    Example:
        >>> sess.run(tf.initializers.lecun_normal(seed=1)([2, 3])).shape
        (2, 3)
    """
    return VarianceScaling(scale=1.0, mode="fan_in", distribution="truncated_normal", seed=seed)


def lecun_uniform(seed=None):
    """Uniform values by the number of inputs.

    Args:
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        An initializer.

    Example:
        >>> sess.run(tf.initializers.lecun_uniform(seed=1)([2, 3])).shape
        (2, 3)
    """
    return VarianceScaling(scale=1.0, mode="fan_in", distribution="uniform", seed=seed)


def he_normal(seed=None):
    """Truncated normal values by the number of inputs, for rectified units.

    Args:
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        An initializer.

    Example:
        >>> sess.run(tf.initializers.he_normal(seed=1)([2, 3])).shape
        (2, 3)
    """
    return VarianceScaling(scale=2.0, mode="fan_in", distribution="truncated_normal", seed=seed)


def he_uniform(seed=None):
    """Uniform values by the number of inputs, for rectified units.

    Args:
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        An initializer.

    Example:
        >>> sess.run(tf.initializers.he_uniform(seed=1)([2, 3])).shape
        (2, 3)
    """
    return VarianceScaling(scale=2.0, mode="fan_in", distribution="uniform", seed=seed)


def _random_orthogonal(shape, dtype, seed, draw):
    """A matrix with orthonormal columns (or rows), uniformly distributed."""
    values = draw(shape, 0.0, 1.0, dtype, seed=seed)
    q, r = raw.Qr(values, full_matrices=False)
    # Only with the signs of the diagonal taken out is the distribution uniform.
    return raw.Mul(q, raw.Sign(raw.DiagPart(r)), name="mul")


class Orthogonal(TypedInitializer):
    """An orthogonal matrix; of more dimensions, all but the last are taken together.

    Args:
        gain: A factor.
        seed: A number that makes the random numbers the same in each run of the program.
        dtype: The type of the elements, where the call doesn't say it.

    Example:
        >>> v = tf.get_variable("v", [2, 2], initializer=tf.orthogonal_initializer(seed=1))
        >>> sess.run(v.initializer)
        >>> np.round(abs(sess.run(tf.matmul(v, v, transpose_a=True))), 3)
        array([[1., 0.],
               [0., 1.]], dtype=float32)
    """

    _settings = ("gain", "seed")

    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        self._keep(floating_dtype(dtype), gain=gain, seed=seed)

    def __call__(self, shape, dtype=None, partition_info=None):
        if dtype is None:
            dtype = self.dtype
        if len(shape) < 2:
            raise ValueError(f"An orthogonal tensor has at least two dimensions; got the shape {shape}")
        columns = int(shape[-1])
        rows = math.prod(int(size) for size in shape[:-1])
        if rows < columns:
            q = matrix_transpose(_random_orthogonal((columns, rows), dtype, self.seed, self._draws.random_normal))
        else:
            q = _random_orthogonal((rows, columns), dtype, self.seed, self._draws.random_normal)
        return self.gain * raw.Reshape(q, list(shape))


class Identity(TypedInitializer):
    """The identity matrix times `gain`.

    Args:
        gain: The factor.
        dtype: The type of the elements, where the call doesn't say it.

    Example:
        >>> sess.run(tf.initializers.identity(2.0)([2, 2]))
        array([[2., 0.],
               [0., 2.]], dtype=float32)
    """

    _settings = ("gain",)

    def __init__(self, gain=1.0, dtype=dtypes.float32):
        self._keep(floating_dtype(dtype), gain=gain)

    def __call__(self, shape, dtype=None, partition_info=None):
        full = shape if partition_info is None else partition_info.full_shape
        if len(full) != 2:
            raise ValueError(f"An identity is a matrix of two dimensions; got the shape {full}")
        if dtype is None:
            dtype = self.dtype
        if isinstance(full, TensorShape):
            full = full.as_list()
        values = eye(*full, dtype=dtype)
        if partition_info is not None:
            values = raw.Slice(values, partition_info.var_offset, shape)
        return self.gain * values


# The names under which TensorFlow 1 programs know them.
zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_uniform_initializer = RandomUniform
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
uniform_unit_scaling_initializer = UniformUnitScaling
variance_scaling_initializer = VarianceScaling
glorot_uniform_initializer = GlorotUniform
glorot_normal_initializer = GlorotNormal
orthogonal_initializer = Orthogonal
identity_initializer = Identity
