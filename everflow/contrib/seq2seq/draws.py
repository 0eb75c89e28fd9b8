"""Draws from Bernoulli and categorical distributions, with the nodes that `tf.distributions` makes for them."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.random import distributions as random


def sampled(sample_n_fn, sample_shape, name=None):
    """What `sample_n_fn(count)` gives, its first dimension (the draws) brought to a sample shape."""
    with name_scope(name, "call_sampler"):
        sample_shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
        is_scalar = math.cast(math.equal(array.rank(sample_shape), 0), dtypes.int32)
        # A scalar shape counts as a vector of one.
        as_vector = array.pad(array.shape(sample_shape), paddings=[[is_scalar, 0]], constant_values=1)
        sample_shape = array.reshape(sample_shape, as_vector)
        values = sample_n_fn(math.reduce_prod(sample_shape))
        return array.reshape(values, array.concat([sample_shape, array.shape(values)[1:]], 0))


def draw_bernoulli(probability, dtype, sample_shape, seed):
    """Ones (or True) with a probability, of a sample shape."""
    batch_shape = array.shape(probability)

    def draw(count):
        shape = array.concat([[count], batch_shape], 0)
        values = math.less(random.random_uniform(shape, seed=seed, dtype=probability.dtype), probability)
        return values if dtype == dtypes.bool else math.cast(values, dtype)

    return sampled(draw, sample_shape)


def bernoulli_sample(probs=None, logits=None, dtype=dtypes.int32, sample_shape=(), seed=None):
    """Ones with probabilities that are given as such or as logits."""
    probability = math.sigmoid(logits, name="probs") if probs is None else convert_to_tensor(probs, name="probs")
    return draw_bernoulli(probability, dtype, sample_shape, seed)


def categorical_sample(logits, dtype=dtypes.int32, sample_shape=(), seed=None):
    """An id for each row of logits [batch, classes], or so many as the sample shape says."""
    logits = convert_to_tensor(logits, name="logits")
    array.shape(logits)[-1]  # tf.distributions makes this node of the number of classes.
    batch_shape = array.shape(logits)[:-1]

    def draw(count):
        ids = random.multinomial(logits, count, seed=seed, output_dtype=dtype)
        return array.reshape(array.transpose(ids), array.concat([[count], batch_shape], 0))

    return sampled(draw, sample_shape)
