"""Functions that run on a device which is named when they are called; other tasks are tests/cluster's matter."""

import pytest

import everflow as tf
from everflow.ops.functions.calls import remote_call
from everflow.ops.functions.defun import Defun


@pytest.fixture
def doubled(own_graph):
    @Defun(tf.float32)
    def f(x):
        return x * 2.0

    return lambda target: remote_call(args=[tf.constant(3.0)], Tout=[tf.float32], f=f, target=target)


@pytest.mark.parametrize("device", ["/cpu:0", "/job:localhost/replica:0/task:0/device:CPU:0"])
def test_a_device_of_this_task(doubled, device):
    with tf.Session() as sess:
        assert sess.run(doubled(device)) == [6.0]


def test_the_device_may_be_computed(doubled):
    device = tf.placeholder(tf.string, [])
    call = doubled(device)
    with tf.Session() as sess:
        assert sess.run(call, {device: "/cpu:0"}) == [6.0]


def test_a_task_that_nobody_serves(doubled):
    with tf.Session() as sess, pytest.raises(tf.errors.OpError):
        sess.run(doubled("/job:worker/replica:0/task:7/cpu:0"))
