"""Queues: order, waiting, closing, batches, names."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode

SHORT = tf.RunOptions(timeout_in_ms=50)


def test_elements_come_in_order_and_in_batches():
    with tf.Graph().as_default(), tf.Session() as sess:
        q = tf.FIFOQueue(10, [tf.int32, tf.string], shapes=[[], [2]])
        sess.run(q.enqueue([1, ["a", "b"]]))
        sess.run(q.enqueue_many([[2, 3], [["c", "d"], ["e", "f"]]]))
        number, words = sess.run(q.dequeue())
        assert (number, words.tolist()) == (1, [b"a", b"b"])
        numbers, words = sess.run(q.dequeue_many(2))
        assert numbers.tolist() == [2, 3] and words.tolist() == [[b"c", b"d"], [b"e", b"f"]]


def test_what_is_put_in_does_not_change_with_the_variable_it_came_from():
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable([1.0, 2.0])
        q = tf.FIFOQueue(2, tf.float32, shapes=[[2]])
        put, bump = q.enqueue(v), v.assign_add([1.0, 1.0])
        sess.run(v.initializer)
        sess.run(put)
        sess.run(bump)
        assert sess.run(q.dequeue()).tolist() == [1.0, 2.0]


def test_a_full_or_empty_queue_waits():
    with tf.Graph().as_default(), tf.Session() as sess:
        q = tf.FIFOQueue(1, tf.int32, shapes=[[]])
        put, got = q.enqueue(7), q.dequeue()
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(got, options=SHORT)
        sess.run(put)
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(put, options=SHORT)
        assert sess.run(q.size()) == 1


def test_close_lets_waiting_elements_in_first():
    with tf.Graph().as_default(), tf.Session() as sess:
        q = tf.FIFOQueue(1, tf.int32, shapes=[[]])
        put, got, close, size = q.enqueue_many([[1, 2, 3]]), q.dequeue(), q.close(), q.size()
        filling = threading.Thread(target=sess.run, args=(put,))
        filling.start()
        while sess.run(size) < 1:
            pass
        closing = threading.Thread(target=sess.run, args=(close,))
        closing.start()
        assert [int(sess.run(got)) for _ in range(3)] == [1, 2, 3]
        filling.join()
        closing.join()
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(got)
        with pytest.raises(tf.errors.CancelledError):
            sess.run(put)


def test_close_can_cancel_those_who_wait():
    with tf.Graph().as_default(), tf.Session() as sess:
        q = tf.FIFOQueue(1, tf.int32, shapes=[[]])
        put, cancel, size = q.enqueue_many([[1, 2]]), q.close(cancel_pending_enqueues=True), q.size()
        seen = []

        def fill():
            with pytest.raises(tf.errors.CancelledError):
                sess.run(put)
            seen.append("cancelled")

        thread = threading.Thread(target=fill)
        thread.start()
        while sess.run(size) < 1:
            pass
        sess.run(cancel)
        thread.join()
        assert seen == ["cancelled"]


def test_too_few_elements_go_back_when_the_queue_closes():
    with tf.Graph().as_default(), tf.Session() as sess:
        q = tf.FIFOQueue(5, tf.int32, shapes=[[]])
        sess.run(q.enqueue_many([[1, 2]]))
        sess.run(q.close())
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(q.dequeue_many(3))
        assert sess.run(q.dequeue_up_to(3)).tolist() == [1, 2]


def test_a_closed_session_frees_who_waits():
    with tf.Graph().as_default():
        q = tf.FIFOQueue(1, tf.int32, shapes=[[]])
        got, size = q.dequeue(), q.size()
        sess = tf.Session()
        sess.run(size)
        seen = []

        def wait():
            with pytest.raises(tf.errors.CancelledError):
                sess.run(got)
            seen.append(True)

        thread = threading.Thread(target=wait)
        thread.start()
        threading.Event().wait(0.05)
        sess.close()
        thread.join()
        assert seen


def test_padding_and_priority():
    with tf.Graph().as_default(), tf.Session() as sess:
        q = tf.PaddingFIFOQueue(5, [tf.int32], shapes=[[None]])
        for n in (1, 3):
            sess.run(q.enqueue([tf.range(n)]))
        assert sess.run(q.dequeue_many(2)).tolist() == [[0, 0, 0], [0, 1, 2]]
        p = tf.PriorityQueue(5, [tf.string], [[]])
        sess.run(p.enqueue_many([np.array([5, 1, 3]), ["five", "one", "three"]]))
        assert [sess.run(p.dequeue())[1] for _ in range(3)] == [b"one", b"three", b"five"]


def test_seeded_shuffling_draws_tensorflows_numbers():
    with tf.Graph().as_default(), tf.Session() as sess:
        q = tf.RandomShuffleQueue(50, 0, tf.int32, shapes=[[]], seed=7)
        sess.run(q.enqueue_many([list(range(12))]))
        got = q.dequeue()
        assert [int(sess.run(got)) for _ in range(5)] == [3, 10, 5, 4, 0]
        assert sess.run(q.dequeue_many(5)).tolist() == [8, 7, 6, 9, 1]


def test_names_make_dictionaries_and_shared_names_one_queue():
    with tf.Graph().as_default(), tf.Session() as sess:
        q = tf.FIFOQueue(5, [tf.string, tf.int64], shapes=[[], []], names=["word", "id"], shared_name="one")
        other = tf.FIFOQueue(5, [tf.string, tf.int64], shapes=[[], []], shared_name="one")
        sess.run(q.enqueue({"word": "a", "id": 3}))
        assert sess.run(other.size()) == 1
        assert sess.run(q.dequeue()) == {"word": b"a", "id": 3}
        with pytest.raises(ValueError):
            q.enqueue({"word": "a"})
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(tf.FIFOQueue(6, [tf.string, tf.int64], shapes=[[], []], shared_name="one").size())


def test_what_one_run_takes_may_come_from_the_same_run():
    with tf.Graph().as_default(), tf.Session() as sess:
        q = tf.FIFOQueue(3, tf.int32, shapes=[[]])
        got, put = q.dequeue(), q.enqueue(5)
        assert sess.run([got + 1, put], options=tf.RunOptions(timeout_in_ms=2000))[0] == 6


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.FIFOQueue(2, tf.int32, shapes=[[None]]), ValueError),
        (lambda: tf.FIFOQueue(2, [tf.int32, tf.int32], shapes=[[2]]), ValueError),
        (lambda: tf.FIFOQueue(2, [tf.int32], names=["a", "b"]), ValueError),
        (lambda: tf.PaddingFIFOQueue(2, [tf.int32], shapes=None), ValueError),
        (lambda: tf.PaddingFIFOQueue(2, [tf.int32], shapes=[tf.TensorShape(None)]), ValueError),
        (lambda: tf.FIFOQueue(2, tf.int32, shapes=[[2]]).enqueue([[1, 2, 3]]), ValueError),
        (lambda: tf.FIFOQueue(2, tf.int32, shapes=[[]]).enqueue(1.5), TypeError),
        (lambda: tf.FIFOQueue(2, [tf.int32] * 2, shapes=[[], []]).enqueue_many([[1, 2], [1]]), ValueError),
        (lambda: tf.FIFOQueue(2, tf.int32, shapes=[[]]).dequeue_many(-1), ValueError),
        (lambda: tf.FIFOQueue(2, tf.int32).enqueue({"a": 1}), ValueError),
        (lambda: tf.QueueBase.from_list(0, []), TypeError),
        (lambda: tf.QueueBase.from_list(0, [tf.FIFOQueue(2, tf.int32), tf.FIFOQueue(2, tf.int64)]), TypeError),
    ],
)
def test_what_does_not_fit_while_building(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


def test_what_is_known_of_elements():
    with tf.Graph().as_default():
        n = tf.placeholder(tf.int32, [])
        q = tf.PaddingFIFOQueue(2, [tf.int32, tf.int32], shapes=[[], [None, 3]])
        assert [t.shape.as_list() for t in q.dequeue()] == [[], [None, 3]]
        assert [t.shape.as_list() for t in q.dequeue_many(4)] == [[4], [4, None, 3]]
        assert [t.shape.as_list() for t in q.dequeue_many(n)] == [[None], [None, None, 3]]
        assert [t.shape.as_list() for t in q.dequeue_up_to(4)] == [[None], [None, None, 3]]
        assert tf.FIFOQueue(2, tf.int32).dequeue().shape.rank is None


def test_a_queue_chosen_when_the_graph_runs(sess):
    queues = [tf.FIFOQueue(2, tf.int32, shapes=[[2]]), tf.FIFOQueue(2, tf.int32, shapes=[[3]])]
    index = tf.placeholder(tf.int32, [])
    chosen = tf.QueueBase.from_list(index, queues)
    assert chosen.shapes[0].as_list() == [None]
    sess.run([queues[0].enqueue([[1, 2]]), queues[1].enqueue([[3, 4, 5]])])
    got = chosen.dequeue()
    assert sess.run(got, {index: 1}).tolist() == [3, 4, 5] and sess.run(got, {index: 0}).tolist() == [1, 2]


def test_whether_a_queue_is_closed(sess):
    q = tf.FIFOQueue(2, tf.int32)
    assert not sess.run(q.is_closed())
    sess.run(q.close())
    assert sess.run(q.is_closed())


def test_elements_without_shapes_come_one_by_one(sess):
    q = tf.FIFOQueue(2, tf.int32)
    sess.run(q.enqueue([[1, 2]]))
    sess.run(q.enqueue(3))
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(q.dequeue_many(2))
    assert sess.run(q.dequeue()).tolist() == [1, 2] and sess.run(q.dequeue()) == 3


def test_several_elements_are_taken_executing_eagerly():
    with eager_mode():
        q = tf.FIFOQueue(3, tf.float32, shapes=[[]])
        q.enqueue_many([[1.0, 2.0, 3.0]])
        assert q.dequeue_many(2).numpy().tolist() == [1.0, 2.0]
        assert q.size().numpy() == 1
