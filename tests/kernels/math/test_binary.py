"""Two inputs at a time where plain library functions would differ: odd types, zeros and NaN, shapes that don't fit."""

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("function", "x", "y", "expected"),
    [
        (tf.div_no_nan, [NAN, INF, 0.0, -INF, 4.0], [0.0, 0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 0.0, -INF, 2.0]),
        (tf.raw_ops.MulNoNan, [NAN, INF, 0.0, -INF, 4.0], [0.0, 0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 0.0, -INF, 8.0]),
        (tf.math.xdivy, [0.0, 0.0, INF, -1.0, 4.0], [0.0, NAN, 0.0, 0.0, 2.0], [0.0, 0.0, INF, -INF, 2.0]),
        (tf.math.xlogy, [0.0, 0.0, INF, 1.0, 4.0], [0.0, NAN, 0.0, -1.0, 1.0], [0.0, 0.0, -INF, NAN, 0.0]),
    ],
)
def test_zeros_decide_before_nan_and_infinity(sess, function, x, y, expected):
    np.testing.assert_array_equal(sess.run(function(x=np.float64(x), y=np.float64(y))), expected)


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_the_lowest_number_divided_downwards_wraps(sess, dtype):
    lowest = np.iinfo(dtype).min
    x, y = np.full(4, lowest, dtype), np.array([1, 2, 3, -2], dtype)
    wrapped = [np.array(-(lowest + d - 1)).astype(np.int64) // d for d in (1, 2, 3)]
    expected = np.array([*wrapped, lowest // -2]).astype(dtype)
    np.testing.assert_array_equal(sess.run(tf.floordiv(fed(x), fed(y))), expected)


@pytest.mark.parametrize(
    ("function", "expected"),
    [(tf.less, [False, True]), (tf.greater_equal, [True, False]), (tf.greater, [True, False])],
)
@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_unsigned_numbers_past_the_signed_ones_are_larger(sess, function, expected, dtype):
    high = np.array(np.iinfo(dtype).max)
    x, y = np.array([high, 1], dtype), np.array([1, high], dtype)
    assert sess.run(function(fed(x), fed(y))).tolist() == expected


@pytest.mark.parametrize(("op", "unlike"), [(tf.raw_ops.Equal, False), (tf.raw_ops.NotEqual, True)])
def test_shapes_that_do_not_fit_may_be_an_answer(sess, op, unlike):
    x, y = fed([1.0, 2.0]), fed([1.0, 2.0, 3.0])
    assert sess.run(op(x=x, y=y, incompatible_shape_error=False)) == np.bool_(unlike)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(op(x=x, y=y, incompatible_shape_error=True))


def test_strings_are_compared_and_joined(sess):
    words = fed(["a", "b"])
    same, other, joined = sess.run(
        [tf.equal(words, "a"), tf.not_equal(words, "a"), tf.raw_ops.Add(x=words, y=["x", "y"])]
    )
    assert same.tolist() == [True, False] and other.tolist() == [False, True]
    assert joined.tolist() == [b"ax", b"by"]


def test_whole_numbers_are_never_approximately_equal_below_a_tolerance_of_one(sess):
    x = fed([1, 2])
    assert sess.run(tf.raw_ops.ApproximateEqual(x=x, y=x, tolerance=0.5)).tolist() == [False, False]
    assert sess.run(tf.raw_ops.ApproximateEqual(x=x, y=x + 1, tolerance=2.0)).tolist() == [True, True]
    assert sess.run(tf.raw_ops.ApproximateEqual(x=fed([1.0, 2.0]), y=fed([1.1, 2.5]), tolerance=0.2)).tolist() == [
        True,
        False,
    ]


def test_squared_difference_of_complex_numbers_is_the_square_of_their_distance(sess):
    x, y = np.complex64([1 + 2j, 3j]), np.complex64([1, 1 + 1j])
    np.testing.assert_allclose(sess.run(tf.squared_difference(x, y)), np.abs(x - y) ** 2)


def test_sums_of_many_wrap_in_their_type(sess):
    assert sess.run(tf.add_n([fed([200, 1], tf.uint8)] * 3)).tolist() == [88, 3]
    assert sess.run(tf.add_n([fed([2**31 - 1])] * 2)).tolist() == [-2]


def test_sums_of_many_want_one_shape(sess):
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Inputs to operation.* of type AddN must have the same size"
    ):
        sess.run(tf.add_n([fed([1.0]), fed([1.0, 2.0])]))


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64, tf.complex64])
@pytest.mark.parametrize("exponent", [0.5, 2, 3, -1, 0])
def test_powers(sess, dtype, exponent):
    got = sess.run(tf.pow(tf.constant([2, 4, 1.5], dtype), fed(exponent, dtype)))
    np.testing.assert_allclose(got, np.array([2, 4, 1.5]) ** exponent, rtol=2e-3)


def test_nothing_to_the_power_of_nothing_is_one(sess):
    assert sess.run(tf.pow(fed([0.0, float("nan")]), fed(0.0))).tolist() == [1.0, 1.0]
    assert sess.run(tf.pow(fed([0, -3]), fed([0, 3]))).tolist() == [1, -27]
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative integer powers"):
        sess.run(tf.pow(fed([2, 2]), fed([1, -1])))


@pytest.mark.parametrize("power", [2.0, 3.0, 5.0])
def test_a_power_of_one_number_is_rounded_once(sess, power):
    base = np.float32(0.999)
    assert sess.run(tf.pow(fed(base), fed(np.float32(power)))) == np.float32(np.float64(base) ** power)
