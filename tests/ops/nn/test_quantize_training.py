"""Graphs for quantized training, as TensorFlow 1.15.5 rewrites them."""

import numpy as np
import pytest

import everflow as tf


def rewritten(build, bits=8):
    with tf.Graph().as_default() as graph:
        build()
    return {n.name: n for n in tf.train.do_quantize_training_on_graphdef(graph.as_graph_def(), bits).node}


def product(value):
    return tf.matmul(value, tf.constant(np.ones([4, 2], np.float32), name="w"), name="y")


def x():
    return tf.placeholder(tf.float32, [4, 4], name="x")


@pytest.mark.parametrize(
    ("between", "signed", "limits"),
    [
        (tf.nn.relu6, False, (0.0, 6.0)),
        (tf.sigmoid, False, (0.0, 1.0)),
        (tf.tanh, True, (-1.0, 1.0)),
        (tf.nn.relu, False, None),
        (tf.abs, True, None),
        (lambda v: tf.reshape(tf.nn.relu6(v), [4, 4]), False, (0.0, 6.0)),
        (lambda v: tf.concat([tf.nn.relu6(v), tf.tanh(v)], 0), False, (0.0, 6.0)),
    ],
)
def test_the_op_before_a_product_tells_sign_and_range(between, signed, limits):
    nodes = rewritten(lambda: product(between(x())))
    rounding = nodes[nodes["y"].input[0]]
    assert rounding.op == "QuantizeAndDequantizeV2" and rounding.attr["signed_input"].b is signed
    assert rounding.attr["num_bits"].i == 8 and rounding.attr["range_given"].b
    ends = [nodes[name] for name in rounding.input[1:]]
    if limits:
        assert tuple(end.attr["value"].tensor.float_val[0] for end in ends) == limits
    else:
        assert [end.op for end in ends] == ["Assign", "Assign"]


def test_a_range_that_is_not_known_is_averaged_over_runs():
    with tf.Graph().as_default() as graph:
        product(x())
    made = tf.train.do_quantize_training_on_graphdef(graph.as_graph_def(), 8)
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(made, name="")
        value = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)
        sess.run("y:0", {"x:0": value})
        assert sess.run(["x/Min/Variable:0", "x/Max/Variable:0"]) == [-1, 1]
        sess.run("y:0", {"x:0": 11 * value})
        assert sess.run("x/Max/Variable:0") == pytest.approx(1.01, rel=1e-5)


def test_products_share_a_rounding_and_gradients_are_left_alone():
    def build():
        h = tf.nn.relu6(x(), name="h")
        y = product(h)
        with tf.name_scope("again"):
            tf.matmul(h, tf.ones([4, 3]), name="z")
        tf.gradients(y, h)

    nodes = rewritten(build)
    assert nodes["y"].input[0] == nodes["again/z"].input[0] == "h/QuantizeAndDequantizeV2"
    assert [list(n.input) for n in nodes.values() if n.name == "gradients/y_grad/MatMul"] == [["gradients/Fill", "w"]]


def test_the_saver_saves_and_restores_the_averages():
    def build():
        tf.Variable(1.0, name="v")
        product(tf.constant(np.ones([4, 4], np.float32), name="c"))
        tf.train.Saver()

    nodes = rewritten(build)
    added = ["c/Min/Variable", "c/Max/Variable", "w/Min/Variable", "w/Max/Variable"]
    assert list(nodes["save/SaveV2"].input[3:]) == ["v", *added] and list(nodes)[-1] == "save/SaveV2"
    assert list(nodes["save/Assign/_1_qt"].input) == ["c/Min/Variable", "save/RestoreV2/_0_qt"]
    assert "^save/Assign/_7_qt" in nodes["save/restore_all"].input


def test_refusals():
    def three():
        for name in "abc":
            tf.matmul(tf.placeholder(tf.float32, [1, 1], name=name), [[1.0]])

    with pytest.raises(tf.errors.UnimplementedError, match="c is of type Placeholder"):
        rewritten(three)
    for bits in (0, 64, -3):
        with pytest.raises(tf.errors.OutOfRangeError):
            rewritten(lambda: None, bits)
    with pytest.raises(tf.errors.InvalidArgumentError, match="float64"):
        rewritten(lambda: tf.matmul(tf.ones([1, 1], tf.float64), tf.ones([1, 1], tf.float64)))
    with pytest.raises(TypeError):
        tf.train.do_quantize_training_on_graphdef(tf.GraphDef(), 8.5)
