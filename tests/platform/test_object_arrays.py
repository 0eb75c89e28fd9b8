"""Arrays of objects with a graph's tensors in them."""

import numpy as np

import everflow as tf
from everflow.platform.object_arrays import array_of_objects


def test_tensors_stand_as_they_are():
    with tf.Graph().as_default():
        a, size = tf.zeros([2]), tf.constant(3)
        made = array_of_objects([[a, 1], (2, size)])
        assert made.dtype == object and made.shape == (2, 2)
        assert made[0, 0] is a and made[1, 1] is size and made[1, 0] == 2


def test_uneven_rows_and_none():
    assert array_of_objects([[1, 2], [3]]).tolist() == [[1, 2], [3]]
    assert np.array_equal(array_of_objects([[1, 2], [3, 4]]), [[1, 2], [3, 4]])
