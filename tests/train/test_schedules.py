"""Learning rate schedules, moving averages and the global step."""

import math

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


T = tf.train
SCHEDULES = [
    (lambda s: T.exponential_decay(0.1, s, 10, 0.5), lambda s: 0.1 * 0.5 ** (s / 10)),
    (lambda s: T.exponential_decay(0.1, s, 10, 0.5, staircase=True), lambda s: 0.1 * 0.5 ** (s // 10)),
    (lambda s: T.natural_exp_decay(0.1, s, 10, 0.5), lambda s: 0.1 * math.exp(-0.5 * s / 10)),
    (lambda s: T.inverse_time_decay(0.1, s, 10, 0.5), lambda s: 0.1 / (1 + 0.5 * s / 10)),
    (lambda s: T.polynomial_decay(0.1, s, 10, 0.01, power=2.0), lambda s: 0.09 * (1 - min(s, 10) / 10) ** 2 + 0.01),
    (
        lambda s: T.polynomial_decay(0.1, s, 10, 0.01, cycle=True),
        lambda s: 0.09 * (1 - s / (10 * max(1, math.ceil(s / 10)))) + 0.01,
    ),
    (lambda s: T.cosine_decay(0.1, s, 10), lambda s: 0.1 * 0.5 * (1 + math.cos(math.pi * min(s, 10) / 10))),
    (lambda s: T.piecewise_constant(s, [5, 12], [1.0, 0.5, 0.1]), lambda s: 1.0 if s <= 5 else 0.5 if s <= 12 else 0.1),
    (
        lambda s: T.linear_cosine_decay(0.1, s, 10),
        lambda s: 0.1 * ((1 - min(s, 10) / 10) * 0.5 * (1 + math.cos(math.pi * min(s, 10) / 10)) + 0.001),
    ),
]


@pytest.mark.parametrize("make, formula", SCHEDULES)
def test_schedules(make, formula):
    step = tf.placeholder(tf.int32, [])
    rate = make(step)
    with tf.Session() as sess:
        for s in (0, 3, 10, 17):
            np.testing.assert_allclose(sess.run(rate, {step: s}), formula(s), rtol=1e-5)


def test_restarts():
    step = tf.placeholder(tf.int32, [])
    rate = T.cosine_decay_restarts(1.0, step, 4, t_mul=2.0, m_mul=0.5)
    with tf.Session() as sess:
        np.testing.assert_allclose([sess.run(rate, {step: s}) for s in (0, 2, 4, 8)], [1.0, 0.5, 0.5, 0.25], atol=1e-5)


def test_piecewise_refusals():
    with pytest.raises(ValueError, match="1 less"):
        T.piecewise_constant(3, [1], [0.1])
    with pytest.raises(ValueError, match="same dtype"):
        T.piecewise_constant(3, [1.5], [0.1, 0.2])


def test_moving_average():
    v = tf.Variable(10.0, name="v")
    ema = T.ExponentialMovingAverage(0.9)
    op = ema.apply([v])
    assert (
        ema.average_name(v) == "v/ExponentialMovingAverage" and ema.average(v).op.name == "v/ExponentialMovingAverage"
    )
    assert tf.moving_average_variables() == [v]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(v.assign(20.0))
        sess.run(op)
        np.testing.assert_allclose(sess.run(ema.average(v)), 11.0, rtol=1e-6)
    assert ema.variables_to_restore() == {"v/ExponentialMovingAverage": v}


def test_moving_average_of_a_tensor_without_bias():
    x = tf.placeholder(tf.float32, [], name="x")
    ema = T.ExponentialMovingAverage(0.5, zero_debias=True)
    op = ema.apply([x])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(op, {x: 4.0})
        assert sess.run(ema.average(x)) == 4.0


def test_global_step():
    assert T.get_global_step() is None
    step = T.get_or_create_global_step()
    assert T.get_or_create_global_step() is step and step.dtype.base_dtype == tf.int64
    with pytest.raises(ValueError, match="already exists"):
        T.create_global_step()
    with tf.Session() as sess:
        sess.run(step.initializer)
        assert T.global_step(sess, step) == 0
    with pytest.raises(TypeError, match="integer"):
        T.assert_global_step(tf.constant(1.0))


def test_executing_eagerly_a_schedule_is_a_function():
    with eager_mode():
        step = tf.Variable(3)
        rate = tf.train.piecewise_constant(step, [1, 4], [1.0, 2.0, 3.0])
        assert rate().numpy() == 2.0
        step.assign(5)
        assert rate().numpy() == 3.0
        with pytest.raises(ValueError, match="dtype"):
            tf.train.piecewise_constant(1.0, [1, 4], [1.0, 2.0, 3.0])()
