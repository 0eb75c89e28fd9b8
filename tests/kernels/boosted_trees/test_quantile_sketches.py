"""Summaries of streams of numbers, and the buckets that they give."""

import numpy as np

import everflow as tf
from everflow.framework import raw_ops

F = np.float32


def test_quantiles_of_a_stream(sess):
    values = [np.arange(1000, dtype=F), np.zeros(1000, F)]
    handle = raw_ops.BoostedTreesQuantileStreamResourceHandleOp(container="", shared_name="q")
    assert not sess.run(raw_ops.IsBoostedTreesQuantileStreamResourceInitialized(handle))
    sess.run(raw_ops.BoostedTreesCreateQuantileStreamResource(handle, 0.1, tf.constant(2, tf.int64)))
    summaries = raw_ops.BoostedTreesMakeQuantileSummaries(values, [1.0], 0.1)
    sess.run(raw_ops.BoostedTreesQuantileStreamResourceAddSummaries(handle, summaries))
    sess.run(raw_ops.BoostedTreesQuantileStreamResourceFlush(handle, tf.constant(10, tf.int64)))
    boundaries = sess.run(raw_ops.BoostedTreesQuantileStreamResourceGetBucketBoundaries(handle, num_features=2))
    assert boundaries[0][0] == 0 and boundaries[0][-1] == 999 and len(boundaries[0]) <= 12
    assert np.abs(np.diff(boundaries[0]) - 100).max() <= 100
    assert boundaries[1].tolist() == [0.0]
    buckets = sess.run(raw_ops.BoostedTreesBucketize([F([-5, 999, 2000])], [boundaries[0]]))[0]
    assert buckets.tolist() == [0, len(boundaries[0]) - 1, len(boundaries[0]) - 1]
