"""Results that take their operands' memory."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw

SIZE = 1 << 13


def source(fetches, feeds):
    with tf.Session() as sess:
        return sess._executor.compile(fetches, feeds).emitted.source


def chain(x):
    scaled = raw.AddV2(x=raw.Mul(x=x, y=tf.constant(1.5)), y=tf.constant(0.5))
    return raw.Sub(x=raw.Tanh(x=scaled), y=raw.Relu(features=raw.Neg(x=x)))


def test_a_chain_is_computed_in_place():
    x = tf.placeholder(tf.float32, [SIZE])
    y = chain(x)
    assert source([y], [x]).count("out=") >= 2
    value = np.linspace(-3, 3, SIZE).astype(np.float32)
    kept = value.copy()
    with tf.Session() as sess:
        for _ in range(2):
            expected = np.tanh(value * np.float32(1.5) + np.float32(0.5)) - np.maximum(-value, 0)
            np.testing.assert_allclose(sess.run(y, {x: value}), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(value, kept)


def test_the_last_of_several_takes_the_memory():
    x = tf.placeholder(tf.float32, [SIZE])
    y = raw.Exp(x=x)
    total = raw.AddV2(x=raw.Tanh(x=y), y=raw.Neg(x=y))
    assert source([total], [x]).count("out=") == 2
    seen = raw.Reshape(tensor=y, shape=tf.constant([2, SIZE // 2]))  # a view, which is needed afterwards
    value = np.linspace(-3, 3, SIZE).astype(np.float32)
    with tf.Session() as sess:
        for _ in range(2):
            first, second = sess.run(
                [total, raw.AddV2(x=raw.Reshape(tensor=raw.Neg(x=y), shape=tf.constant([2, SIZE // 2])), y=seen)],
                {x: value},
            )
            np.testing.assert_allclose(first, np.tanh(np.exp(value)) - np.exp(value), rtol=1e-5, atol=1e-6)
            assert not second.any()


def test_feeds_constants_variables_and_values_in_use_are_left_alone():
    x = tf.placeholder(tf.float32, [SIZE])
    v = raw.VariableV2(shape=[SIZE], dtype=tf.float32)
    init = raw.Assign(ref=v, value=raw.Fill(dims=tf.constant([SIZE]), value=tf.constant(1.0)))
    used_twice = raw.Neg(x=x)
    fetches = [
        raw.Neg(x=x), raw.Neg(x=v), raw.Exp(x=raw.Identity(input=v)), used_twice, raw.Exp(x=used_twice),
        raw.Neg(x=raw.Reshape(tensor=x, shape=tf.constant([SIZE]))), raw.Neg(x=tf.constant(np.ones(SIZE, np.float32))),
    ]  # fmt: skip
    assert "out=" not in source(fetches, [x])
    with tf.Session() as sess:
        sess.run(init)
        first = sess.run(fetches, {x: np.ones(SIZE)})
        for a, b in zip(first, sess.run(fetches, {x: np.ones(SIZE)}), strict=True):
            np.testing.assert_array_equal(a, b)


def test_small_and_broadcast_results_get_memory_of_their_own():
    small = tf.placeholder(tf.float32, [4])
    assert "out=" not in source([raw.Exp(x=raw.Neg(x=small))], [small])
    row, column = tf.placeholder(tf.float32, [1, 128]), tf.placeholder(tf.float32, [128, 1])
    wide = raw.AddV2(x=raw.Neg(x=row), y=raw.Neg(x=column))
    assert "out=" not in source([wide], [row, column])


def test_an_initial_value_that_nobody_else_needs_becomes_the_variable():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [SIZE])
        drawn = raw.AddV2(x=tf.random_uniform([SIZE], seed=1), y=tf.constant(1.0))
        for use_resource in (False, True):
            v = tf.get_variable(f"v{use_resource}", initializer=drawn, use_resource=use_resource)
            assert "owned=True" in source([v.initializer], [])
            for other in (raw.Neg(x=drawn), drawn):  # somebody looks at it after the assignment
                with tf.control_dependencies([v.initializer]):
                    later = raw.Neg(x=other)
                assert "owned=True" not in source([later], [])
            assert "owned=True" not in source([v.initializer, drawn], [])
            for shared in (x, tf.constant(np.ones(SIZE, np.float32)), v):
                assert "owned=True" not in source([tf.assign(v, shared).op], [x])
            with tf.Session() as sess:
                _, first = sess.run([v.initializer, v.initial_value])
                sess.run(v.initializer)
                before = sess.run(v)
                assert not np.array_equal(first, before)
                sess.run(tf.assign_add(v, tf.ones([SIZE])))
                np.testing.assert_array_equal(sess.run(v), before + 1)


@pytest.mark.parametrize("turned", [tf.transpose, lambda x: x[::-1], lambda x: tf.reverse(x, [1])])
@pytest.mark.parametrize("combine", [tf.add, tf.subtract, lambda x, y: y * x, lambda x, y: tf.exp(x) - y])
def test_an_operand_that_another_one_is_a_view_of_is_not_written_over(turned, combine):
    """As in `cov + tf.transpose(cov)`, which makes a matrix symmetric."""
    value = np.random.RandomState(0).rand(96, 96).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        fed = tf.placeholder(tf.float32, [96, 96])
        product = tf.matmul(fed, fed) / 96.0
        got = sess.run(combine(product, turned(product)), {fed: value})
        plain, other = sess.run([product, turned(product)], {fed: value})
        wanted = sess.run(combine(tf.constant(plain), tf.constant(other)))
    np.testing.assert_allclose(got, wanted, rtol=1e-5)
