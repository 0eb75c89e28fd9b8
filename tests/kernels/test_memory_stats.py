"""The memory of this process, as numbers that can be."""

import numpy as np

import everflow as tf


def read(sess, op):
    value = sess.run(op())
    assert value.dtype == np.int64
    return int(value)


def test_in_use_at_most_and_at_all(sess):
    in_use, most, limit = (read(sess, getattr(tf.raw_ops, n)) for n in ("BytesInUse", "MaxBytesInUse", "BytesLimit"))
    assert 10 << 20 < in_use <= limit and 10 << 20 < most
    assert in_use <= most * 1.1  # both are counted in pages, at different moments


def test_memory_that_is_held_is_seen(sess):
    before = read(sess, tf.raw_ops.BytesInUse)
    held = np.ones(64 << 20, np.uint8)
    assert read(sess, tf.raw_ops.BytesInUse) > before + (32 << 20) and held.any()
