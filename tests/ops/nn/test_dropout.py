"""Entries set to zero at random."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.nn.graphs import evaluate, x_of

# what raises while a graph is built
REFUSED = [
    (lambda: tf.nn.dropout(x_of(2, 3), rate=1.0), ValueError),
]


@pytest.mark.parametrize("build, error", REFUSED)
def test_refused_while_building(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


def test_dropout_keeps_the_expectation():
    kept = evaluate(lambda: tf.nn.dropout(tf.ones([200, 200]), rate=0.3, seed=4))
    assert set(np.unique(kept)) == {np.float32(0.0), np.float32(1 / 0.7)}
    assert kept.mean() == pytest.approx(1.0, abs=0.02)
    rows = evaluate(lambda: tf.nn.dropout(tf.ones([50, 8]), 0.5, noise_shape=[50, 1]))
    assert (rows == rows[:, :1]).all()


def test_nothing_to_drop_is_the_input():
    with tf.Graph().as_default():
        x = tf.ones([2, 3])
        assert tf.nn.dropout(x, rate=0) is x and tf.nn.dropout(x, 1.0) is x
        assert tf.nn.dropout(x, rate=tf.constant(0.0)) is x
        assert tf.nn.dropout(x, rate=tf.placeholder(tf.float32, [])) is not x


def test_shapes_of_masks():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 4, 3])
        assert tf.nn.dropout(x, rate=0.5).shape.as_list() == [None, 4, 3]
        with pytest.raises(ValueError):
            tf.nn.dropout(x, rate=0.5, noise_shape=[None, 1, 3])
        y = tf.ones([20, 4, 3])
        found = sess.run(tf.nn.dropout(y, rate=0.5, noise_shape=[None, 1, 3], seed=1))
        assert (found == found[:, :1]).all() and set(np.unique(found)) == {0.0, 2.0}


@pytest.mark.parametrize(
    ("options", "value"),
    [({}, 1.0), ({"rate": -0.1}, 1.0), ({"rate": 1.5}, 1.0), ({"keep_prob": "much"}, 1.0), ({"rate": 0.5}, 1),
     ({"keep_prob": 0.5, "rate": 0.5}, 1.0), ({"rate": [0.5]}, 1.0)],
)  # fmt: skip
def test_rates_that_are_none(options, value):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        tf.nn.dropout(tf.fill([2], value), **options)


def test_seeded_masks_are_tensorflows():
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(3)
        made = tf.nn.dropout(tf.ones([8]), rate=0.5, seed=7)
        assert sess.run(made).tolist() == [2, 2, 0, 0, 2, 0, 2, 0]


def test_gradients_go_where_entries_were_kept():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.ones([50])
        y = tf.nn.dropout(x, rate=0.25, seed=2)
        kept, grad = sess.run([y, tf.gradients(y, x)[0]])
        np.testing.assert_array_equal(kept, grad)
