"""Reductions, running sums, positions."""

import numpy as np
import pytest

import everflow as tf

DATA = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min"])
@pytest.mark.parametrize("axis", [None, 0, -1, [0, 2], (), [-1, 0]])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(sess, name, axis, keepdims):
    data = DATA / 10 + 0.5
    result = getattr(tf, f"reduce_{name}")(data, axis=axis, keepdims=keepdims)
    wanted = getattr(np, name)(data, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims)
    assert result.shape.as_list() == list(wanted.shape)
    np.testing.assert_allclose(sess.run(result), wanted, rtol=1e-5)


def test_old_argument_names(sess):
    np.testing.assert_array_equal(
        sess.run(tf.reduce_sum(DATA, reduction_indices=[1], keep_dims=True)), DATA.sum(1, keepdims=True)
    )
    with pytest.raises(ValueError, match="Cannot specify both"):
        tf.reduce_sum(DATA, 1, reduction_indices=1)


def test_static_shapes():
    p = tf.placeholder(tf.float32, [None, 3, None])
    axis = tf.placeholder(tf.int32)
    assert tf.reduce_sum(p, 1).shape.as_list() == [None, None]
    assert tf.reduce_sum(p, [0, 1], keepdims=True).shape.as_list() == [1, 1, None]
    assert tf.reduce_sum(p, axis).shape.rank is None
    assert tf.reduce_sum(p, axis, keepdims=True).shape.as_list() == [None, None, None]
    assert tf.reduce_sum(tf.placeholder(tf.float32)).shape.as_list() == []
    with pytest.raises(ValueError, match="Invalid reduction dimension 3"):
        tf.reduce_sum(p, 3)


def test_axis_out_of_range_when_run(sess):
    axis = tf.placeholder(tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid reduction dimension"):
        sess.run(tf.reduce_sum(DATA, axis), {axis: 3})


def test_integers(sess):
    np.testing.assert_array_equal(sess.run([tf.reduce_mean([1, 2, 4]), tf.reduce_mean([-1, -2, -2])]), [2, -1])
    assert sess.run(tf.reduce_sum(tf.constant([100, 100, 100], tf.int8))) == 44
    assert sess.run(tf.reduce_max(tf.constant([3, 65535], tf.uint16))) == 65535
    assert sess.run(tf.reduce_max(tf.constant([3, 2**64 - 1], tf.uint64))) == 2**64 - 1


def test_nothing_to_reduce(sess):
    empty = np.zeros((0, 2), np.float32)
    for name, wanted in (("sum", 0), ("prod", 1), ("max", -np.inf), ("min", np.inf), ("mean", np.nan)):
        np.testing.assert_array_equal(sess.run(getattr(tf, f"reduce_{name}")(empty, 0)), [wanted] * 2)
    np.testing.assert_array_equal(sess.run(tf.reduce_min(np.zeros((0, 1), np.int32), 0)), [2**31 - 1])


def test_extremes_pass_over_nan(sess):
    x = tf.constant([[1.0, np.nan, 2.0], [np.nan, np.nan, np.nan]])
    np.testing.assert_array_equal(sess.run(tf.reduce_max(x, 1)), [2, -np.inf])
    np.testing.assert_array_equal(sess.run(tf.argmax(x, 1)), [2, 0])
    np.testing.assert_array_equal(sess.run(tf.argmin(x, 1)), [0, 0])


def test_positions(sess):
    np.testing.assert_array_equal(sess.run(tf.argmax([[1, 5, 5], [9, 0, 1]], 1)), [1, 0])
    assert tf.argmin(DATA, 0, output_type=tf.int32).dtype is tf.int32
    with pytest.raises(tf.errors.InvalidArgumentError, match="Reduction axis 0 is empty"):
        sess.run(tf.argmax(np.zeros((0, 2)), 0))


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, np.complex64])
def test_running_sums_and_products(sess, exclusive, reverse, dtype):
    data = np.array([[1, 2, 3], [4, 1, 2]], dtype)

    def wanted(accumulate, neutral):
        values = data[:, ::-1] if reverse else data
        if exclusive:
            values = np.concatenate([np.full((2, 1), neutral, dtype), values[:, :-1]], 1)
        result = accumulate(values, axis=1)
        return result[:, ::-1] if reverse else result

    for name, accumulate, neutral in (("cumsum", np.cumsum, 0), ("cumprod", np.cumprod, 1)):
        result = sess.run(getattr(tf, name)(data, 1, exclusive=exclusive, reverse=reverse))
        np.testing.assert_array_equal(result, wanted(accumulate, neutral))


def test_logsumexp(sess):
    x = np.array([[1000.0, 1000.0], [-np.inf, -np.inf], [0.0, 1.0]])
    np.testing.assert_allclose(sess.run(tf.reduce_logsumexp(x, 1)), np.logaddexp(x[:, 0], x[:, 1]))
    running = sess.run(tf.math.cumulative_logsumexp(tf.constant([1.0, 2.0, 3.0], tf.float64)))
    np.testing.assert_allclose(running, np.logaddexp.accumulate([1.0, 2.0, 3.0]))


def test_count_nonzero(sess):
    assert sess.run(tf.count_nonzero([[0, 1], [2, 0]])) == 2
    np.testing.assert_array_equal(sess.run(tf.count_nonzero(tf.constant([["", "a"], ["b", "c"]]), axis=1)), [1, 2])


def test_older_names_of_positions(sess):
    x = [[3, 1, 2], [0, 5, 5]]
    assert sess.run(tf.arg_max(x, 1)).tolist() == [0, 1] and sess.run(tf.arg_min(x, 0)).tolist() == [1, 0, 0]
    with pytest.raises(ValueError):
        tf.argmax(x, 2)
