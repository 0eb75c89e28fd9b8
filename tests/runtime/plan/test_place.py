"""Devices: which there are, where nodes go, and what fits nowhere."""

import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime import devices

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
        assert capsys.readouterr().out == f"Device mapping:\n{CPU}0 -> device: CPU\n"
        sess.run(tf.constant(1.0, name="a"))
    assert f"a: (Const): {CPU}0" in capsys.readouterr().out


def test_placement_is_logged_in_the_order_of_tensorflow(capsys):
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess:
        a, b = tf.constant(1.0, name="a"), tf.Variable(2.0, name="b")
        capsys.readouterr()
        sess.run(tf.multiply(a, tf.identity(b.initial_value, name="c"), name="d"))
    names = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert names == ["b", "b/Assign", "b/read", "c", "d", "a", "b/initial_value"]


def test_what_a_failed_variable_left_behind_does_not_keep_the_rest_from_running():
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises((TypeError, ValueError)):
            tf.get_variable("v", [2], tf.int32, tf.random_normal_initializer())
        assert any(b"loc:@v" in op.colocation_groups() for op in sess.graph.get_operations())
        assert sess.run(tf.constant(3.0)) == 3.0


@pytest.mark.parametrize("soft", [False, True])
def test_nodes_that_want_to_be_together_and_apart(soft):
    with tf.device("/cpu:1"):
        a = raw.RandomUniform(shape=tf.constant([1]), dtype=tf.float32, name="a")
    with tf.colocate_with(a.op):
        b = raw.RandomUniform(shape=tf.constant([1]), dtype=tf.float32, name="b")
    b.op._set_device("/cpu:0")
    config = tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=soft)
    if soft:
        assert placed(config, b)["b"] == CPU + "1"
    else:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot colocate nodes"):
            placed(config, b)


def test_what_uses_a_variable_goes_where_it_is_whatever_it_asks_for():
    with tf.device("/cpu:1"):
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
    with tf.device("/cpu:0"):
        read = v.read_value()
    assert placed(tf.ConfigProto(device_count={"CPU": 2}), read)[read.op.inputs[0].op.name] == CPU + "1"
    ops = placed(tf.ConfigProto(device_count={"CPU": 2}), read)
    assert {device for name, device in ops.items() if "Read" in name} == {CPU + "1"}


def test_text_and_whole_numbers_stay_with_the_cpu(monkeypatch):
    monkeypatch.setattr(devices, "gpu_count", lambda: 1)
    found = {}
    with tf.Session() as sess:
        for dtype in (tf.float32, tf.int32, tf.string):
            found[dtype] = raw.Placeholder(dtype=dtype, name=dtype.name)
        sess._executor.extend()
        where = {dtype: sess._executor._placer.device_of(t.op) for dtype, t in found.items()}
    assert [where[t].rpartition("device:")[2] for t in (tf.float32, tf.int32, tf.string)] == ["GPU:0", "CPU:0", "CPU:0"]
