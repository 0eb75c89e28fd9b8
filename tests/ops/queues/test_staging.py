"""Staging areas: tensors put aside in one run and taken in another."""

from __future__ import annotations

import pytest

import everflow as tf
from everflow.ops.queues.staging import StagingArea


def test_a_staging_area_keeps_tensors_between_runs():
    with tf.Graph().as_default(), tf.Session() as sess:
        area = StagingArea([tf.float32, tf.int32], [[2], []], names=["x", "y"], capacity=1)
        put, got = area.put({"x": tf.constant([1.0, 2.0]), "y": tf.constant(3)}), area.get()
        sess.run(put)
        assert sess.run(area.size()) == 1
        assert sess.run(area.peek(0))["y"] == 3
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(put, options=tf.RunOptions(timeout_in_ms=50))
        values = sess.run(got)
        assert values["x"].tolist() == [1.0, 2.0] and values["y"] == 3
        sess.run(put)
        sess.run(area.clear())
        assert sess.run(area.size()) == 0
        assert got["x"].shape.as_list() == [2]


def test_elements_come_in_order_without_names(sess):
    area = StagingArea([tf.int32])
    fed = tf.placeholder(tf.int32, [])
    put, got = area.put([fed]), area.get()
    for n in (1, 2):
        sess.run(put, {fed: n})
    assert sess.run(area.peek(1)) == [2]
    assert [sess.run(got) for _ in range(2)] == [[1], [2]]


@pytest.mark.parametrize(
    "build",
    [
        lambda: StagingArea([tf.int32], shapes=[[], []]),
        lambda: StagingArea([tf.int32], names=["a", "b"]),
        lambda: StagingArea([tf.int32], shared_name=3),
        lambda: StagingArea([tf.int32], capacity=-1),
        lambda: StagingArea([tf.int32], memory_limit=-1),
        lambda: StagingArea([tf.int32]).put([1.0]),
        lambda: StagingArea([tf.int32]).put([1, 2]),
        lambda: StagingArea([tf.int32], shapes=[[2]]).put([[1, 2, 3]]),
        lambda: StagingArea([tf.int32]).put({"a": 1}),
        lambda: StagingArea([tf.int32], names=["a"]).put({"b": 1}),
    ],
)
def test_what_does_not_fit(build):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        build()


def test_all_ops_stand_beside_one():
    with tf.Graph().as_default():
        area = StagingArea([tf.int32])
        place = area._coloc_op.colocation_groups()
        assert area.get()[0].op.colocation_groups() == place == area.put([1]).colocation_groups()
