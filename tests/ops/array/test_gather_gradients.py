"""Gradients of gathers: scatters, or IndexedSlices where whole rows were taken."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.array.against_numpy import run

pytestmark = pytest.mark.usefixtures("own_graph")


def test_rows_come_back_as_indexed_slices():
    x = tf.placeholder(tf.float32, [None, 4])
    kinds = [
        type(tf.gradients(y, x)[0]).__name__
        for y in (tf.gather(x, [0]), tf.gather_nd(x, [[0]]), tf.gather(x, [0], axis=1))
    ]
    assert kinds == ["IndexedSlices", "IndexedSlices", "Tensor"]
    joined = tf.gradients(tf.gather(tf.concat([x, x * 2], 0), [0]), x)[0]
    assert isinstance(joined, tf.Tensor)


X = np.arange(1.0, 25).reshape(2, 3, 4)
# function of a tensor, indices of the elements of X that it takes
GATHERS = {
    "rows twice": (lambda x: tf.gather(x, [[1, 1], [0, 1]]), lambda i: i[[1, 1, 0, 1]]),
    "the last axis": (lambda x: tf.gather(x, [3, 0, 3], axis=-1), lambda i: i[..., [3, 0, 3]]),
    "a scalar index": (lambda x: tf.gather(x, 2, axis=1), lambda i: i[:, 2]),
    "an axis that only the run tells": (
        lambda x: tf.gather(x, [2, 2], axis=tf.placeholder_with_default(1, [])),
        lambda i: i[:, [2, 2]],
    ),
    "one batch dimension": (
        lambda x: tf.gather(x, [[2, 0], [1, 1]], batch_dims=1),
        lambda i: np.stack([i[0, [2, 0]], i[1, [1, 1]]]),
    ),
    "nothing": (lambda x: tf.gather(x, np.zeros([0], np.int32), axis=1), lambda i: i[:, :0]),
    "elements": (lambda x: tf.gather_nd(x, [[1, 2, 3], [1, 2, 3]]), lambda i: i[[1, 1], [2, 2], [3, 3]]),
    "vectors": (lambda x: tf.gather_nd(x, [[1, 2]]), lambda i: i[1, 2]),
    "rows by vectors of one": (lambda x: tf.gather_nd(x, [[1], [1]]), lambda i: i[[1, 1]]),
}


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("name", GATHERS)
def test_every_element_gets_what_was_taken_of_it(name, known):
    function, taken = GATHERS[name]
    x = tf.placeholder(tf.float64, X.shape if known else [None] * 3)
    y = function(x)
    grad = tf.convert_to_tensor(tf.gradients(y * y, x)[0])
    times = np.bincount(taken(np.arange(24).reshape(X.shape)).ravel(), minlength=24).reshape(X.shape)
    np.testing.assert_array_equal(run(grad, feed={x: X}), 2 * X * times)
