"""Shapes of ops of contrib's models."""

import everflow as tf
from everflow.framework import raw_ops as raw


def test_shapes():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 3, 4])
        assert raw.PeriodicResample(values=x, shape=[4, 6, None]).shape.as_list() == [4, 6, 1]
        assert raw.PeriodicResample(values=x, shape=[4, 6]).shape.rank is None
        back = raw.PeriodicResampleOpGrad(grad=x, original_shape=[2, 3, 4], desired_shape=[4, 6, None])
        assert back.shape.as_list() == [2, 3, 4]
        assert raw.ReinterpretStringToFloat(input_data=["a", "b"]).shape.as_list() == [2]
