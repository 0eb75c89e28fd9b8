"""The largest entries of rows."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.nn.graphs import MATRIX, RANDOM, evaluate, fails_when_run, x_of

VALUES = {
    "largest": (lambda x: tf.nn.top_k(x, 3)[0], lambda x: -np.sort(-x, 1)[:, :3]),
    "places": (
        lambda x: tf.nn.top_k(tf.cast(x, tf.int32), 5)[1],
        lambda x: np.argsort(-x.astype(int), 1, kind="stable"),
    ),
}


@pytest.mark.parametrize("name", sorted(VALUES))
def test_values(name):
    build, reference = VALUES[name]
    found = evaluate(lambda: build(tf.constant(MATRIX)))
    np.testing.assert_allclose(found, reference(MATRIX), rtol=1e-6, atol=1e-12)


def test_top_k_keeps_the_order_of_equal_entries_in_long_rows():
    rows = RANDOM.randint(0, 50, (3, 1000)).astype(np.float32)
    values, indices = evaluate(lambda: tf.nn.top_k(rows, 20))
    order = np.argsort(-rows, 1, kind="stable")[:, :20]
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(rows, order, 1))


# what is built, its static shape
SHAPES = [
    (lambda: tf.nn.top_k(x_of(None, 5), 2)[1], [None, 2]),
    (lambda: tf.nn.in_top_k(x_of(None, 5), x_of(7, dtype=tf.int32), 2), [7]),
]


@pytest.mark.parametrize("build, expected", SHAPES)
def test_static_shapes(build, expected):
    with tf.Graph().as_default():
        assert build().shape.as_list() == expected


# what raises while a graph is built
REFUSED = [
    (lambda: tf.nn.top_k(x_of(2, 3), 4), ValueError),
]


@pytest.mark.parametrize("build, error", REFUSED)
def test_refused_while_building(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


# build from placeholders of unknown shape, what is fed
WRONG_WHEN_RUN = [
    (lambda x, k: tf.nn.top_k(x, k)[0], [np.zeros((2, 3), np.float32), np.int32(4)]),
    (lambda x, z: tf.nn.in_top_k(x, z, 1), [np.zeros((2, 3), np.float32), np.array([0, 1, 2], np.int32)]),
]


@pytest.mark.parametrize("build, values", WRONG_WHEN_RUN)
def test_wrong_shapes_known_only_when_run(build, values):
    assert fails_when_run(build, values)


def test_unsorted_top_k_has_the_order_of_tensorflows_heap():
    row = [5.0, 1.0, 5.0, 4.0, 9.0, 2.0, 7.0, 8.0, 6.0, 3.0]
    values, indices = evaluate(lambda: tf.nn.top_k(row, 4, sorted=False))
    assert indices.tolist() == [8, 7, 6, 4] and values.tolist() == [6.0, 8.0, 7.0, 9.0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint16", "int64"])
def test_types_and_edges(sess, dtype):
    x = np.array([[3, 1, 3], [2, 9, 0]], dtype)
    values, indices = sess.run(tf.nn.top_k(x, 2))
    assert values.dtype == dtype and indices.dtype == np.int32
    assert values.tolist() == [[3, 3], [9, 2]] and indices.tolist() == [[0, 2], [1, 0]]
    assert sess.run(tf.nn.top_k(x, 0)).values.shape == (2, 0)
    assert sess.run(tf.nn.top_k(x[0], 1)).values.tolist() == [3]


def test_ties_are_in_the_top(sess):
    predictions = [[0.1, 0.5, 0.5], [0.9, 0.1, np.nan], [np.inf, 1.0, 2.0]]
    assert sess.run(tf.nn.in_top_k(predictions, [2, 0, 1], 1)).tolist() == [True, False, False]
    assert sess.run(tf.nn.in_top_k(predictions[:1], [5], 3)).tolist() == [False]


@pytest.mark.parametrize("reverse", [False, True])
def test_the_nth_entry(sess, reverse):
    x = np.array([[5.0, 1.0, 3.0], [2.0, 2.0, 9.0]])
    ordered = np.sort(x, 1)[:, ::-1] if reverse else np.sort(x, 1)
    for n in range(3):
        np.testing.assert_array_equal(sess.run(tf.contrib.nn.nth_element(x, n, reverse)), ordered[:, n])
    with pytest.raises(ValueError):
        tf.contrib.nn.nth_element(x, 3)


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.nn.top_k(1.0),
        lambda: tf.nn.top_k([1.0], -1),
        lambda: tf.nn.top_k([1.0], [1]),
        lambda: tf.nn.in_top_k([1.0], [0], 1),
        lambda: tf.nn.in_top_k([[1.0]], [0, 0], 1),
    ],
)
def test_what_has_no_top(build):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        build()
