"""Draws from Bernoulli and categorical distributions, with the nodes that `tf.distributions` makes for them."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math, random


def _sampled(sample_shape, draw):
    """What `draw(count)` gives, its first dimension (the draws) brought to a sample shape."""
    with name_scope("call_sampler"):
        sample_shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
        is_scalar = math.cast(math.equal(array.rank(sample_shape), 0), dtypes.int32)
        # A scalar shape counts as a vector of one.
        as_vector = array.pad(array.shape(sample_shape), paddings=[[is_scalar, 0]], constant_values=1)
        sample_shape = array.reshape(sample_shape, as_vector)
        values = draw(math.reduce_prod(sample_shape))
        return array.reshape(values, array.concat([sample_shape, array.shape(values)[1:]], 0))


def draw_bernoulli(probability, dtype, sample_shape, seed):
    """Ones (or True) with a probability, of a sample shape."""
    batch_shape = array.shape(probability)

    def draw(count):
        shape = array.concat([[count], batch_shape], 0)
        values = math.less(random.random_uniform(shape, seed=seed, dtype=probability.dtype), probability)
        return values if dtype == dtypes.bool else math.cast(values, dtype)

    return _sampled(sample_shape, draw)


def draw_categorical(logits, seed):
    """One int32 id for each row of logits [batch, classes]."""
    array.shape(logits)[-1]  # tf.distributions makes this node of the number of classes.
    batch_shape = array.shape(logits)[:-1]

    def draw(count):
        ids = random.multinomial(logits, count, seed=seed, output_dtype=dtypes.int32)
        ids = array.reshape(array.transpose(ids), array.concat([[count], batch_shape], 0))
        ids.set_shape(TensorShape([1]).concatenate(logits.shape[:-1]))
        return ids

    ids = _sampled((), draw)
    ids.set_shape(logits.shape[:-1])
    return ids
