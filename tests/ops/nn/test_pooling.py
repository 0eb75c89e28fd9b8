"""Pools over one, two and three dimensions."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.nn.graphs import IMAGE, RANDOM, fails_when_run, x_of

# what is built, its static shape
SHAPES = [
    (lambda: tf.nn.max_pool(x_of(None, 5, None, 2), 2, 2, "SAME"), [None, 3, None, 2]),
    (lambda: tf.nn.avg_pool3d(x_of(1, 5, 6, 7, 2), 2, 2, "VALID"), [1, 2, 3, 3, 2]),
    (lambda: tf.nn.max_pool1d(x_of(1, 5, 2), 2, 2, "VALID"), [1, 2, 2]),
    (lambda: tf.nn.max_pool(x_of(0, 5, 5, 2), 2, 2, "VALID"), [0, 2, 2, 2]),
    (lambda: tf.nn.avg_pool3d(x_of(0, 5, 6, 7, 2), 2, 2, "VALID"), [0, 2, 3, 3, 2]),
    (lambda: tf.nn.max_pool(x_of(1, 5, 5, 4), [1, 1, 1, 2], [1, 1, 1, 2], "VALID"), [1, 5, 5, 2]),
]


@pytest.mark.parametrize("build, expected", SHAPES)
def test_static_shapes(build, expected):
    with tf.Graph().as_default():
        assert build().shape.as_list() == expected


# what raises while a graph is built
REFUSED = [
    (lambda: tf.nn.max_pool(x_of(1, 5, 5, 3), [1, 2, 3], 1, "SAME"), ValueError),
    (lambda: tf.nn.max_pool(x_of(1, 5, 5, 3), [1, 0, 2, 1], 1, "SAME"), ValueError),
    (lambda: tf.raw_ops.MaxPoolV2(input=x_of(1, 5, 5, 3), ksize=2, strides=[1] * 4, padding="SAME"), ValueError),
]


@pytest.mark.parametrize("build, error", REFUSED)
def test_refused_while_building(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


# build from placeholders of unknown shape, what is fed
WRONG_WHEN_RUN = [
    (lambda x: tf.nn.max_pool(x, 2, 1, "SAME"), [IMAGE[0]]),
]


@pytest.mark.parametrize("build, values", WRONG_WHEN_RUN)
def test_wrong_shapes_known_only_when_run(build, values):
    assert fails_when_run(build, values)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_pools_of_any_dimension(sess, spatial, padding):
    shape = (1, *[5] * spatial, 2)
    x = RANDOM.normal(size=shape).astype(np.float32)
    largest, mean = sess.run([tf.nn.max_pool_v2(x, 2, 2, padding), tf.nn.avg_pool_v2(x, 2, 2, padding)])
    first = (0, *[slice(0, 2)] * spatial)
    np.testing.assert_allclose(largest[(0, *[0] * spatial)], x[first].reshape(-1, 2).max(0), rtol=1e-6)
    np.testing.assert_allclose(mean[(0, *[0] * spatial)], x[first].reshape(-1, 2).mean(0), rtol=1e-5, atol=1e-6)
    last = (0, *[slice(4, 5)] * spatial)
    if padding == "SAME":  # cells outside don't count
        np.testing.assert_allclose(mean[(0, *[-1] * spatial)], x[last].reshape(-1, 2).mean(0), rtol=1e-5)
    assert largest.shape == mean.shape == (1, *[3 if padding == "SAME" else 2] * spatial, 2)


@pytest.mark.parametrize("whole", [False, True])
def test_places_of_the_largest(sess, whole):
    x = np.arange(32.0, dtype=np.float32).reshape(2, 4, 4, 1)
    values, places = sess.run(
        tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME", include_batch_in_index=whole)
    )
    assert values[0, 0, 0, 0] == 5 and places[0, 0, 0, 0] == 5
    assert places[1, 0, 0, 0] == (21 if whole else 5) and places.dtype == np.int64


def test_fractional_pools(sess):
    x = RANDOM.normal(size=(1, 10, 10, 1)).astype(np.float32)
    made = tf.nn.fractional_max_pool(x, [1.0, 1.5, 1.4, 1.0], deterministic=True, seed=1)
    assert made[0].shape.as_list() == [1, 6, 7, 1] and made[1].shape.as_list() == [6]
    output, rows, columns = sess.run(made)
    assert rows[0] == columns[0] == 0 and rows[-1] == 10 and (np.diff(rows) >= 1).all()
    assert output[0, 0, 0, 0] == x[0, : rows[1], : columns[1], 0].max()


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.nn.max_pool_v2(x_of(None), 2, 2, "SAME"),
        lambda: tf.nn.max_pool_v2(x_of(2, 3), 2, 2, "SAME"),
        lambda: tf.nn.max_pool_with_argmax(x_of(1, 4, 4, 1), [1, 2, 2, 1], [1, 2, 2, 1], "SAME", data_format="NCHW"),
        lambda: tf.nn.fractional_max_pool(x_of(1, 4, 4, 1), [1.0, 1.0]),
        lambda: tf.nn.max_pool(x_of(1, 4, 4, 1), 2, 2, "SAME", input=x_of(1, 4, 4, 1)),
    ],
)
def test_pools_that_cannot_be(build):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        build()


def test_one_number_for_height_and_width_of_largest_entries_with_places():
    found = tf.compat.v2.nn.max_pool_with_argmax(tf.ones([1, 4, 4, 1]), 2, 2, "VALID")
    assert found.output.shape.as_list() == [1, 2, 2, 1]
    assert found.argmax.op.get_attr("ksize") == [1, 2, 2, 1]
