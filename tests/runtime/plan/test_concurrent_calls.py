"""Ops of one run that wait for each other: what puts into a queue and what takes from it, in no order."""

import pytest

import everflow as tf


def _run(sess, fetches):
    return sess.run(fetches, options=tf.RunOptions(timeout_in_ms=20000))


def test_more_is_put_than_the_queue_holds():
    queue = tf.FIFOQueue(1, tf.float32, [[]])
    puts = [queue.enqueue(float(i)) for i in range(3)]
    takes = [queue.dequeue() for _ in range(3)]
    with tf.Session() as sess:
        assert sorted(_run(sess, [takes, puts])[0]) == [0.0, 1.0, 2.0]


def test_a_full_queue_takes_in_after_it_gave():
    queue = tf.FIFOQueue(1, tf.int32, [[]])
    put, take = queue.enqueue(2), queue.dequeue()
    with tf.Session() as sess:
        _run(sess, queue.enqueue(1))
        assert _run(sess, [put, take])[1] == 1
        assert _run(sess, take * 10) == 20


def test_a_staging_area_of_one():
    area = tf.contrib.staging.StagingArea([tf.float32], capacity=1)
    counter = tf.Variable(0.0)
    put = area.put([tf.assign_add(counter, 1.0)])
    (take,) = area.get()
    with tf.Session() as sess:
        sess.run(counter.initializer)
        _run(sess, put)
        assert [_run(sess, [take * 1.0, put])[0] for _ in range(3)] == [1.0, 2.0, 3.0]


def test_what_is_ordered_stays_so():
    queue = tf.FIFOQueue(2, tf.int32, [[]])
    take = queue.dequeue()
    with tf.control_dependencies([take]):
        put = queue.enqueue(take + 1)
    with tf.Session() as sess:
        _run(sess, queue.enqueue(5))
        assert _run(sess, [take, put])[0] == 5
        assert _run(sess, take) == 6


def test_the_failing_op_is_named_and_the_others_are_stopped():
    queue = tf.FIFOQueue(10, tf.float32, [[2]])
    x = tf.placeholder(tf.float32)
    put, take = queue.enqueue(x, name="put"), queue.dequeue(name="take")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="node put"):
            sess.run([take, put], {x: [1.0, 2.0, 3.0]})
        assert sess.run([take, put], {x: [1.0, 2.0]})[0].tolist() == [1.0, 2.0]


def test_traces_show_them():
    queue = tf.FIFOQueue(1, tf.float32, [[]])
    put, take = queue.enqueue(1.0, name="put"), queue.dequeue(name="take")
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(
            [put, take],
            options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=20000),
            run_metadata=metadata,
        )
    names = {stats.node_name for device in metadata.step_stats.dev_stats for stats in device.node_stats}
    assert {"put", "take"} <= names
