"""Accumulators of gradients: what is stale, what is averaged, what waits."""

from __future__ import annotations

import pytest

import everflow as tf


def test_accumulators_average_what_is_not_stale():
    with tf.Graph().as_default(), tf.Session() as sess:
        acc = tf.ConditionalAccumulator(tf.float32, shape=[2])
        sess.run([acc.apply_grad([1.0, 2.0]), acc.apply_grad([3.0, 6.0])])
        assert sess.run(acc.take_grad(2)).tolist() == [2.0, 4.0]
        sess.run(acc.apply_grad([9.0, 9.0], local_step=0))
        assert sess.run(acc.num_accumulated()) == 0
        sparse = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 1])
        sess.run(sparse.apply_grad([0, 2], [[1.0], [2.0]]))
        sess.run(sparse.apply_grad([2, 3], [[4.0], [5.0]]))
        indices, values, shape = sess.run(sparse.take_grad(2))
        assert (indices.tolist(), values.ravel().tolist(), shape.tolist()) == ([0, 2, 3], [1.0, 3.0, 5.0], [4, 1])


@pytest.mark.parametrize(("reduction", "expected"), [("MEAN", [2.0, 4.0]), ("SUM", [4.0, 8.0])])
def test_reductions(sess, reduction, expected):
    acc = tf.ConditionalAccumulator(tf.float32, shape=[2], reduction_type=reduction)
    sess.run(acc.apply_grad([1.0, 2.0]))
    sess.run(acc.apply_grad([3.0, 6.0]))
    assert sess.run(acc.num_accumulated()) == 2
    taken = acc.take_grad(1)
    assert taken.shape.as_list() == [2]
    assert sess.run(taken).tolist() == expected and sess.run(acc.num_accumulated()) == 0


def test_gradients_of_earlier_steps_are_dropped(sess):
    acc = tf.ConditionalAccumulator(tf.float32)
    sess.run(acc.set_global_step(3))
    for step in (2, 3, 4):
        sess.run(acc.apply_grad(float(step), local_step=step))
    assert sess.run(acc.num_accumulated()) == 2
    assert sess.run(acc.take_grad(2)) == 3.5
    sess.run(acc.apply_grad(7.0, local_step=3))  # taking began the next step
    assert sess.run(acc.num_accumulated()) == 0


def test_taking_waits_for_enough(sess):
    acc = tf.ConditionalAccumulator(tf.float32, shape=[])
    sess.run(acc.apply_grad(1.0))
    with pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(acc.take_grad(2), options=tf.RunOptions(timeout_in_ms=50))


def test_slices(sess):
    acc = tf.SparseConditionalAccumulator(tf.float32)
    sess.run(acc.apply_indexed_slices_grad(tf.IndexedSlices([[2.0], [4.0]], [0, 1], [3, 1])))
    taken = acc.take_indexed_slices_grad(1)
    assert isinstance(taken, tf.IndexedSlices)
    found = sess.run(taken)
    assert (found.indices.tolist(), found.values.tolist()) == ([0, 1], [[2.0], [4.0]])


def test_shapes_and_reductions_that_do_not_fit(sess):
    acc = tf.ConditionalAccumulator(tf.float32, shape=[2])
    with pytest.raises(ValueError):
        acc.apply_grad([1.0, 2.0, 3.0])
    with pytest.raises(ValueError):
        tf.ConditionalAccumulator(tf.float32, reduction_type="MEDIAN")
    sparse = tf.SparseConditionalAccumulator(tf.float32, shape=[2, 1])
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(sparse.apply_grad([5], [[1.0]], [9, 1]))
