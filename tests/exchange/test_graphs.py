"""Graphs that go from here to TensorFlow 1.15.5 and back: the same nodes give the same values on both sides."""

import json
import textwrap

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.oracle

# Each builds tensors named y0, y1, … from placeholders; the same source runs on both sides.
PROGRAMS = {
    "arithmetic": """
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        tf.identity(tf.reduce_sum(tf.tanh(x) * 2.0 - x ** 2.0, axis=1), name="y0")
        tf.identity(tf.cast(x, tf.int32) // 2, name="y1")
        tf.identity(tf.nn.softmax(x), name="y2")
    """,
    "branches and loops": """
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        total = tf.reduce_sum(x)
        y = tf.cond(total > 1.0, lambda: tf.sqrt(tf.abs(x)), lambda: x - 1.0)
        tf.identity(y, name="y0")
        _, z = tf.while_loop(lambda i, t: i < 4, lambda i, t: (i + 1, t * 1.5 + 1.0), [tf.constant(0), y])
        tf.identity(z, name="y1")
        tf.identity(tf.map_fn(lambda row: tf.reduce_max(row), x), name="y2")
    """,
    "convolution and its gradients": """
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        image = tf.reshape(tf.tile(x, [1, 12]), [-1, 6, 6, 1])
        kernel = tf.constant(np.linspace(-1, 1, 18).reshape(3, 3, 1, 2), tf.float32)
        conv = tf.nn.relu(tf.nn.conv2d(image, kernel, [1, 2, 2, 1], "SAME"))
        pool = tf.nn.max_pool(conv, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        tf.identity(pool, name="y0")
        tf.identity(tf.gradients(tf.reduce_sum(pool ** 2.0), x)[0], name="y1")
    """,
    "a loop's gradient": """
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        _, z = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, tf.sin(t) * x), [tf.constant(0), x])
        tf.identity(tf.gradients(z, x)[0], name="y0")
    """,
    "branches and loops as functions": """
        tf.enable_control_flow_v2()
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        y = tf.cond(tf.reduce_sum(x) > 1.0, lambda: tf.sin(tf.tanh(x)), lambda: x - 1.0)
        _, z = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, tf.sin(t) * y), [tf.constant(0), x])
        tf.identity(z, name="y0")
        tf.identity(tf.gradients(z, x)[0], name="y1")
        tf.disable_control_flow_v2()
    """,
    "a traced function": """
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        scaled = tf.function(lambda t, k: {"a": tf.sin(t) * k, "b": (tf.reduce_sum(t * x),)}, autograph=False)
        got = scaled(x, tf.constant(2.0))
        tf.identity(got["a"], name="y0")
        tf.identity(got["b"][0], name="y1")
        tf.identity(tf.gradients(got["a"], x)[0], name="y2")
    """,
    "strings and seeds": """
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        tf.identity(tf.as_string(tf.cast(x, tf.int32)), name="y0")
        tf.identity(tf.random_normal([4], seed=3) + x[0, 0], name="y1")
        tf.identity(tf.string_to_hash_bucket_fast(tf.as_string(x, precision=2), 1000), name="y2")
    """,
}
FEED = np.array([[0.5, -1.25, 2.0], [3.0, 0.0, -0.75]], np.float32)

RUN = """
import json
import numpy as np
import tensorflow as tf

def values(graph):
    names = sorted(op.name + ":0" for op in graph.get_operations() if op.name[:1] == "y" and op.name[1:].isdigit())
    with tf.Session(graph=graph) as sess:
        out = sess.run(names, {"x:0": np.array(FEED, np.float32)})
    return [np.asarray(v).astype(str).tolist() if np.asarray(v).dtype.kind in "OS" else np.asarray(v, np.float64).tolist() for v in out]
""".replace("FEED", str(FEED.tolist()))


def build(source):
    with tf.Graph().as_default() as graph:
        exec(textwrap.dedent(source), {"tf": tf, "np": np})
    return graph


def our_values(graph):
    names = sorted(op.name + ":0" for op in graph.get_operations() if op.name[:1] == "y" and op.name[1:].isdigit())
    with tf.Session(graph=graph) as sess:
        return [np.asarray(v) for v in sess.run(names, {"x:0": FEED})]


def check(ours, theirs):
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        if mine.dtype.kind in "OS":
            assert mine.astype(str).tolist() == other
        else:
            np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_our_graph_runs_in_tensorflow(name, oracle, tmp_path):
    graph = build(PROGRAMS[name])
    (tmp_path / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
    printed = oracle(
        RUN
        + """
graph_def = tf.GraphDef()
graph_def.ParseFromString(open("graph.pb", "rb").read())
with tf.Graph().as_default() as graph:
    tf.import_graph_def(graph_def, name="")
print("RESULT" + json.dumps(values(graph)))
"""
    )
    check(our_values(graph), json.loads(printed.split("RESULT")[1]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_tensorflows_graph_runs_here(name, oracle, tmp_path):
    printed = oracle(
        RUN
        + "with tf.Graph().as_default() as graph:\n"
        + textwrap.indent(textwrap.dedent(PROGRAMS[name]), "    ")
        + """
open("graph.pb", "wb").write(graph.as_graph_def().SerializeToString())
print("RESULT" + json.dumps(values(graph)))
"""
    )
    graph_def = tf.GraphDef.FromString((tmp_path / "graph.pb").read_bytes())
    assert [n.name for n in graph_def.node] == [n.name for n in build(PROGRAMS[name]).as_graph_def().node]
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
    check(our_values(graph), json.loads(printed.split("RESULT")[1]))
