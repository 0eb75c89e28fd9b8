"""tf.contrib.quantize: where fake quantization goes, that folding keeps values, and training through it."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import quantize, slim

X = np.random.RandomState(0).rand(2, 8, 8, 3).astype("f")


@pytest.fixture(autouse=True)
def new_graph():
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


def _op(name):
    return tf.get_default_graph().get_operation_by_name(name)


def _inputs(name):
    return [t.name for t in _op(name).inputs]


def test_a_dense_layer():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    tf.identity(slim.fully_connected(x, 3, scope="fc"), name="after")
    quantize.create_training_graph()
    assert _inputs("fc/MatMul") == ["x:0", "fc/weights_quant/FakeQuantWithMinMaxVars:0"]
    assert _inputs("after") == ["fc/act_quant/FakeQuantWithMinMaxVars:0"]
    assert _op("fc/weights_quant/FakeQuantWithMinMaxVars").get_attr("narrow_range")
    assert _inputs("fc/act_quant/FakeQuantWithMinMaxVars") == [
        "fc/Relu:0",
        "fc/act_quant/AssignMinEma:0",
        "fc/act_quant/AssignMaxEma:0",
    ]
    assert [v.op.name for v in tf.trainable_variables()] == ["fc/weights", "fc/biases"]


def _convolution(is_training):
    params = {"is_training": is_training, "scale": True}
    return slim.conv2d(
        tf.constant(X),
        4,
        3,
        scope="c",
        normalizer_fn=slim.batch_norm,
        normalizer_params=params,
        activation_fn=tf.nn.relu6,
    )


@pytest.mark.parametrize("is_training", [True, False])
def test_folding_keeps_the_values(is_training):
    output = tf.identity(_convolution(is_training), name="output")
    plain = tf.get_default_graph().get_tensor_by_name("c/Relu6:0")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        wanted = session.run(plain)
        weights = session.run("c/weights:0")
        rewrite = (
            quantize.experimental_create_training_graph if is_training else quantize.experimental_create_eval_graph
        )
        rewrite(weight_bits=16, activation_bits=16)
        session.run(tf.global_variables_initializer())
        session.run(tf.trainable_variables()[0].assign(weights))
        if not is_training:
            for what, low, high in (("weights", -6, 6), ("act", 0, 6)):
                bounds = [v for v in tf.global_variables() if v.op.name.startswith(f"c/{what}_quant")]
                session.run([v.assign(b) for v, b in zip(bounds, (low, high))])
        session.run(output)
        np.testing.assert_allclose(session.run("c/Relu6:0"), wanted, atol=2e-2)
    assert _inputs("c/Conv2D_Fold")[1] == "c/weights_quant/FakeQuantWithMinMaxVars:0"


def test_sums_of_branches():
    x = tf.placeholder(tf.float32, [2, 8, 8, 4])
    first = slim.conv2d(x, 4, 1, scope="a")
    second = slim.conv2d(first, 4, 1, scope="b", activation_fn=None)
    tf.nn.relu(tf.add(second, first, name="sum"), name="joined")
    quantize.create_eval_graph()
    assert _inputs("sum") == ["b/conv_quant/FakeQuantWithMinMaxVars:0", "a/act_quant/FakeQuantWithMinMaxVars:0"]
    assert _op("act_quant/FakeQuantWithMinMaxVars").inputs[0].name == "joined:0"


def test_training_and_delay():
    logits = slim.flatten(_convolution(True))
    logits = slim.fully_connected(logits, 2, activation_fn=None, scope="logits")
    loss = tf.losses.sparse_softmax_cross_entropy(tf.constant([0, 1]), logits)
    quantize.create_training_graph(quant_delay=3)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, step])[0] for _ in range(20)]
        assert session.run("fake_quantization_step:0") >= 20
    assert losses[-1] < losses[0]


def test_gradients_go_through_the_statistics_of_a_folded_batch():
    rs = np.random.RandomState(0)
    x = tf.constant(rs.rand(2, 6, 6, 3).astype(np.float32))
    weights = tf.constant_initializer(rs.randn(3, 3, 3, 4) * 0.3)
    with slim.arg_scope(
        [slim.conv2d], normalizer_fn=slim.batch_norm, normalizer_params={"decay": 0.9}, weights_initializer=weights
    ):
        y = slim.conv2d(x, 4, 3, scope="c")
    before = tf.gradients(tf.reduce_sum(y * y), [x, *tf.trainable_variables()])
    tf.contrib.quantize.create_training_graph(quant_delay=1000)
    after = tf.gradients(tf.reduce_sum(y * y), [x, *tf.trainable_variables()])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for a, b in zip(*sess.run([before, after]), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-3)


def test_moving_averages_are_frozen_after_a_delay():
    x = tf.placeholder(tf.float32, [2, 6, 6, 3])
    with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm, normalizer_params={"decay": 0.5}):
        y = slim.conv2d(x, 4, 3, scope="c")
    tf.contrib.quantize.experimental_create_training_graph(quant_delay=1000, freeze_bn_delay=3)
    averages = [v for v in tf.global_variables() if v.op.name.endswith("moving_mean")]
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        seen = []
        for i in range(5):
            sess.run([y, updates], {x: np.random.RandomState(i).rand(2, 6, 6, 3)})
            seen.append(sess.run(averages)[0])
    assert abs(seen[1] - seen[0]).max() > 0 and abs(seen[3] - seen[2]).max() == 0 and abs(seen[4] - seen[2]).max() == 0


def test_both_halves_of_a_separable_convolution_are_rounded():
    x = tf.placeholder(tf.float32, [2, 8, 8, 3])
    y = tf.nn.relu(tf.layers.separable_conv2d(x, 4, 3, name="s"))
    tf.layers.dense(tf.layers.flatten(y), 2, name="d")
    tf.contrib.quantize.create_eval_graph()
    rounded = [
        op.name.rpartition("/")[0]
        for op in tf.get_default_graph().get_operations()
        if op.type == "FakeQuantWithMinMaxVars"
    ]
    halves = ["s/separable_conv2d/weights_quant", "s/separable_conv2d/act_quant"]
    assert rounded == ["s/weights_quant", "s/act_quant", "d/weights_quant", "d/act_quant", *halves]
