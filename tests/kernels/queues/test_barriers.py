"""Barriers: elements come when all their components have; the order is that of their keys' first coming."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.queues.barriers import Barrier

FIRST = -(2**63)


@pytest.fixture
def barrier(sess):
    handle = tf.raw_ops.Barrier(component_types=[tf.float32, tf.string], shapes=[[], [2]], shared_name="b")

    class Named:
        def insert(self, keys, values, at):
            sess.run(tf.raw_ops.BarrierInsertMany(handle=handle, keys=keys, values=values, component_index=at))

        def take(self, count, small=False):
            found = tf.raw_ops.BarrierTakeMany(
                handle=handle, num_elements=count, component_types=[tf.float32, tf.string], allow_small_batch=small
            )
            indices, keys, values = sess.run(list(found))
            return (indices - FIRST).tolist(), keys.tolist(), [v.tolist() for v in values]

        def sizes(self):
            return sess.run(
                [tf.raw_ops.BarrierReadySize(handle=handle), tf.raw_ops.BarrierIncompleteSize(handle=handle)]
            )

        def close(self, cancel=False):
            sess.run(tf.raw_ops.BarrierClose(handle=handle, cancel_pending_enqueues=cancel))

    return Named()


def pairs(*words):
    return np.array([[w, w] for w in words])


def test_elements_are_complete_with_their_last_component(barrier):
    barrier.insert(["a", "b"], [1.0, 2.0], 0)
    assert barrier.sizes() == [0, 2]
    barrier.insert(["b"], pairs("y"), 1)
    assert barrier.sizes() == [1, 1]
    barrier.insert(["a"], pairs("x"), 1)
    indices, keys, values = barrier.take(2)
    assert indices == [0, 0] and sorted(keys) == [b"a", b"b"]
    assert sorted(values[0]) == [1.0, 2.0]


def test_the_order_is_that_of_the_first_insertions(barrier):
    barrier.insert(["late"], [1.0], 0)
    barrier.insert(["later"], [2.0], 0)
    barrier.insert(["later", "late"], pairs("x", "y"), 1)
    indices, keys, _ = barrier.take(2)
    assert keys == [b"late", b"later"] and indices == [0, 1]


def test_a_component_comes_once(barrier):
    barrier.insert(["a"], [1.0], 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Key a already has a value for component 0"):
        barrier.insert(["a"], [1.0], 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="component ID is out of range"):
        barrier.insert(["a"], [1.0], 2)


@pytest.mark.parametrize(("numbers", "words"), [([[1.0]], pairs("x")), ([1.0], [["x", "y", "z"]])])
def test_elements_whose_shape_is_another_do_not_come(barrier, numbers, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shape mismatch"):
        barrier.insert(["k"], numbers, 0)
        barrier.insert(["k"], words, 1)
    assert barrier.sizes()[0] == 0


def test_a_closed_barrier_takes_no_new_keys_but_lets_old_ones_end(barrier):
    barrier.insert(["a"], [1.0], 0)
    barrier.close()
    with pytest.raises(tf.errors.CancelledError):
        barrier.insert(["b"], [2.0], 0)
    barrier.insert(["a"], pairs("x"), 1)
    assert barrier.take(5, small=True)[1] == [b"a"]
    with pytest.raises(tf.errors.OutOfRangeError, match="closed and has insufficient elements"):
        barrier.take(1)
    with pytest.raises(tf.errors.CancelledError):
        barrier.close()


def test_cancelling_forgets_what_is_not_complete(barrier):
    barrier.insert(["a", "b"], [1.0, 2.0], 0)
    barrier.insert(["a"], pairs("x"), 1)
    barrier.close(cancel=True)
    assert barrier.sizes() == [1, 0]
    with pytest.raises(tf.errors.CancelledError):
        barrier.insert(["b"], pairs("y"), 1)
    assert barrier.take(1)[1] == [b"a"]


def test_what_barriers_refuse_when_they_run():
    with tf.Graph().as_default(), tf.Session() as sess:
        empty = tf.placeholder_with_default(np.zeros((1, 0), np.float32), None)
        for barrier, values in (
            (Barrier((tf.float32,)), empty),
            (Barrier((tf.float32, tf.float32), shapes=((),)), [1.0]),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(barrier.insert_many(0, ["a"], values))
        open_shapes = Barrier((tf.float32,), shapes=())
        sess.run(open_shapes.insert_many(0, ["a"], [1.0]))
        assert sess.run(open_shapes.ready_size()) == 1
