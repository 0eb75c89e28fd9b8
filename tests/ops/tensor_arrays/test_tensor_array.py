"""TensorArrays: what is known of their elements while the graph is drawn."""

import pytest

import everflow as tf


def shapes(element_shape, identical):
    array, flow = tf.raw_ops.TensorArrayV3(
        size=3, dtype=tf.float32, element_shape=element_shape, identical_element_shapes=identical
    )
    grads, _ = tf.raw_ops.TensorArrayGradV3(handle=array, flow_in=flow, source="a")
    read = tf.raw_ops.TensorArrayReadV3(handle=grads, index=0, flow_in=flow, dtype=tf.float32)
    gathered = tf.raw_ops.TensorArrayGatherV3(
        handle=array, indices=[0, 1], flow_in=flow, dtype=tf.float32, element_shape=[2, None]
    )
    return str(read.shape), str(gathered.shape)


def test_the_declared_shape_counts_where_elements_are_alike():
    assert shapes([None, 5], True) == ("(?, 5)", "(2, ?, 5)")
    assert shapes(None, True) == ("<unknown>", "<unknown>")
    assert shapes([2, 5], False) == ("(2, 5)", "(2, 2, 5)")


def test_elsewhere_a_gather_goes_by_what_it_was_told():
    assert shapes([None, 5], False) == ("<unknown>", "(2, 2, ?)")
    assert shapes(None, False) == ("<unknown>", "(2, 2, ?)")


def test_gradients_of_writes_know_the_declared_shape():
    value = tf.placeholder(tf.float32)
    array = tf.TensorArray(tf.float32, 3, element_shape=[None, 5]).write(0, value)
    assert tf.gradients(array.stack(), value)[0].shape.as_list() == [None, 5]


@pytest.mark.parametrize(("index", "shape"), [(0, [2, 6]), ([0], [2, 5])])
def test_a_write_that_cannot_fit_is_refused(index, shape):
    array, flow = tf.raw_ops.TensorArrayV3(size=3, dtype=tf.float32, element_shape=[2, 5])
    with pytest.raises(ValueError, match="TensorArrayWriteV3"):
        tf.raw_ops.TensorArrayWriteV3(handle=array, index=index, value=tf.ones(shape), flow_in=flow)


def test_sizes_and_lengths_of_other_ranks_are_refused():
    with pytest.raises(ValueError):
        tf.TensorArray(tf.float32, size=[1])
    with pytest.raises(ValueError):
        tf.TensorArray(tf.float32, 3).split([1.0, 2.0, 3.0], [[1]])
    with pytest.raises(ValueError):
        tf.TensorArray(tf.float32, 3).scatter([0, 1], [1.0])
