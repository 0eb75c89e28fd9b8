"""Kernels that fill a tensor with a value and write into it leave the value as it was, also where the tensor has one
element.
"""

import pytest

import everflow as tf


@pytest.mark.parametrize(
    "filled",
    [
        lambda x, value: tf.sparse_to_dense([0], [1], x, value),
        lambda x, value: tf.pad(x, [[0, 0]], constant_values=value),
        lambda x, value: tf.RaggedTensor.from_row_splits(x, [0, 1]).to_tensor(value),
    ],
)
def test_the_value_stays(filled):
    with tf.Graph().as_default(), tf.Session() as sess:
        x, value = tf.placeholder(tf.int32, [1]), tf.Variable(7)
        result = filled(x, value)
        sess.run(value.initializer)
        assert sess.run(result, {x: [3]}).ravel().tolist() == [3]
        assert sess.run(value) == 7
