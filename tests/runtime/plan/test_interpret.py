"""The reference, which runs the nodes of a graph one by one."""

import numpy as np
import pytest

import everflow as tf
from everflow.runtime.plan.interpret import interpret
from everflow.runtime.state import Step


def test_an_endless_loop_stops_when_its_time_is_over():
    loop = tf.while_loop(lambda i: True, lambda i: i + 1, [0])
    with tf.Session() as sess:
        executor = sess._executor
        executor.extend()
        plan = interpret([loop], [], executor.state, executor._placer, copying=True)
        with pytest.raises(tf.errors.DeadlineExceededError):
            plan([], Step(executor.state, 50))


def test_errors_name_the_op_and_what_it_was_given():
    x = tf.placeholder(tf.float32, None, name="x")
    y = tf.matmul(x, tf.ones([3, 2]), name="y")
    reference = tf.ConfigProto()
    reference.experimental.executor_type = "REFERENCE"
    messages = []
    for config in None, reference:
        with tf.Session(config=config) as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(y, {x: np.ones([2, 2])})
        assert caught.value.op is y.op
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_the_environment_chooses_the_reference(monkeypatch):
    monkeypatch.setenv("EVERFLOW_EXECUTOR", "REFERENCE")
    with tf.Session() as sess:
        assert type(sess._executor.compile([tf.constant(1)], [])).__name__ == "Interpreted"
