"""TensorShape: when two shapes are equal."""

import everflow as tf


def test_an_unknown_size_equals_only_itself():
    shape = tf.TensorShape([None, 2])
    other = tf.TensorShape([None, 2])
    assert shape == shape and not shape != shape
    assert not shape == other and shape != other


def test_a_tensors_shape_equals_itself_and_not_that_of_another_with_unknown_sizes():
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    assert x.shape == x.shape
    assert not x.shape == y.shape
    assert x.shape[1:] == y.shape[1:]
