"""Files go both ways between TensorFlow 1.15.5 and here: checkpoints, meta graphs, SavedModels, frozen graphs, training
that goes on.

One program writes all kinds of files, another reads them and trains on; each runs once here and once there.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import everflow

MODEL = """
import json
import numpy as np

def build():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.variable_scope("net", partitioner=tf.fixed_size_partitioner(2)):
        w = tf.get_variable("w", [3, 4], initializer=tf.random_uniform_initializer(seed=3))
    with tf.variable_scope("net"):
        b = tf.get_variable("b", initializer=[0.1, 0.2, 0.3, 0.4], use_resource=True)
    words = tf.get_variable("words", initializer=tf.constant(["a", "", "long" * 50]), trainable=False)
    flags = tf.get_variable("flags", initializer=tf.constant([True, False]), trainable=False)
    half = tf.get_variable("half", initializer=tf.constant([1.5, 2.5], tf.float16), trainable=False)
    step = tf.train.get_or_create_global_step()
    y = tf.add(tf.matmul(x, tf.convert_to_tensor(w)), b, name="y")
    loss = tf.reduce_mean(tf.square(y - 1.0), name="loss")
    train = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=step, name="train")
    return x, y, loss

DATA = [[1.0, 2.0, 3.0], [0.5, -1.0, 0.25]]

def steps(sess, count):
    return [float(sess.run(["loss:0", "train"], {"x:0": DATA})[0]) for _ in range(count)]
"""

WRITE = (
    MODEL
    + """
with tf.Graph().as_default() as graph, tf.Session() as sess:
    x, y, loss = build()
    savers = {"v2": tf.train.Saver(), "v1": tf.train.Saver(write_version=tf.train.SaverDef.V1), "sharded": tf.train.Saver(sharded=True)}
    sess.run(tf.global_variables_initializer())
    steps(sess, 3)
    for name, saver in savers.items():
        saver.save(sess, "./" + name)
    tf.saved_model.simple_save(sess, "./export", {"x": x}, {"y": y})
    frozen = tf.graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), ["y"])
    tf.train.write_graph(frozen, ".", "frozen.pb", as_text=False)
    y_now = sess.run("y:0", {"x:0": DATA}).tolist()
    expected = {"y": y_now, "losses": steps(sess, 3)}
with tf.Graph().as_default(), tf.Session() as sess:
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    optimizer = tf.train.AdamOptimizer(0.1)
    train = optimizer.minimize(tf.reduce_sum(v * v))
    checkpoint = tf.train.Checkpoint(v=v, optimizer=optimizer)
    checkpoint.save_counter
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    checkpoint.save("./object", session=sess)
    sess.run(train)
    expected["object"] = sess.run(v).tolist()
with open("expected.json", "w") as f:
    json.dump(expected, f)
"""
)

READ = (
    MODEL
    + """
found = {}
for name in ("v2", "v1", "sharded"):
    with tf.Graph().as_default(), tf.Session() as sess:
        build()
        tf.train.Saver().restore(sess, "./" + name)
        found[name] = {"y": sess.run("y:0", {"x:0": DATA}).tolist(), "losses": steps(sess, 3), "others": repr(sess.run(["words:0", "flags:0", "half:0"]))}
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.train.import_meta_graph("./" + name + ".meta").restore(sess, "./" + name)
        found[name + " meta"] = {"y": sess.run("y:0", {"x:0": DATA}).tolist(), "losses": steps(sess, 3)}
with tf.Graph().as_default(), tf.Session() as sess:
    meta = tf.saved_model.loader.load(sess, ["serve"], "./export")
    signature = meta.signature_def["serving_default"]
    found["export"] = {"y": sess.run(signature.outputs["y"].name, {signature.inputs["x"].name: DATA}).tolist(), "losses": steps(sess, 3)}
with tf.Graph().as_default(), tf.Session() as sess:
    graph_def = tf.GraphDef()
    with open("frozen.pb", "rb") as f:
        graph_def.ParseFromString(f.read())
    tf.import_graph_def(graph_def, name="")
    found["frozen"] = {"y": sess.run("y:0", {"x:0": DATA}).tolist()}
with tf.Graph().as_default(), tf.Session() as sess:
    v = tf.get_variable("v", initializer=[0.0, 0.0], use_resource=True)
    optimizer = tf.train.AdamOptimizer(0.1)
    train = optimizer.minimize(tf.reduce_sum(v * v))
    tf.train.Checkpoint(v=v, optimizer=optimizer).restore("./object-1").assert_consumed().run_restore_ops(sess)
    sess.run(train)
    found["object"] = sess.run(v).tolist()
found["shapes"] = {name: tf.train.list_variables("./" + name) for name in ("v2", "v1", "sharded", "object-1")}
with open("found.json", "w") as f:
    json.dump(found, f)
"""
)
THERE = "import tensorflow as tf\ntf.logging.set_verbosity(tf.logging.ERROR)\n"


def _here(source):
    exec(compile(source, "<program>", "exec"), {"tf": everflow})


def _check(folder):
    expected, found = (json.loads((folder / name).read_text()) for name in ("expected.json", "found.json"))
    for name in ("v2", "v1", "sharded", "v2 meta", "v1 meta", "sharded meta", "export", "frozen"):
        np.testing.assert_allclose(found[name]["y"], expected["y"], rtol=1e-6, err_msg=name)
        if "losses" in found[name]:
            np.testing.assert_allclose(found[name]["losses"], expected["losses"], rtol=1e-5, err_msg=name)
    np.testing.assert_allclose(found["object"], expected["object"], rtol=1e-6)
    assert (
        "long" * 50 in found["v1"]["others"]
        and found["v1"]["others"] == found["v2"]["others"] == found["sharded"]["others"]
    )
    assert found["shapes"]["v1"] == found["shapes"]["v2"] == found["shapes"]["sharded"]
    return found["shapes"]


def test_files_of_here_are_read_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _here(WRITE)
    _here(READ)
    _check(tmp_path)


@pytest.mark.oracle
def test_files_of_tensorflow_are_read_here(tmp_path, monkeypatch, oracle):
    monkeypatch.chdir(tmp_path)
    oracle(THERE + WRITE)
    _here(READ)
    theirs = _check(tmp_path)
    _here(WRITE.replace('"./export"', '"./export2"'))
    _here(READ)
    assert _check(tmp_path) == theirs


@pytest.mark.oracle
def test_files_of_here_are_read_by_tensorflow(tmp_path, monkeypatch, oracle):
    monkeypatch.chdir(tmp_path)
    _here(WRITE)
    oracle(THERE + READ)
    _check(tmp_path)
