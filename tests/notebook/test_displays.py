"""How notebooks show things: as HTML in which names are text, and with `repr` where there is nothing to add."""

import re

import pytest
from IPython.core.interactiveshell import InteractiveShell

import everflow as tf
from everflow.notebook import displays

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.fixture
def shown():
    """What a shell shows of an object: {kind: text}."""
    shell = InteractiveShell()
    displays.register(shell)
    return lambda thing: shell.display_formatter.format(thing)[0]


def cells(text):
    return re.findall(r"<t[dh] [^>]*>(.*?)</t[dh]>", text)


def test_tensors_and_operations(shown):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.matmul(x, tf.ones([3, 2]), name="y")
    text = shown(y)["text/html"]
    assert cells(text)[2:10] == ["tensor", "y:0", "type", "float32", "shape", "(?, 2)", "op", "MatMul y"]
    assert __file__ in text
    assert cells(shown(y.op)["text/html"])[:8] == ["MatMul y", "", "", "", "in", "x:0", "float32", "(?, 3)"]


def test_lists_of_variables(shown):
    tf.get_variable("weights", [3, 4])
    tf.get_variable("bias", [4])
    text = shown(tf.trainable_variables())["text/html"]
    assert cells(text)[:8] == ["name", "type", "shape", "values", "weights:0", "float32", "(3, 4)", "12"]
    assert "2 in all, 16 values" in text
    assert "text/html" not in shown([1, 2]) and "text/html" not in shown([])


def test_signatures(shown):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    info = tf.saved_model.build_tensor_info(x)
    signature = tf.saved_model.build_signature_def({"<in>": info}, {"out": info}, "predict")
    text = shown(signature)["text/html"]
    assert cells(text)[5:10] == ["in", "&lt;in&gt;", "x:0", "float32", "(?, 3)"] and "predict" in text
    meta = tf.MetaGraphDef()
    meta.signature_def["serving"].CopyFrom(signature)
    meta.meta_info_def.tags.append("serve")
    text = shown(meta)["text/html"]
    assert "0 nodes, tags serve" in text and "<b>serving</b>" in text


def test_plans(shown):
    x = tf.placeholder(tf.float32, [None], name="x")
    with tf.Session() as sess:
        plan = sess.explain(x * 2.0, [x])
    found = shown(plan)
    assert found["text/plain"] == plan and plan.startswith("prune:")
    assert "<summary>emitted code</summary>" in found["text/html"]


def test_graphs_are_pictures(shown):
    tf.constant(1.0)
    assert shown(tf.get_default_graph())["text/html"].startswith("<iframe srcdoc=")
