"""Runs in parts: some feeds and fetches now, others later."""

import pytest

import everflow as tf
from everflow.framework import raw_ops as raw


def test_partial_run():
    a, b, c = (tf.placeholder(tf.float32, []) for _ in range(3))
    count = raw.VariableV2(shape=[], dtype=tf.float32)
    init = raw.Assign(ref=count, value=tf.constant(0.0))
    bump = raw.AssignAdd(ref=count, value=tf.constant(1.0))
    with tf.control_dependencies([bump.op]):
        first = raw.AddV2(x=a, y=b)
    second = raw.Mul(x=first, y=c)
    with tf.Session() as sess:
        sess.run(init)
        handle = sess.partial_run_setup([first, second], [a, b, c])
        assert sess.partial_run(handle, first, {a: 1.0, b: 2.0}) == 3.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.partial_run(handle, first)
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.partial_run(handle, second)
        assert sess.partial_run(handle, second, {c: 10.0}) == 30.0
        assert sess.run(count) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.partial_run("none", first)
