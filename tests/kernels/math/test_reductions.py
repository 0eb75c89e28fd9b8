"""Reductions of nothing, of odd types and over many values; extremes with NaN; running sums."""

import numpy as np
import pytest

import everflow as tf
from everflow.kernels.math.reductions import DIVIDED
from tests.kernels.feeding import fed

NAN, INF = float("nan"), float("inf")


def test_a_nan_alone_stays_the_extreme(sess):
    x = tf.placeholder(tf.float32, [None, None])
    for reduce, far in ((tf.reduce_max, -INF), (tf.reduce_min, INF)):
        np.testing.assert_array_equal(sess.run(reduce(x, axis=0), {x: [[1.0, NAN]]}), [1.0, NAN])
        np.testing.assert_array_equal(sess.run(reduce(x, axis=1), {x: [[1.0, NAN], [NAN, NAN]]}), [1.0, far])


@pytest.mark.parametrize(
    ("reduce", "expected"),
    [
        (tf.reduce_sum, 0),
        (tf.reduce_prod, 1),
        (tf.reduce_max, np.iinfo(np.int32).min),
        (tf.reduce_min, np.iinfo(np.int32).max),
    ],
)
@pytest.mark.parametrize("keepdims", [False, True])
def test_nothing_gives_what_changes_nothing(sess, reduce, expected, keepdims):
    found = sess.run(reduce(fed(np.zeros([2, 0, 3], np.int32)), 1, keepdims=keepdims))
    np.testing.assert_array_equal(found, np.full([2, 1, 3] if keepdims else [2, 3], expected))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_sums_and_means_wrap_in_their_type(sess, dtype):
    x = np.full(3, np.iinfo(dtype).max, dtype)
    total = int(x.astype(np.int64).sum())
    wrapped = int(np.array(total).astype(dtype))
    assert sess.run(tf.reduce_sum(fed(x))) == wrapped
    assert sess.run(tf.reduce_mean(fed(x))) == int(wrapped / 3)


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_extremes_of_large_unsigned_numbers(sess, dtype):
    high = np.iinfo(dtype).max
    x = fed(np.array([[1, high], [high // 2 + 1, 0]], dtype))
    largest, smallest = sess.run([tf.reduce_max(x, 1), tf.reduce_min(x)])
    assert largest.tolist() == [high, high // 2 + 1] and smallest == 0
    assert sess.run(tf.argmax(x, 1)).tolist() == [1, 0]


def test_axes_may_be_negative_or_none_at_all(sess):
    x = fed(np.arange(24.0).reshape(2, 3, 4))
    np.testing.assert_array_equal(
        sess.run(tf.raw_ops.Sum(input=x, axis=[-1, 0])), np.arange(24.0).reshape(2, 3, 4).sum((0, 2))
    )
    assert sess.run(tf.raw_ops.Sum(input=x, axis=np.zeros(0, np.int32))).shape == (2, 3, 4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid reduction dimension"):
        sess.run(tf.raw_ops.Max(input=x, axis=[-4]))


@pytest.mark.parametrize(("function", "expected"), [(tf.argmax, [2, 1]), (tf.argmin, [0, 1])])
def test_places_pass_over_nan(sess, function, expected):
    x = [[-1.0, NAN, 5.0], [NAN, 7.0, NAN]]
    places = sess.run(function(fed(x), 1, output_type=tf.int32))
    assert places.dtype == np.int32 and places.tolist() == expected


def test_of_equal_values_the_first_place(sess):
    assert sess.run([tf.argmax(fed([3, 7, 7]), 0), tf.argmin(fed([1.0, 1.0]), 0)]) == [1, 0]


@pytest.mark.parametrize(
    ("shape", "axis", "message"), [([2, 0], 1, "Reduction axis 1 is empty"), ([2, 3], 2, r"in the range \[-2, 2\)")]
)
def test_places_that_can_not_be(sess, shape, axis, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(tf.argmax(fed(np.zeros(shape)), fed(axis)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_many_values_to_one(sess, dtype):
    x = np.random.RandomState(0).rand(DIVIDED + 4099).astype(dtype)
    total, mean, kept = sess.run([tf.reduce_sum(x), tf.reduce_mean(x), tf.reduce_sum(x[None], keepdims=True)])
    exact = x.astype(np.float64).sum()
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(total, exact.astype(dtype), rtol=1e-3)
    np.testing.assert_allclose(mean, exact / x.size, rtol=1e-3)
    assert kept.shape == (1, 1) and kept[0, 0] == total
    ones = np.ones(DIVIDED + 7, dtype)
    ones[5] = 3
    assert sess.run(tf.reduce_prod(ones)) == 3


def test_norms(sess):
    assert sess.run(tf.math.reduce_euclidean_norm(fed([3, 4]))) == 5
    assert sess.run(tf.math.reduce_euclidean_norm(fed([[3 + 4j, 0j], [0j, 12j]]), 1)).tolist() == [5 + 0j, 12 + 0j]
    np.testing.assert_allclose(sess.run(tf.math.reduce_euclidean_norm(fed([300.0, 400.0], tf.float16))), 500)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_log_sums(sess, exclusive, reverse):
    x = np.random.RandomState(1).randn(2, 5)
    flipped = x[:, ::-1] if reverse else x
    running = np.logaddexp.accumulate(flipped, axis=1)
    if exclusive:
        lowest = np.full((2, 1), np.finfo(x.dtype).min)
        running = np.concatenate([lowest, running[:, :-1]], 1)
    expected = running[:, ::-1] if reverse else running
    found = sess.run(tf.raw_ops.CumulativeLogsumexp(x=fed(x), axis=1, exclusive=exclusive, reverse=reverse))
    np.testing.assert_allclose(found, expected)


def test_running_sums_of_nothing_and_out_of_range(sess):
    assert sess.run(tf.cumsum(fed(np.zeros([0, 2], np.float32)))).shape == (0, 2)
    assert sess.run(tf.cumsum(fed([100, 100, 100], tf.int8))).tolist() == [100, -56, 44]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected scan axis in the range"):
        sess.run(tf.cumprod(fed([1.0]), fed(1)))
