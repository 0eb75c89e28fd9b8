"""Variables in parts, and partitioners."""

import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_partitioned():
    p = tf.get_variable("p", [5, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer())
    assert [v.shape.as_list() for v in p] == [[3, 2], [2, 2]]
    assert [v._get_save_slice_info().spec for v in p] == ["5 2 0,3:0,2", "5 2 3,2:0,2"]
    whole = tf.convert_to_tensor(p)
    assert whole.name == "p:0"
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(whole).shape == (5, 2)


def test_partitioners():
    shape = tf.TensorShape([40, 4])
    assert tf.fixed_size_partitioner(3, axis=1)(shape=shape, dtype=tf.float32) == [1, 3]
    assert tf.variable_axis_size_partitioner(64)(shape=shape, dtype=tf.float32) == [10, 1]
    assert tf.min_max_variable_partitioner(4, min_slice_size=64)(shape=shape, dtype=tf.float32) == [4, 1]
