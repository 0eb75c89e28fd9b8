"""Reductions, running sums, positions; ranges, counts and segments."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everflow as tf

DATA = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


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


def test_ranges_add_their_steps_up_as_tensorflow_does(sess):
    np.testing.assert_array_equal(sess.run(tf.range(3, 18, 3)), [3, 6, 9, 12, 15])
    steps = np.add.accumulate(np.array([0, *[0.1] * 9], np.float32), dtype=np.float32)
    np.testing.assert_array_equal(sess.run(tf.range(0.0, 1.0, 0.1)), steps)
    assert tf.range(tf.constant(1, tf.int64), 5).dtype is tf.int64
    assert tf.range(10, 0, -3).shape.as_list() == [4]
    assert tf.range(tf.placeholder(tf.int32, [])).shape.as_list() == [None]
    with pytest.raises(ValueError, match="Requires start <= limit"):
        tf.range(5, 1)
    delta = tf.placeholder(tf.int32, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requires delta != 0"):
        sess.run(tf.range(0, 5, delta), {delta: 0})


def test_linspace(sess):
    np.testing.assert_allclose(sess.run(tf.linspace(10.0, 12.0, 5)), [10, 10.5, 11, 11.5, 12])
    np.testing.assert_array_equal(sess.run(tf.linspace(3.0, 9.0, 1)), [3])
    with pytest.raises(ValueError, match="Requires num > 0"):
        tf.linspace(1.0, 2.0, 0)


def test_bincount(sess):
    np.testing.assert_array_equal(sess.run(tf.bincount([1, 1, 3])), [0, 2, 0, 1])
    np.testing.assert_allclose(
        sess.run(tf.bincount([1, 1, 3], weights=[0.5, 1.0, 2.0], minlength=5)), [0, 1.5, 0, 2, 0]
    )
    np.testing.assert_array_equal(sess.run(tf.bincount([1, 1, 3], maxlength=2)), [0, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-negative"):
        sess.run(tf.bincount([-1, 1]))


def test_histograms(sess):
    values = [-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]
    np.testing.assert_array_equal(sess.run(tf.histogram_fixed_width(values, [0.0, 5.0], nbins=5)), [2, 1, 1, 0, 2])
    np.testing.assert_array_equal(
        sess.run(tf.histogram_fixed_width_bins(values, [0.0, 5.0], nbins=5)), [0, 0, 1, 2, 4, 4]
    )


def test_confusion_matrix(sess):
    matrix = tf.confusion_matrix([1, 2, 1], [0, 2, 1], num_classes=3, weights=[1, 2, 3])
    np.testing.assert_array_equal(sess.run(matrix), [[0, 0, 0], [1, 3, 0], [0, 0, 2]])


segment_lists = st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 9)), min_size=1, max_size=12)


@settings(max_examples=30, deadline=None)
@given(segment_lists)
def test_segments_against_a_loop(pairs):
    pairs = sorted(pairs, key=lambda pair: pair[0])
    ids, data = ([p[i] for p in pairs] for i in (0, 1))
    rows = {i: [d for j, d in pairs if j == i] for i in range(max(ids) + 1)}
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(data, tf.float32)
        found = sess.run([getattr(tf, f"segment_{n}")(x, ids) for n in ("sum", "mean", "prod", "max", "min")])
        unsorted = sess.run(tf.unsorted_segment_sum(x, ids, 6))
        sparse = sess.run(tf.sparse_segment_sqrt_n(x, list(range(len(data))), ids, num_segments=6))
    for function, empty, result in zip((np.sum, np.mean, np.prod, np.max, np.min), (0, 0, 1, 0, 0), found, strict=True):
        np.testing.assert_allclose(result, [function(row) if row else empty for row in rows.values()], rtol=1e-5)
    full = [rows.get(i, []) for i in range(6)]
    np.testing.assert_allclose(unsorted, [sum(row) for row in full])
    np.testing.assert_allclose(sparse, [sum(row) / np.sqrt(len(row)) if row else 0 for row in full], rtol=1e-5)


def test_unsorted_segments_without_rows(sess):
    x = tf.constant([1.0, 2.0, 3.0])
    found = sess.run(
        [
            getattr(tf, f"unsorted_segment_{n}")(x, [0, -1, 0], 2)
            for n in ("sum", "prod", "max", "min", "mean", "sqrt_n")
        ]
    )
    lowest, highest = np.finfo(np.float32).min, np.finfo(np.float32).max
    np.testing.assert_allclose(
        found, [[4, 0], [3, 1], [3, lowest], [1, highest], [2, 0], [4 / np.sqrt(2), 0]], rtol=1e-6
    )


def test_segment_ids_that_do_not_fit(sess):
    ids = tf.placeholder(tf.int32, [None])
    x = tf.ones([3, 2])
    for given_ids, text in (([0, 1], "same size"), ([1, 0, 1], "not increasing"), ([-1, 0, 1], "out of range")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            sess.run(tf.segment_sum(x, ids), {ids: given_ids})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"segment_ids\[1\] = 4 is out of range \[0, 4\)"):
        sess.run(tf.unsorted_segment_sum(x, ids, 4), {ids: [0, 4, 1]})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] == 7 out of range"):
        sess.run(tf.sparse_segment_sum(x, ids, [0]), {ids: [7]})
    with pytest.raises(ValueError, match="rank 1"):
        tf.segment_sum(x, [[0, 1, 1]])
