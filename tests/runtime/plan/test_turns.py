"""Whose turn it is where the edges of a graph leave that open."""

import everflow as tf


def test_what_puts_and_what_takes_meet():
    queue = tf.FIFOQueue(1, [tf.int32])
    config = tf.ConfigProto(operation_timeout_in_ms=20000)
    config.experimental.executor_type = "REFERENCE"
    puts = [queue.enqueue([i]) for i in range(3)]
    with tf.Session(config=config) as sess:
        taken = sess.run([queue.dequeue() for _ in range(3)] + puts)[:3]
    assert sorted(taken) == [0, 1, 2]


def test_uses_come_before_writes_that_no_edge_orders():
    config = tf.ConfigProto()
    config.experimental.executor_type = "REFERENCE"
    v = tf.Variable(1.0)
    written = tf.assign_add(v, 10.0)
    late = v * 2.0  # made after the write
    with tf.Session(config=config) as sess:
        sess.run(v.initializer)
        assert sess.run([written, late]) == [11.0, 2.0]
