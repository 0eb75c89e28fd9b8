"""Build functions, shape rules and gradients of the random ops: seeded distributions, shuffles and crops.

Stateless forms are in `random_stateless.py`.
"""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import gradient, not_differentiable, shape_rule
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.seeds import get_seed
from everflow.framework.shapes import TensorShape, broadcast, dimension_value
from everflow.framework.static_values import constant_value_as_shape, known_shape, known_value, shaped
from everflow.ops.array.basic import ones, reshape, zeros_like
from everflow.ops.array.basic import shape as shape_of
from everflow.ops.array.joining import concat
from everflow.ops.control_flow import Assert
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.math.reductions import reduce_all, reduce_sum
from everflow.ops.math.sequences import range as range_of
from everflow.ops.shape_rules import like_first

_UNIFORM_DTYPES = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def shape_tensor(shape):
    """A shape argument as a tensor named `shape`; sizes may be numbers, Dimensions or scalar tensors."""
    dtype = None
    if isinstance(shape, (tuple, list)):
        if not shape:
            dtype = dtypes.int32
        else:
            shape = tuple(map(dimension_value, shape))
    return convert_to_tensor(shape, dtype=dtype, name="shape")


def _seeds(seed) -> dict:
    """The seed attributes of an op made now."""
    seed, seed2 = get_seed(seed)
    return {"seed": seed or 0, "seed2": seed2 or 0}


def affine(values, scale, offset, name):
    """values * scale + offset, the last steps of every location-scale distribution."""
    return raw.Add(raw.Mul(values, scale, name="mul"), offset, name=name)


def random_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Normal values of this shape.

    Args:
        shape: The lengths of the axes.
        mean: The mean.
        stddev: The standard deviation.
        dtype: The type of the elements.
        seed: A number that makes the random numbers the same in each run of the program.
        name: The name of the operation in the graph.

    Returns:
        A tensor of that shape.

    Example:
        >>> tf.set_random_seed(1)
        >>> sess.run(tf.random_normal([3], stddev=0.1))
        array([0.03369458, 0.177476  , 0.14188327], dtype=float32)
    """
    with name_scope(name, "random_normal", [shape, mean, stddev]) as name:
        shape = shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype=dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
        values = raw.RandomStandardNormal(shape, dtype=dtype, **_seeds(seed))
        return shaped(affine(values, stddev, mean, name), shape)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Normal values of which those more than two deviations from the mean are drawn again.

    Args:
        shape: The lengths of the axes.
        mean: The mean.
        stddev: The standard deviation.
        dtype: The type of the elements.
        seed: A number that makes the random numbers the same in each run of the program.
        name: The name of the operation in the graph.

    Returns:
        A tensor of that shape.

    Example:
        >>> tf.set_random_seed(1)
        >>> sess.run(tf.truncated_normal([3], stddev=0.1))
        array([0.03369458, 0.177476  , 0.14188327], dtype=float32)
    """
    with name_scope(name, "truncated_normal", [shape, mean, stddev]) as name:
        shape = shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype=dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
        values = raw.TruncatedNormal(shape, dtype=dtype, **_seeds(seed))
        return shaped(affine(values, stddev, mean, name), shape)


def parameterized_truncated_normal(
    shape, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, dtype=dtypes.float32, seed=None, name=None
):
    """Normal values between bounds, with parameters of their own for each row of the first dimension."""
    with name_scope(name, "parameterized_truncated_normal", [shape, means, stddevs, minvals, maxvals]) as name:
        shape = shape_tensor(shape)
        means = convert_to_tensor(means, dtype=dtype, name="means")
        stddevs = convert_to_tensor(stddevs, dtype=dtype, name="stddevs")
        minvals = convert_to_tensor(minvals, dtype=dtype, name="minvals")
        maxvals = convert_to_tensor(maxvals, dtype=dtype, name="maxvals")
        return shaped(raw.ParameterizedTruncatedNormal(shape, means, stddevs, minvals, maxvals, **_seeds(seed)), shape)


def uniform_type_and_end(maxval, dtype):
    """The checked dtype of a uniform distribution, and its upper bound where it has a default."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _UNIFORM_DTYPES:
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    return dtype, maxval


def random_uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    """Uniform values in [minval, maxval); integers must be given a maxval.

    Args:
        shape: The lengths of the axes.
        minval: The lower bound.
        maxval: The upper bound, which is not reached; 1 for floats if None.
        dtype: The type of the elements.
        seed: A number that makes the random numbers the same in each run of the program.
        name: The name of the operation in the graph.

    Returns:
        A tensor of that shape.

    Raises:
        ValueError: If integers are given no `maxval`.

    Example:
        >>> tf.set_random_seed(1)
        >>> sess.run(tf.random_uniform([3], 0, 10, tf.int32))
        array([6, 9, 2], dtype=int32)
    """
    dtype, maxval = uniform_type_and_end(maxval, dtype)
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as name:
        shape = shape_tensor(shape)
        minval = convert_to_tensor(minval, dtype=dtype, name="min")
        maxval = convert_to_tensor(maxval, dtype=dtype, name="max")
        if dtype.is_integer:
            return shaped(raw.RandomUniformInt(shape, minval, maxval, name=name, **_seeds(seed)), shape)
        values = raw.RandomUniform(shape, dtype=dtype, **_seeds(seed))
        return shaped(affine(values, raw.Sub(maxval, minval, name="sub"), minval, name), shape)


def random_shuffle(value, seed=None, name=None):
    """The rows of a tensor in random order.

    Args:
        value: The tensor.
        seed: A number that makes the random numbers the same in each run of the program.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sorted(sess.run(tf.random_shuffle([1, 2, 3])).tolist())
        [1, 2, 3]
    """
    return raw.RandomShuffle(value, name=name, **_seeds(seed))


def random_crop(value, size, seed=None, name=None):
    """A window of this size at a random place of a tensor.

    Args:
        value: The tensor.
        size: The extent of the window along each axis.
        seed: A number that makes the random numbers the same in each run of the program.
        name: The name of the operation in the graph.

    Returns:
        A tensor of that size.

    Example:
        >>> sess.run(tf.random_crop(tf.ones([8, 8, 3]), [4, 4, 3])).shape
        (4, 4, 3)
    """
    with name_scope(name, "random_crop", [value, size]) as name:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size, dtype=dtypes.int32, name="size")
        shape = shape_of(value)
        check = Assert(reduce_all(shape >= size), ["Need value.shape >= size, got ", shape, size], summarize=1000)
        shape = with_dependencies([check], shape)
        limit = shape - size + 1
        offset = random_uniform(shape_of(shape), dtype=size.dtype, maxval=size.dtype.max, seed=seed) % limit
        return raw.Slice(value, offset, size, name=name)


def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    """Class indices drawn by unnormalised log-probabilities: [batch, num_samples].

    Args:
        logits: The logarithms of the classes' weights: [batch, classes].
        num_samples: How many are drawn for each row.
        seed: A number that makes the random numbers the same in each run of the program.
        name: The name of the operation in the graph.
        output_dtype: The type of the indices; int64 if None.

    Returns:
        Class indices.

    Example:
        >>> sess.run(tf.multinomial([[0.0, 100.0]], 3))
        array([[1, 1, 1]])
    """
    with name_scope(name, "multinomial", [logits]):
        return _categorical(logits, num_samples, output_dtype, seed)


def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """Class indices drawn by unnormalised log-probabilities: [batch, num_samples].

    Args:
        logits: The logarithms of the classes' weights: [batch, classes].
        num_samples: How many are drawn for each row.
        dtype: The type of the indices; int64 if None.
        seed: A number that makes the random numbers the same in each run of the program.
        name: The name of the operation in the graph.

    Returns:
        Class indices.

    Example:
        >>> sess.run(tf.random.categorical([[0.0, 100.0]], 3))
        array([[1, 1, 1]])
    """
    with name_scope(name, "categorical", [logits]):
        return _categorical(logits, num_samples, dtype, seed)


def _categorical(logits, num_samples, dtype, seed):
    logits = convert_to_tensor(logits, name="logits")
    return raw.Multinomial(
        logits, num_samples, output_dtype=dtypes.int64 if dtype is None else dtypes.as_dtype(dtype), **_seeds(seed)
    )


def random_gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    """Gamma values: `shape` of them for each pair of concentration `alpha` and rate `beta`.

    The result is differentiable in both.

    Args:
        shape: The lengths of the axes.
        alpha: The concentrations.
        beta: The rates; 1 if None.
        dtype: The type of the elements.
        seed: A number that makes the random numbers the same in each run of the program.
        name: The name of the operation in the graph.

    Returns:
        A tensor of `shape` followed by that of the parameters.

    Example:
        >>> sess.run(tf.random_gamma([3], alpha=2.0, seed=1)).shape
        (3,)
    """
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        alpha = convert_to_tensor(alpha, name="alpha", dtype=dtype)
        beta = convert_to_tensor(beta if beta is not None else 1, name="beta", dtype=dtype)
        concentration = raw.AddV2(alpha, zeros_like(beta), name="add")
        seeds = _seeds(seed)
        # Zero is no value of the distribution, only what a very small one is rounded to.
        smallest = np.finfo(alpha.dtype.as_numpy_dtype).tiny
        scaled = raw.RealDiv(raw.RandomGamma(shape, concentration, **seeds), beta, name="truediv")
        result = raw.Maximum(smallest, scaled)
        if not result.is_eager:
            result.set_shape(constant_value_as_shape(shape).concatenate(concentration.shape))
        return result


def random_poisson(lam, shape, dtype=dtypes.float32, seed=None, name=None):
    """Poisson values: `shape` of them for each rate `lam`.

    Args:
        lam: The rates.
        shape: The lengths of the axes.
        dtype: The type of the elements.
        seed: A number that makes the random numbers the same in each run of the program.
        name: The name of the operation in the graph.

    Returns:
        A tensor of `shape` followed by that of the rates.

    Example:
        >>> sess.run(tf.random_poisson([4.0, 100.0], [3], seed=1)).shape
        (3, 2)
    """
    return random_poisson_v2(shape, lam, dtype, seed, name)


def random_poisson_v2(shape, lam, dtype=dtypes.float32, seed=None, name=None):
    """Poisson values: `shape` of them for each rate `lam`."""
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        result = raw.RandomPoissonV2(shape, lam, dtype=dtype, **_seeds(seed))
        if not result.is_eager:
            result.set_shape(constant_value_as_shape(shape).concatenate(result.op.inputs[1].shape))
        return result


# --- shapes -----------------------------------------------------------------------------------


@shape_rule(
    "RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt", "ParameterizedTruncatedNormal"
)
def _shape_from_input(op):
    if op.type == "RandomUniformInt":
        for bound in op.inputs[1:]:
            bound.shape.with_rank(0)
    if op.type == "ParameterizedTruncatedNormal":
        for parameter in op.inputs[1:]:
            parameter.shape.with_rank_at_most(1)
    op.inputs[0].shape.with_rank(1)
    return known_shape(op.inputs[0])


@shape_rule("RandomGamma", "RandomPoisson", "RandomPoissonV2")
def _samples_shape(op):
    return known_shape(op.inputs[0]).concatenate(op.inputs[1].shape)


shape_rule("RandomShuffle")(like_first)


@shape_rule("RandomGammaGrad")
def _gamma_grad_shape(op):
    return broadcast(op.inputs[0].shape, op.inputs[1].shape)


@shape_rule("Multinomial", "StatelessMultinomial")
def _multinomial_shape(op):
    logits = op.inputs[0].shape.with_rank(2)
    op.inputs[1].shape.with_rank(0)
    if op.type == "StatelessMultinomial":
        op.inputs[2].shape.merge_with([2])
    samples = known_value(op.inputs[1])
    if samples is not None and samples < 0:
        raise ValueError(f"num_samples must be non-negative: {int(samples)}")
    return TensorShape([logits[0], None if samples is None else int(samples)])


@shape_rule("RandomCrop")
def _crop_shape(op):
    image = op.inputs[0].shape.with_rank(3)
    size = known_value(op.inputs[1])
    return TensorShape([*([None, None] if size is None else size.tolist()), image[2]])


# --- gradients --------------------------------------------------------------------------------

not_differentiable(
    "RandomUniform",
    "RandomStandardNormal",
    "TruncatedNormal",
    "ParameterizedTruncatedNormal",
    "Multinomial",
    "RandomCrop",
)


@gradient("RandomGamma")
def _random_gamma_grad(op, grad):
    """How a sample moves with its concentration, with the distribution's quantile held."""
    shape, alpha = op.inputs
    sample = op.outputs[0]
    with control_dependencies([grad]):
        dimensions = shape_of(shape)[0]
        spread = reshape(alpha, concat([ones([dimensions], dtype=dtypes.int32), shape_of(alpha)], axis=0))
        partial = raw.RandomGammaGrad(spread, sample)
        return None, reduce_sum(grad * partial, axis=range_of(dimensions))
