"""What tests of ragged tensors share: some rows, and values of rows as lists."""

import numpy as np

import everflow as tf

R = tf.RaggedTensor
ROWS = [[1, 2], [], [3, 4, 5]]
DEEP = [[[1], [2, 3]], [], [[4, 5]]]


def run(fetch, feed=None):
    """The value of a tensor, as lists."""
    with tf.Session() as session:
        value = session.run(fetch, feed)
    return value.to_list() if isinstance(value, tf.ragged.RaggedTensorValue) else np.asarray(value).tolist()
