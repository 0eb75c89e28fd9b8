"""Accumulators: means and sums of what is not stale, rows that only some gradients had, and shapes that don't fit."""

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed


@pytest.mark.parametrize(("reduction", "wanted"), [("MEAN", [2.0, 3.0]), ("SUM", [4.0, 6.0])])
def test_gradients_are_brought_together(sess, reduction, wanted):
    accumulator = tf.ConditionalAccumulator(tf.float32, [2], reduction_type=reduction)
    taken = accumulator.take_grad(2)
    for value in ([1.0, 2.0], [3.0, 4.0]):
        sess.run(accumulator.apply_grad(value))
    assert sess.run(accumulator.num_accumulated()) == 2
    assert sess.run(taken).tolist() == wanted
    assert sess.run(accumulator.num_accumulated()) == 0


def test_each_take_is_a_step_and_older_gradients_are_dropped(sess):
    accumulator = tf.ConditionalAccumulator(tf.float32, [])
    old, new, taken = (
        accumulator.apply_grad(100.0, local_step=0),
        accumulator.apply_grad(5.0, local_step=1),
        accumulator.take_grad(1),
    )
    sess.run(old)
    assert sess.run(taken) == 100.0
    sess.run([old, new])
    assert sess.run(taken) == 5.0
    sess.run(accumulator.set_global_step(10))
    sess.run([old, new])
    assert sess.run(accumulator.num_accumulated()) == 0


def test_shapes(sess):
    accumulator = tf.ConditionalAccumulator(tf.float32, [None, 2])
    sess.run(accumulator.apply_grad(fed([[1.0, 2.0]])))
    for wrong in ([1.0, 2.0], [[1.0, 2.0, 3.0]], [[1.0, 2.0], [3.0, 4.0]]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Shape mismatch"):
            sess.run(accumulator.apply_grad(fed(wrong)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
        sess.run(accumulator.take_grad(fed(0)))


def sparse(accumulator, indices, values, **options):
    return accumulator.apply_grad(
        fed(np.array(indices, np.int64)), fed(np.array(values, np.float32)), fed(np.array([4, 2], np.int64)), **options
    )


@pytest.mark.parametrize(("reduction", "last"), [("MEAN", [4.0, 5.0]), ("SUM", [8.0, 10.0])])
def test_rows_are_averaged_over_the_gradients_that_had_them(sess, reduction, last):
    accumulator = tf.SparseConditionalAccumulator(tf.float32, [4, 2], reduction_type=reduction)
    sess.run(sparse(accumulator, [0, 3], [[1, 2], [3, 4]]))
    sess.run(sparse(accumulator, [1, 3], [[9, 9], [5, 6]]))
    found = sess.run(accumulator.take_indexed_slices_grad(2))
    assert found.indices.tolist() == [0, 1, 3] and found.dense_shape.tolist() == [4, 2]
    assert found.values.tolist() == [[1, 2], [9, 9], last]


@pytest.mark.parametrize(("indices", "values"), [([4], [[1, 2]]), ([0], [[1, 2, 3]]), ([0, 1], [[1, 2]]), ([0], [1])])
def test_rows_that_do_not_fit(sess, indices, values):
    accumulator = tf.SparseConditionalAccumulator(tf.float32, [4, 2])
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(sparse(accumulator, indices, values))


def test_what_was_put_in_is_a_copy(sess):
    v = tf.Variable([1.0, 2.0])
    accumulator = tf.ConditionalAccumulator(tf.float32, [2])
    put, change = accumulator.apply_grad(v), v.assign([9.0, 9.0])
    sess.run(v.initializer)
    sess.run(put)
    sess.run(change)
    assert sess.run(accumulator.take_grad(1)).tolist() == [1.0, 2.0]


def test_gradients_are_floating_point_numbers():
    with tf.Graph().as_default(), tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.ConditionalAccumulator(tf.int32, shape=[]).num_accumulated())
