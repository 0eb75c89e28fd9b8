"""Generators whose state is a variable: it moves on, can be set back and skipped; binomial numbers; bad states."""

import numpy as np
import pytest

import everflow as tf


@pytest.fixture
def generator(sess):
    made = tf.random.experimental.Generator.from_seed(7)
    sess.run(tf.global_variables_initializer())
    return made


def state(value=(3, 0, 9)):
    return tf.get_variable("state", initializer=np.array(value, np.int64), use_resource=True)


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
@pytest.mark.parametrize("method", ["uniform", "normal", "truncated_normal"])
def test_numbers_follow_each_other_and_come_again(sess, generator, method, dtype):
    draw = getattr(generator, method)([5], dtype=dtype)
    first, second = sess.run(draw), sess.run(draw)
    assert first.dtype == dtype.as_numpy_dtype and (first != second).any()
    sess.run(tf.global_variables_initializer())
    np.testing.assert_array_equal(sess.run(draw), first)


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.uint32, tf.uint64])
def test_whole_numbers(sess, generator, dtype):
    low, high = (tf.constant(v, dtype) for v in (3, 9))
    drawn = sess.run(generator.uniform([2000], low, high, dtype=dtype))
    assert drawn.dtype == dtype.as_numpy_dtype and sorted(set(drawn.tolist())) == [3, 4, 5, 6, 7, 8]
    full = sess.run(generator.uniform_full_int([2000], dtype=dtype))
    assert full.dtype == dtype.as_numpy_dtype and len(set(full.tolist())) == 2000


def test_skipping_is_drawing_without_looking(sess):
    kept = state()
    skip = tf.raw_ops.RngSkip(resource=kept.handle, algorithm=np.int64(1), delta=np.int64(5))
    draw = tf.raw_ops.StatefulUniform(resource=kept.handle, algorithm=np.int64(1), shape=[5], dtype=tf.float32)
    sess.run(kept.initializer)
    sess.run(draw)
    second = sess.run(draw)
    sess.run(kept.initializer)
    sess.run(skip)
    np.testing.assert_array_equal(sess.run(draw), second)


def test_the_counter_carries_into_its_upper_half(sess):
    kept = state((-1, 0, 9))
    sess.run(kept.initializer)
    sess.run(tf.raw_ops.RngSkip(resource=kept.handle, algorithm=np.int64(1), delta=np.int64(2)))
    assert sess.run(kept).tolist() == [2 * 256 - 1, 1, 9]


@pytest.mark.parametrize(("value", "algorithm"), [((1, 2), 1), ((1, 2, 3), 7), (((1, 2, 3),), 1)])
def test_states_and_algorithms_that_can_not_be(sess, value, algorithm):
    kept = state(value)
    sess.run(kept.initializer)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(
            tf.raw_ops.StatefulUniform(resource=kept.handle, algorithm=np.int64(algorithm), shape=[2], dtype=tf.float32)
        )


def binomial(kept, shape, counts, probabilities):
    return tf.raw_ops.StatefulRandomBinomial(
        resource=kept.handle,
        algorithm=np.int64(1),
        shape=shape,
        counts=np.float64(counts),
        probs=np.float64(probabilities),
        dtype=tf.float64,
    )


@pytest.mark.parametrize(("count", "probability"), [(5, 0.3), (5, 0.9), (1000, 0.5), (1000, 0.001), (40, 0.75)])
def test_successes_of_many_tries(sess, count, probability):
    kept = state()
    sess.run(kept.initializer)
    drawn = sess.run(binomial(kept, [4000], count, probability))
    assert drawn.min() >= 0 and drawn.max() <= count and (drawn == np.round(drawn)).all()
    mean, deviation = count * probability, np.sqrt(count * probability * (1 - probability))
    np.testing.assert_allclose(drawn.mean(), mean, atol=5 * deviation / 4000**0.5)
    np.testing.assert_allclose(drawn.std(), deviation, rtol=0.1)


def test_certain_impossible_and_wrong_tries(sess):
    kept = state()
    sess.run(kept.initializer)
    drawn = sess.run(binomial(kept, [6, 2], [7, 7, 0, -1, 7, 7], [0.0, 1.0, 0.5, 0.5, 1.5, -0.5]))
    np.testing.assert_array_equal(drawn[:, 0], [0, 7, 0, 0, 7, 0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="counts should have length 1 or shape"):
        sess.run(binomial(kept, [3], [1, 2], [0.5]))


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.uint32, tf.uint64])
def test_numbers_of_the_system_never_come_again(sess, dtype):
    draw = tf.raw_ops.NonDeterministicInts(shape=np.int64([2, 3]), dtype=dtype)
    first, second = sess.run(draw), sess.run(draw)
    assert first.shape == (2, 3) and first.dtype == dtype.as_numpy_dtype and (first != second).any()
