"""Which part of a program runs on which device, and how values move between them."""

import numpy as np
import torch

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime import devices
from everflow.runtime.plan import partition
from everflow.runtime.plan.prune import prune


def test_partition_graphs():
    with tf.device("/cpu:1"):
        a = raw.RandomUniform(shape=tf.constant([1]), dtype=tf.float32, name="a")
    b = raw.Neg(x=a, name="b")
    metadata = tf.RunMetadata()
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        sess.run(b, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
    names = [{n.name for n in g.node} for g in metadata.partition_graphs]
    assert any("a" in part and "b" not in part for part in names) and any("b" in part for part in names)


def test_values_move_to_and_from_an_accelerator(monkeypatch):
    from everflow.runtime.plan import emit

    monkeypatch.setattr(devices, "gpu_count", lambda: 1)
    # No GPU is needed to see that values are moved: torch takes "cpu:0" for the CPU too.
    monkeypatch.setattr(emit, "torch_device", lambda name: "cpu:0" if ":GPU:" in name else "cpu")
    x = tf.placeholder(tf.float32, [2])
    with tf.device("/gpu:0"):
        y = raw.Mul(x=x, y=x, name="y")
    with tf.device("/cpu:0"):
        z = raw.Neg(x=y)
    with tf.Session() as sess:
        assert list(sess.run(z, {x: [1.0, 2.0]})) == [-1, -4]
        source = sess._executor.compile([z], [x]).emitted.source
    assert "move_0(k1(move_0(f0), move_0(f0)))" in source and "(move_1(t1))" in source


def test_names_of_torchs_devices(monkeypatch):
    cpu, gpu = "/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/device:GPU:1"
    for has_cuda, name in ((True, "cuda:1"), (False, "mps")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda has_cuda=has_cuda: has_cuda)
        assert (partition.torch_device(cpu), partition.torch_device(gpu)) == ("cpu", name)


def test_what_moves_and_what_stays():
    """The device "meta" has no values: what is there has moved."""
    move = partition.mover("meta")
    numbers, index, text = torch.ones(2), torch.ones(2, dtype=torch.int32), np.array([b"a"], object)
    assert move(numbers).device.type == "meta" and move(index) is index and move(text) is text
    moved = move([numbers, (numbers, index)])
    assert moved[0].is_meta and type(moved[1]) is tuple and moved[1][0].is_meta and moved[1][1] is index
    back = partition.mover("cpu")
    assert back(index) is index and back(numbers) is numbers


def test_graphs_of_devices_have_no_feeds_and_say_where_they_are():
    x = tf.placeholder(tf.float32, [], name="x")
    program = prune([raw.Exp(x=raw.Neg(x=x, name="neg"), name="exp")], [x])
    feed, neg, exp = program.nodes
    one, two = partition.partition_graphs({"/cpu:0": [feed, neg], "/cpu:1": [exp]})
    assert [(n.name, n.device) for n in (*one.node, *two.node)] == [("neg", "/cpu:0"), ("exp", "/cpu:1")]
    assert exp.op.device == ""
