"""Shapes of calls of services."""

import pytest

import everflow as tf
from everflow.framework import raw_ops as raw


def test_shapes():
    with tf.Graph().as_default():
        many = tf.placeholder(tf.string, [3])
        assert raw.Rpc(address="a", method=many, request="x").shape.as_list() == [3]
        assert [t.shape.as_list() for t in raw.TryRpc(address="a", method="b", request="x")] == [[], [], []]
        with pytest.raises(ValueError):
            raw.Rpc(address="a", method=many, request=["x", "y"])
