"""Switches between TensorFlow 1's behaviour and 2's."""

import pytest

import everflow as tf
from everflow.ops.control_flow import switches


def test_switching_two_off_leaves_one():
    tf.enable_resource_variables()
    tf.enable_control_flow_v2()
    tf.disable_v2_behavior()
    assert not tf.resource_variables_enabled() and not switches.control_flow_v2_enabled()


@pytest.mark.parametrize("name", ["disable_eager_execution", "disable_v2_tensorshape", "disable_tensor_equality"])
def test_what_is_so_anyway_stays_so(name):
    getattr(tf.compat.v1, name)()
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2])
        assert not tf.executing_eagerly() and isinstance(x.shape[0], tf.Dimension)
        assert (x == x) is True and (x == tf.identity(x)) is False


@pytest.mark.parametrize("name", ["enable_v2_behavior", "enable_v2_tensorshape", "enable_tensor_equality"])
def test_what_is_not_there_says_so(name):
    with pytest.raises(NotImplementedError):
        getattr(tf.compat.v1, name)()
