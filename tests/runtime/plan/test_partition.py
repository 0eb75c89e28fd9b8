"""Which part of a program runs on which device, and how values move between them."""

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime import devices


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
