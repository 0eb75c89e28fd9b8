"""Activations of half precision, which round after each of their steps."""

import numpy as np

import everflow as tf
from tests.kernels.feeding import fed


def test_activations_of_halves_round_after_each_step(sess):
    x = np.linspace(-9, 9, 999).astype(np.float16)
    one, powers = np.float16(1), np.exp(x)
    negative = {tf.nn.elu: powers - one, tf.nn.selu: np.float16(1.7580993) * (powers - one)}
    positive = {tf.nn.elu: x, tf.nn.selu: np.float16(1.050701) * x}
    for function, below in negative.items():
        np.testing.assert_array_equal(sess.run(function(fed(x))), np.where(x < 0, below, positive[function]))
    np.testing.assert_array_equal(sess.run(tf.sigmoid(fed(x))), one / (one + np.exp(-x)))


def test_softplus_of_halves_is_its_argument_from_seven_on(sess):
    x = fed(np.float16([-8, -5, 4.977, 5.105, 7, 7.01, 9]))
    # The sums 1 + exp(x) are rounded, so the first digits differ from what single precision gives.
    assert sess.run(tf.nn.softplus(x)).tolist() == [
        np.exp(np.float16(-8)),
        0.00681304931640625,
        4.984375,
        5.109375,
        7,
        7.01171875,
        9,
    ]
    (slope,) = tf.gradients(tf.nn.softplus(x), x)
    np.testing.assert_array_equal(sess.run(slope), sess.run(tf.sigmoid(x)))


def test_softplus_of_bfloat16_adds_one_first(sess):
    x = tf.cast(fed(np.float32([-9, -5.5, 0, 3])), tf.bfloat16)
    assert sess.run(tf.cast(tf.nn.softplus(x), tf.float32)).tolist() == [0, 0.00778198242187500, 0.69140625, 3.046875]
