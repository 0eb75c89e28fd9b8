"""Barriers: elements that are given once they are complete."""

from __future__ import annotations

import pytest

import everflow as tf
from everflow.ops.queues.barriers import Barrier


def test_a_barrier_gives_what_is_complete():
    with tf.Graph().as_default(), tf.Session() as sess:
        b = Barrier((tf.float32, tf.string), shapes=((), ()))
        sizes = [b.ready_size(), b.incomplete_size()]
        sess.run(b.insert_many(0, ["a", "b", "c"], [1.0, 2.0, 3.0]))
        sess.run(b.insert_many(1, ["c", "b", "d"], ["C", "B", "D"]))
        assert sess.run(sizes) == [2, 2]
        indices, keys, (numbers, words) = sess.run(b.take_many(2))
        assert indices.tolist() == [-(2**63)] * 2
        assert (keys.tolist(), numbers.tolist(), words.tolist()) == ([b"c", b"b"], [3.0, 2.0], [b"C", b"B"])
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(b.insert_many(0, ["a"], [1.0]))
        sess.run(b.close())
        with pytest.raises(tf.errors.CancelledError):
            sess.run(b.insert_many(0, ["new"], [1.0]))
        sess.run([b.insert_many(1, ["a"], ["A"]), b.insert_many(0, ["d"], [4.0])])
        assert sess.run(b.take_many(5, allow_small_batch=True)).keys.tolist() == [b"a", b"d"]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(b.take_many(1))


def test_what_is_known_of_elements():
    with tf.Graph().as_default():
        b = Barrier((tf.float32, tf.string), shapes=((2,), ()))
        taken = b.take_many(3)
        assert [t.shape.as_list() for t in (taken.indices, taken.keys, *taken.values)] == [[3], [3], [3, 2], [3]]
        small = b.take_many(3, allow_small_batch=True)
        assert small.values[0].shape.as_list() == [None, 2]


@pytest.mark.parametrize(
    "arguments",
    [((tf.float32,), ((None,),)), ((tf.float32,), ((0,),))],
)
def test_shapes_that_are_none(arguments):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        Barrier(*arguments)


def test_taking_waits(sess):
    b = Barrier((tf.float32,), shapes=((),))
    sess.run(b.insert_many(0, ["a"], [1.0]))
    with pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(b.take_many(2), options=tf.RunOptions(timeout_in_ms=50))
    assert sess.run(b.ready_size()) == 1


def test_pending_elements_can_be_cancelled(sess):
    b = Barrier((tf.float32, tf.float32), shapes=((), ()))
    sess.run(b.insert_many(0, ["a"], [1.0]))
    sess.run(b.close(cancel_pending_enqueues=True))
    with pytest.raises(tf.errors.CancelledError):
        sess.run(b.insert_many(1, ["a"], [1.0]))
    with pytest.raises(tf.errors.OutOfRangeError):
        sess.run(b.take_many(1))
