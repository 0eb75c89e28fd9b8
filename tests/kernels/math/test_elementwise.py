"""One input at a time: what functions give at the ends of their range, gradients' own ops, checks and clipping."""

import numpy as np
import pytest

import everflow as tf

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (tf.log, [0.0, -1.0, INF], [-INF, NAN, INF]),
        (tf.sqrt, [0.0, -1.0, INF], [0.0, NAN, INF]),
        (tf.rsqrt, [0.0, INF, 4.0], [INF, 0.0, 0.5]),
        (tf.reciprocal, [0.0, -0.0, INF], [INF, -INF, 0.0]),
        (tf.exp, [-INF, INF, 1000.0], [0.0, INF, INF]),
        (tf.expm1, [-INF, 1e-10], [-1.0, 1e-10]),
        (tf.log1p, [-1.0, 1e-10], [-INF, 1e-10]),
        (tf.sigmoid, [-INF, INF, -500.0], [0.0, 1.0, 0.0]),
        (tf.tanh, [-INF, INF], [-1.0, 1.0]),
        (tf.acosh, [0.5, 1.0], [NAN, 0.0]),
        (tf.atanh, [1.0, -1.0, 2.0], [INF, -INF, NAN]),
        (tf.rint, [0.5, 1.5, -2.5], [0.0, 2.0, -2.0]),
        (tf.sign, [-INF, 0.0, 3.0], [-1.0, 0.0, 1.0]),
    ],
)
def test_ends_of_the_range(sess, function, x, expected):
    np.testing.assert_allclose(sess.run(function(tf.constant(x, tf.float64))), expected, rtol=1e-9, atol=1e-200)


def test_tests_for_what_is_no_number(sess):
    x = tf.constant([[NAN, INF], [-INF, 1.0]], tf.float16)
    nan, infinite, finite = sess.run([tf.is_nan(x), tf.is_inf(x), tf.is_finite(x)])
    assert nan.tolist() == [[True, False], [False, False]]
    assert infinite.tolist() == [[False, True], [True, False]]
    assert finite.tolist() == [[False, False], [False, True]]


@pytest.mark.parametrize(
    ("op", "y", "slope"),
    [
        (tf.raw_ops.SqrtGrad, 2.0 + 1j, lambda y: 0.5 / np.conj(y)),
        (tf.raw_ops.RsqrtGrad, 2.0 + 1j, lambda y: -0.5 * np.conj(y) ** 3),
        (tf.raw_ops.ReciprocalGrad, 2.0 + 1j, lambda y: -(np.conj(y) ** 2)),
        (tf.raw_ops.InvGrad, 2.0 + 1j, lambda y: -(np.conj(y) ** 2)),
        (tf.raw_ops.SigmoidGrad, 0.25, lambda y: y * (1 - y)),
        (tf.raw_ops.TanhGrad, 0.25, lambda y: 1 - y * y),
    ],
)
def test_gradients_from_the_result(sess, op, y, slope):
    real = np.float64([np.real(y), 0.5])
    dy = np.float64([3.0, -1.0])
    np.testing.assert_allclose(sess.run(op(y=real, dy=dy)), dy * slope(real))
    if np.iscomplexobj(y):
        z, dz = np.array([y, 1 - 1j]), np.array([1 + 1j, 2j])
        np.testing.assert_allclose(sess.run(op(y=z, dy=dz)), dz * slope(z))


@pytest.mark.parametrize(
    ("values", "message"),
    [([1.0, NAN], "what : Tensor had NaN"), ([INF, 1.0], "what : Tensor had Inf"), ([INF, NAN], "Inf and NaN")],
)
def test_bad_numbers_are_named(sess, values, message):
    for dtype in (tf.float16, tf.float32, tf.float64):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(tf.check_numerics(tf.constant(values, dtype), "what"))


def test_an_overflowing_sum_of_good_numbers_is_no_reason_to_refuse(sess):
    halves = np.full(1000, 60000, np.float16)
    assert sess.run(tf.check_numerics(halves, "what")).tolist() == halves.tolist()


def test_clipping_takes_bounds_for_each_element(sess):
    x = tf.constant([-3, 0, 9])
    assert sess.run(tf.raw_ops.ClipByValue(t=x, clip_value_min=[-1, 1, 0], clip_value_max=[5, 5, 5])).tolist() == [
        -1,
        1,
        5,
    ]
    high = tf.constant([2**64 - 1, 5], tf.uint64)
    clipped = tf.raw_ops.ClipByValue(
        t=high, clip_value_min=tf.constant(7, tf.uint64), clip_value_max=tf.constant(2**63, tf.uint64)
    )
    assert sess.run(clipped).tolist() == [2**63, 7]


def test_clipping_wants_bounds_that_fit(sess):
    bound = tf.placeholder_with_default([1.0, 2.0], None)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be either of the same shape as input, or a scalar"):
        sess.run(tf.raw_ops.ClipByValue(t=[1.0, 2.0, 3.0], clip_value_min=bound, clip_value_max=bound))
