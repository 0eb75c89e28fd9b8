"""tf.contrib.data: what it has beside the names of tf.data.experimental."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import data

RANGE = tf.data.Dataset.range

pytestmark = pytest.mark.usefixtures("own_graph")


def _elements(dataset):
    following, found = dataset.make_one_shot_iterator().get_next(), []
    with tf.Session() as session:
        while True:
            try:
                found.append(np.array(session.run(following)).tolist())
            except tf.errors.OutOfRangeError:
                return found


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({}, [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6]]),
        ({"stride": 2}, [[0, 1, 2], [2, 3, 4], [4, 5, 6]]),
        ({"window_shift": 2, "window_stride": 2}, [[0, 2, 4], [2, 4, 6]]),
        ({"window_shift": 4}, [[0, 1, 2], [4, 5, 6]]),
    ],
)
def test_sliding_windows(arguments, wanted):
    assert _elements(RANGE(7).apply(data.sliding_window_batch(3, **arguments))) == wanted


def test_batches_without_a_remainder():
    dataset = RANGE(7).apply(data.batch_and_drop_remainder(3))
    assert dataset.output_shapes.as_list() == [3]
    assert _elements(dataset) == [[0, 1, 2], [3, 4, 5]]
    padded = RANGE(3).map(lambda x: tf.fill([x], x)).apply(data.padded_batch_and_drop_remainder(2, [None]))
    assert _elements(padded) == [[[0], [1]]]


def test_shapes_that_elements_must_have():
    dataset = RANGE(5).batch(2).apply(data.assert_element_shape(tf.TensorShape([2])))
    assert dataset.output_shapes.as_list() == [2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        _elements(dataset)
    with pytest.raises(ValueError, match="not compatible"):
        RANGE(4).batch(2).apply(data.assert_element_shape(tf.TensorShape([2, 3])))


def test_reduce():
    reducer = data.Reducer(lambda _: tf.constant(0, tf.int64), lambda total, x: total + x, lambda total: total)
    with tf.Session() as session:
        assert session.run(data.reduce_dataset(RANGE(5), reducer)) == 10
