"""tf.compat.v2: the names that are there, and those that TensorFlow 2 doesn't have."""

import numpy as np
import pytest

import everflow as tf


def test_names():
    v2 = tf.compat.v2
    assert not hasattr(v2, "Session") and not hasattr(v2, "placeholder")
    assert v2.Graph is tf.Graph and v2.float32 is tf.float32
    assert v2.math.add is tf.math.add
    assert {"Graph", "nn", "keras"} <= set(dir(v2)) and "relu" in dir(v2.nn)
    with pytest.raises(AttributeError):
        v2.nn.no_such_thing  # noqa: B018


def test_changed_meaning():
    with tf.Graph().as_default(), tf.Session() as sess:
        picked = tf.compat.v2.where([True, False], [[1], [2]], [3, 4])
        np.testing.assert_array_equal(sess.run(picked), [[1, 4], [2, 4]])
