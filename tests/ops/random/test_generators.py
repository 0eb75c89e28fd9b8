"""Generators: random numbers from a state that is a variable."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.random import generators

pytestmark = pytest.mark.usefixtures("own_graph")


def test_generator_gives_tensorflows_numbers_and_moves_its_state():
    generator = tf.random.experimental.Generator.from_seed(1234)
    drawn = [
        generator.normal([5]),
        generator.uniform([3], 0, 10, dtype=tf.int64),
        generator.uniform_full_int([3], dtype=tf.uint32),
    ]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        normal, small, _ = [sess.run(t) for t in drawn]
        np.testing.assert_allclose(normal, [0.9356609, 1.0854305, -0.93788373, -0.5061547, 1.3169702], rtol=1e-5)
        assert small.tolist() == [0, 6, 4]
        assert sess.run(generator.state).tolist() == [1234 + (5 + 3 + 3) * 256, 0, 0]
        sess.run(generator.reset_from_seed(1234))
        np.testing.assert_array_equal(sess.run(drawn[0]), normal)


def test_binomial_moments():
    generator = tf.random.experimental.Generator.from_seed(7)
    drawn = generator.binomial([3, 4000], [10.0, 100.0, 50.0], [0.2, 0.4, 0.9])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = sess.run(drawn)
    np.testing.assert_allclose(values.mean(axis=1), [2, 40, 45], rtol=0.03)
    np.testing.assert_allclose(values.var(axis=1), [1.6, 24, 4.5], rtol=0.1)


@pytest.fixture
def generator():
    return tf.random.experimental.Generator.from_seed(1)


def drawn(*tensors):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(t) for t in tensors]


def test_kinds_of_numbers(generator):
    floats, truncated, ints = drawn(
        generator.uniform([100], 2.0, 3.0),
        generator.truncated_normal([100], 5.0, 0.1),
        generator.uniform([100], -2, 2, tf.int32),
    )
    assert (floats >= 2).all() and (floats < 3).all() and (abs(truncated - 5) <= 0.2).all()
    assert set(ints) == {-2, -1, 0, 1}
    assert generator.uniform_full_int([2, 3]).dtype == tf.uint64
    assert generator.normal([2, 3]).shape.as_list() == [2, 3]


def test_states_are_set_and_read(generator):
    copy = tf.random.experimental.Generator(copy_from=generator)
    other = tf.random.experimental.Generator.from_key_counter(7, [3, 4], "philox")
    with tf.Session() as sess:
        sess.run(generator.state.initializer)
        sess.run([copy.state.initializer, other.state.initializer])
        assert sess.run(copy.state).tolist() == [1, 0, 0]
        assert sess.run(other.state).tolist() == [3, 4, 7] and sess.run(other.key) == 7
        sess.run(other.reset([1, 2, 3]))
        assert sess.run(other.state).tolist() == [1, 2, 3]
        sess.run(other.reset_from_key_counter(9, [0, 0]))
        assert sess.run(other.state).tolist() == [0, 0, 9]
    assert generator.algorithm == 1


@pytest.mark.parametrize(
    ("seed", "state"),
    [(5, [5, 0, 0]), (2**64 + 3, [3, 1, 0]), (-1, [-1, -1, -1]), ([7], [0, 0, 7]), ([1, 2, 3, 4], [1, 2, 3])],
)
def test_what_seeds_stand_for(seed, state):
    assert generators.create_rng_state(seed, 1).tolist() == state


def test_seeds_for_stateless_numbers(generator):
    made = generator.make_seeds(4)
    assert made.shape.as_list() == [2, 4] and made.dtype == tf.int64
    (seeds,) = drawn(made)
    assert len(set(seeds[0])) == 4 and not seeds[1].any()


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda g: tf.random.experimental.Generator(), AssertionError),
        (lambda g: tf.random.experimental.Generator(copy_from=g, alg="philox"), AssertionError),
        (lambda g: tf.random.experimental.Generator.from_seed(1, alg="twister"), ValueError),
        (lambda g: generators.create_rng_state(1, 99), ValueError),
    ],
)
def test_what_is_no_generator(generator, build, error):
    with pytest.raises(error):
        build(generator)


def test_one_that_all_may_use(generator, monkeypatch):
    monkeypatch.setattr(generators, "_global", [])
    tf.random.experimental.set_global_generator(generator)
    assert tf.random.experimental.get_global_generator() is generator


def test_a_state_has_as_many_numbers_as_the_algorithm_takes():
    with pytest.raises(ValueError):
        tf.random.experimental.Generator.from_state([1, 2], 1)
    with pytest.raises(ValueError):
        tf.random.experimental.Generator.from_seed(1).reset([1, 2, 3, 4])
