"""FeedingQueueRunner: a queue filled with what Python functions return."""

import pytest

import everflow as tf

FeedingQueueRunner = tf.contrib.training.FeedingQueueRunner

pytestmark = pytest.mark.usefixtures("own_graph")


def _queue():
    queue = tf.FIFOQueue(100, [tf.int32], shapes=[()])
    value = tf.placeholder(tf.int32, [])
    return queue, value, queue.enqueue(value)


def test_each_enqueue_op_has_its_function():
    queue, value, enqueue = _queue()
    dequeue = queue.dequeue_many(40)
    runner = FeedingQueueRunner(queue, [enqueue, enqueue], feed_fns=[lambda: {value: 1}, lambda: {value: 2}])
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(sess, coord, start=True)
        seen = set()
        while seen != {1, 2}:
            seen |= set(sess.run(dequeue).tolist())
        coord.request_stop()
        coord.join(threads)


def test_out_of_range_from_a_function_is_the_end():
    queue, value, enqueue = _queue()
    left = [3, 2, 1]

    def feed():
        if not left:
            raise tf.errors.OutOfRangeError(None, None, "nothing left")
        return {value: left.pop()}

    runner = FeedingQueueRunner(queue, [enqueue], feed_fns=[feed])
    dequeue = queue.dequeue()
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(sess, coord, start=True)
        assert [int(sess.run(dequeue)) for _ in range(3)] == [1, 2, 3]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(dequeue)
        coord.request_stop()
        coord.join(threads)


def test_wrong_arguments():
    queue, _, enqueue = _queue()
    with pytest.raises(ValueError, match="same length"):
        FeedingQueueRunner(queue, [enqueue], feed_fns=[dict, dict])
    with pytest.raises(ValueError, match="queue and enqueue_ops"):
        FeedingQueueRunner(queue)
    with pytest.raises(NotImplementedError):
        FeedingQueueRunner(queue, [enqueue]).to_proto()
