"""Staging areas with keys, that are full or have no element of a key."""

import pytest

import everflow as tf
from everflow.ops.queues.map_staging import MapStagingArea

pytestmark = pytest.mark.usefixtures("own_graph")

_SOON = tf.RunOptions(timeout_in_ms=50)


def test_full_areas_wait():
    area = MapStagingArea([tf.float32], capacity=1)
    puts = [area.put(tf.constant(k, tf.int64), [tf.constant(1.0)], indices=[0]) for k in (1, 2)]
    with tf.Session() as session:
        session.run(puts[0])
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(puts[1], options=_SOON)


def test_keys_that_are_not_there_are_waited_for():
    area = MapStagingArea([tf.float32])
    with tf.Session() as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(area.get(tf.constant(1, tf.int64)), options=_SOON)


def test_too_much_at_once():
    area = MapStagingArea([tf.float32], memory_limit=4)
    with tf.Session() as session, pytest.raises(tf.errors.ResourceExhaustedError):
        session.run(area.put(tf.constant(1, tf.int64), [tf.ones([2])], indices=[0]))


def test_a_component_comes_once():
    area = MapStagingArea([tf.float32, tf.float32])
    put = area.put(tf.constant(1, tf.int64), [tf.constant(1.0)], indices=[0])
    with tf.Session() as session:
        session.run(put)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(put)
