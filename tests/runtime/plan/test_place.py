"""Devices: which there are, where nodes go, and what fits nowhere."""

import pytest

import everflow as tf
from everflow.framework import raw_ops as raw

CPU = "/job:localhost/replica:0/task:0/device:CPU:"


def placed(config, fetch):
    with tf.Session(config=config) as sess:
        sess._executor.extend()
        return {n.name: n.device for n in sess._executor.compile([fetch], []).program.nodes()}


def test_nodes_go_where_they_were_asked_to():
    with tf.device("/cpu:1"):
        a = raw.RandomUniform(shape=tf.constant([1]), dtype=tf.float32, name="a")
    b = raw.Neg(x=a, name="b")
    found = placed(tf.ConfigProto(device_count={"CPU": 2}), b)
    assert found["a"] == CPU + "1" and found["b"] == CPU + "0"


def test_colocated_nodes_share_a_device():
    with tf.device("/cpu:1"):
        v = raw.VariableV2(shape=[], dtype=tf.float32, name="v")
    assign = raw.Assign(ref=v, value=tf.constant(1.0), name="assign")
    with tf.colocate_with(v.op):
        near = raw.RandomUniform(shape=tf.constant([1]), dtype=tf.float32, name="near")
    config = tf.ConfigProto(device_count={"CPU": 2})
    assert placed(config, assign)["assign"] == CPU + "1"
    assert placed(config, near)["near"] == CPU + "1"


def test_one_node_that_fits_nowhere_fails_every_run():
    a = tf.constant(1.0)
    with tf.Session() as sess:
        assert sess.run(a) == 1.0
        with tf.device("/cpu:7"):
            raw.Neg(x=a, name="far")
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device for operation far"):
                sess.run(a)
    with tf.Session(config=tf.ConfigProto(graph_options=tf.GraphOptions(place_pruned_graph=True))) as sess:
        assert sess.run(a) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="far"):
            sess.run("far:0")
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        assert sess.run("far:0") == -1.0


def test_soft_placement_is_for_devices_only():
    with tf.device("/job:elsewhere"):
        a = tf.constant(1.0)
    with (
        tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match="job:elsewhere"),
    ):
        sess.run(a)


def test_placement_is_logged(capsys):
    with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess:
        sess.run(tf.constant(1.0, name="a"))
    assert f"a: (Const): {CPU}0" in capsys.readouterr().err


def test_what_a_failed_variable_left_behind_does_not_keep_the_rest_from_running():
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises((TypeError, ValueError)):
            tf.get_variable("v", [2], tf.int32, tf.random_normal_initializer())
        assert any(b"loc:@v" in op.colocation_groups() for op in sess.graph.get_operations())
        assert sess.run(tf.constant(3.0)) == 3.0
