"""Build functions and shape rules of the stateless random ops, whose values depend on shape and seed alone."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.static_values import constant_value_as_shape, shaped
from everflow.ops.random.distributions import affine, shape_tensor, uniform_type_and_end


def stateless_random_uniform(shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None):
    """Uniform values in [minval, maxval), the same at every run for one `seed` (two integers).

    Args:
        shape: The lengths of the axes.
        seed: Two whole numbers.
        minval: The lower bound.
        maxval: The upper bound, which is not reached; 1 for floats if None.
        dtype: The type of the elements.
        name: The name of the operation in the graph.

    Returns:
        A tensor of that shape.

    Raises:
        ValueError: If integers are given no `maxval`.

    Example:
        >>> sess.run(tf.random.stateless_uniform([2], seed=[1, 2]))
        array([0.8440604 , 0.19204533], dtype=float32)
    """
    dtype, maxval = uniform_type_and_end(maxval, dtype)
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as name:
        shape = shape_tensor(shape)
        minval = convert_to_tensor(minval, dtype=dtype, name="min")
        maxval = convert_to_tensor(maxval, dtype=dtype, name="max")
        if dtype.is_integer:
            return shaped(raw.StatelessRandomUniformInt(shape, seed, minval, maxval, name=name), shape)
        values = raw.StatelessRandomUniform(shape, seed, dtype=dtype)
        return shaped(affine(values, raw.Sub(maxval, minval, name="sub"), minval, name), shape)


def _normal(function, scope, shape, seed, mean, stddev, dtype, name):
    with name_scope(name, scope, [shape, seed, mean, stddev]) as name:
        shape = shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype=dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
        return shaped(affine(function(shape, seed, dtype=dtype), stddev, mean, name), shape)


def stateless_random_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
    """Normal values, the same at every run for one `seed` (two integers).

    Args:
        shape: The lengths of the axes.
        seed: Two whole numbers.
        mean: The mean.
        stddev: The standard deviation.
        dtype: The type of the elements.
        name: The name of the operation in the graph.

    Returns:
        A tensor of that shape.

    Example:
        >>> sess.run(tf.random.stateless_normal([2], seed=[1, 2]))
        array([0.5441101 , 0.20738031], dtype=float32)
    """
    return _normal(raw.StatelessRandomNormal, "stateless_random_normal", shape, seed, mean, stddev, dtype, name)


def stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
    """Truncated normal values, the same at every run for one `seed` (two integers).

    Args:
        shape: The lengths of the axes.
        seed: Two whole numbers.
        mean: The mean.
        stddev: The standard deviation.
        dtype: The type of the elements.
        name: The name of the operation in the graph.

    Returns:
        A tensor of that shape.

    Example:
        >>> sess.run(tf.random.stateless_truncated_normal([2], seed=[1, 2]))
        array([0.5441101 , 0.20738031], dtype=float32)
    """
    return _normal(raw.StatelessTruncatedNormal, "stateless_truncated_normal", shape, seed, mean, stddev, dtype, name)


def stateless_multinomial(logits, num_samples, seed, output_dtype=dtypes.int64, name=None):
    """Class indices drawn by unnormalised log-probabilities, the same at every run for one `seed`.

    Args:
        logits: The logarithms of the classes' weights: [batch, classes].
        num_samples: How many are drawn for each row.
        seed: Two whole numbers.
        output_dtype: The type of the indices.
        name: The name of the operation in the graph.

    Returns:
        Class indices.

    Example:
        >>> sess.run(tf.random.stateless_multinomial([[0.0, 0.0]], 5, seed=[1, 2]))
        array([[1, 1, 0, 1, 1]])
    """
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return _categorical(logits, num_samples, seed, output_dtype)


def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64, name=None):
    """Class indices drawn by unnormalised log-probabilities, the same at every run for one `seed`.

    Args:
        logits: The logarithms of the classes' weights: [batch, classes].
        num_samples: How many are drawn for each row.
        seed: Two whole numbers.
        dtype: The type of the elements.
        name: The name of the operation in the graph.

    Returns:
        Class indices.

    Example:
        >>> sess.run(tf.random.stateless_categorical([[0.0, 0.0]], 5, seed=[1, 2]))
        array([[1, 1, 0, 1, 1]])
    """
    with name_scope(name, "stateless_categorical", [logits, seed]):
        return _categorical(logits, num_samples, seed, dtype)


def _categorical(logits, num_samples, seed, dtype):
    logits = convert_to_tensor(logits, name="logits")
    return raw.StatelessMultinomial(logits, num_samples, seed, output_dtype=dtypes.as_dtype(dtype))


@shape_rule("StatelessRandomUniform", "StatelessRandomUniformInt", "StatelessRandomNormal", "StatelessTruncatedNormal")
def _shape_from_input(op):
    op.inputs[0].shape.with_rank(1)
    op.inputs[1].shape.with_rank(1).merge_with([2])
    for bound in op.inputs[2:]:
        bound.shape.with_rank(0)
    return constant_value_as_shape(op.inputs[0])


not_differentiable(
    "StatelessMultinomial",
    "StatelessRandomNormal",
    "StatelessRandomUniform",
    "StatelessRandomUniformInt",
    "StatelessTruncatedNormal",
)
