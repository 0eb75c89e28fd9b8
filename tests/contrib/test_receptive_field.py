"""tf.contrib.receptive_field: what features of convolutional networks see."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import slim
from everflow.contrib.receptive_field import receptive_field_api as receptive_field


def _two_ways(first_kernel):
    """Two ways through a network, whose fields have the same centres where the first kernel is of size 1."""
    with tf.Graph().as_default() as graph:
        image = tf.placeholder(tf.float32, [None, 224, 224, 1], name="image")
        left = slim.conv2d(image, 1, first_kernel, stride=4, padding="VALID")
        padded = tf.pad(image, [[0, 0], [1, 0], [1, 0], [0, 0]])
        right = slim.conv2d(padded, 1, 3, stride=2, padding="VALID", scope="right")
        right = slim.conv2d(right, 1, 1, stride=2, padding="VALID")
        tf.nn.relu(left[:, :50, :50] + right[:, :50, :50] if first_kernel > 1 else left + right, name="features")
    return graph


def test_size_stride_and_padding_of_a_field():
    field = receptive_field.compute_receptive_field_from_graph_def(_two_ways(1), "image", "features")
    assert list(field) == [3, 3, 4, 4, 1, 1]
    features = np.array([[0, 0], [1, 3]])
    centres = field.compute_input_center_coordinates(features)
    assert centres.tolist() == [[0, 0], [4, 12]]
    assert field.compute_feature_coordinates(centres).tolist() == features.tolist()
    with pytest.raises(ValueError, match="3 columns"):
        field.compute_input_center_coordinates(np.zeros([1, 3]))
    stopped = receptive_field.compute_receptive_field_from_graph_def(
        _two_ways(1).as_graph_def(), "image", "features", stop_propagation=["right/Relu"]
    )
    assert list(stopped) == [1, 1, 4, 4, 0, 0]


@pytest.mark.parametrize(("resolution", "padding"), [(None, [None, None]), ([64, 63], [1, 0])])
def test_padding_to_the_same_size_may_need_the_resolution(resolution, padding):
    with tf.Graph().as_default() as graph:
        image = tf.placeholder(tf.float32, [None, None, None, 3], name="image")
        tf.identity(slim.max_pool2d(slim.conv2d(image, 4, 3, stride=2), 3, 1, padding="SAME"), name="features")
    field = receptive_field.compute_receptive_field_from_graph_def(graph, "image", "features", None, resolution)
    assert list(field.size) == [7, 7]
    assert list(field.padding) == (padding if resolution is None else [3, 2])


def test_ways_and_ops_that_have_no_field():
    with pytest.raises(ValueError, match="isn't known"):
        receptive_field.compute_receptive_field_from_graph_def(_two_ways(5), "image", "features")
    with pytest.raises(ValueError, match="no node 'picture'"):
        receptive_field.compute_receptive_field_from_graph_def(_two_ways(1), "picture", "features")
    with tf.Graph().as_default() as graph:
        image = tf.placeholder(tf.float32, [1, 32, 32, 2], name="image")
        tf.concat([slim.conv2d(image, 1, 3), slim.conv2d(image, 1, 4)], 3, name="features")
    with pytest.raises(ValueError, match="other centres"):
        receptive_field.compute_receptive_field_from_graph_def(graph, "image", "features")


def test_the_order_of_computation_has_sizes():
    infos, nodes = receptive_field.get_compute_order(_two_ways(1).as_graph_def(), "image", [224, 224])
    assert infos["features"].order == max(infos[name].order for name in nodes)
    assert infos["right/Conv2D"].input_size == [225, 225]
    assert infos["features"].output_size == [56, 56]
