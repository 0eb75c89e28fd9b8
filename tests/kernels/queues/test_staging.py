"""Staging areas: first in, first out, up to a number of elements and of bytes."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.queues.staging import StagingArea
from everflow.runtime.state import SessionState, Step

SHORT = tf.RunOptions(timeout_in_ms=50)


def area(**options):
    given = {"shared_name": "a", **options}

    def stage(*values):
        return tf.raw_ops.Stage(values=[tf.constant(v) for v in values], **given)

    types = {"dtypes": [tf.float32, tf.string], **given}
    return stage, types


def test_elements_wait_between_runs(sess):
    stage, types = area()
    sess.run(stage(np.float32([1, 2]), "a"))
    sess.run(stage(np.float32([3]), "b"))
    size, peek = tf.raw_ops.StageSize(**types), tf.raw_ops.StagePeek(index=1, **types)
    assert sess.run(size) == 2
    assert [np.asarray(v).tolist() for v in sess.run(list(peek))] == [[3.0], b"b"]
    assert sess.run(size) == 2
    assert [np.asarray(v).tolist() for v in sess.run(list(tf.raw_ops.Unstage(**types)))] == [[1.0, 2.0], b"a"]
    assert sess.run(size) == 1


def test_a_full_area_waits_and_a_cleared_one_has_room(sess):
    stage, types = area(capacity=1)
    put = stage(np.float32([1]), "a")
    sess.run(put)
    with pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(put, options=SHORT)
    sess.run(tf.raw_ops.StageClear(**types))
    sess.run(put)
    assert sess.run(tf.raw_ops.StageSize(**types)) == 1


def test_an_element_that_never_fits_is_refused(sess):
    stage, _ = area(memory_limit=20)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        sess.run(stage(np.zeros(10, np.float32), "a"))


def test_bytes_of_numbers_and_words_are_counted():
    area, step = StagingArea(0, 12), Step(SessionState())
    area.put([torch.zeros(2), np.array([b"abc"], object)], step)
    assert not area._has_room(2) and area._has_room(1)


def test_what_was_put_in_does_not_change():
    area, step = StagingArea(0, 0), Step(SessionState())
    value = torch.zeros(2)
    area.put([value], step)
    value += 1
    assert area.get(step)[0].tolist() == [0, 0]
