"""Activations: values against numpy and scipy, static shapes, and what they refuse."""

import numpy as np
import pytest
import scipy.special

import everflow as tf
from tests.ops.nn.graphs import IMAGE, MATRIX, evaluate, fails_when_run, x_of

VALUES = {
    "relu": (tf.nn.relu, lambda x: np.maximum(x, 0)),
    "relu6": (lambda x: tf.nn.relu6(3 * x), lambda x: np.clip(3 * x, 0, 6)),
    "elu": (tf.nn.elu, lambda x: np.where(x < 0, np.expm1(x), x)),
    "selu": (tf.nn.selu, lambda x: 1.0507009873554805 * np.where(x < 0, 1.6732632423543772 * np.expm1(x), x)),
    "softplus": (tf.nn.softplus, lambda x: np.logaddexp(x, 0)),
    "softsign": (tf.nn.softsign, lambda x: x / (1 + np.abs(x))),
    "leaky_relu": (lambda x: tf.nn.leaky_relu(x, 0.3), lambda x: np.where(x < 0, 0.3 * x, x)),
    "leaky_relu over one": (lambda x: tf.nn.leaky_relu(x, 1.5), lambda x: np.where(x < 0, 1.5 * x, x)),
    "crelu": (tf.nn.crelu, lambda x: np.maximum(np.concatenate([x, -x], -1), 0)),
    "swish": (tf.nn.swish, lambda x: x * scipy.special.expit(x)),
    "softmax": (tf.nn.softmax, lambda x: scipy.special.softmax(x, -1)),
    "softmax of columns": (lambda x: tf.nn.softmax(x, axis=0), lambda x: scipy.special.softmax(x, 0)),
    "log_softmax": (tf.nn.log_softmax, lambda x: scipy.special.log_softmax(x, -1)),
    "zero_fraction": (lambda x: tf.nn.zero_fraction(tf.nn.relu(x)), lambda x: (x <= 0).mean()),
}


@pytest.mark.parametrize("name", sorted(VALUES))
def test_values(name):
    build, reference = VALUES[name]
    found = evaluate(lambda: build(tf.constant(MATRIX)))
    np.testing.assert_allclose(found, reference(MATRIX), rtol=1e-6, atol=1e-12)


# what is built, its static shape
SHAPES = [
    (lambda: tf.nn.bias_add(x_of(None, None), x_of(3)), [None, 3]),
]


@pytest.mark.parametrize("build, expected", SHAPES)
def test_static_shapes(build, expected):
    with tf.Graph().as_default():
        assert build().shape.as_list() == expected


# what raises while a graph is built
REFUSED = [
    (lambda: tf.nn.bias_add(x_of(2, 3), x_of(4)), ValueError),
    (lambda: tf.nn.bias_add(x_of(3), x_of(3)), ValueError),
    (lambda: tf.nn.softmax(x_of()), ValueError),
    (lambda: tf.nn.softmax(x_of(2, 3), axis=2), tf.errors.InvalidArgumentError),
]


@pytest.mark.parametrize("build, error", REFUSED)
def test_refused_while_building(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


# build from placeholders of unknown shape, what is fed
WRONG_WHEN_RUN = [
    (lambda x, b: tf.nn.bias_add(x, b), [IMAGE, np.zeros(3, np.float32)]),
    (lambda x: tf.nn.softmax(x), [np.float32(1)]),
]


@pytest.mark.parametrize("build, values", WRONG_WHEN_RUN)
def test_wrong_shapes_known_only_when_run(build, values):
    assert fails_when_run(build, values)


def test_names_of_nodes():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 8, 8, 3], name="x")
        y = tf.nn.relu(
            tf.nn.bias_add(tf.nn.conv2d(x, tf.ones([3, 3, 3, 2], name="w"), 2, "SAME", name="conv"), tf.zeros([2]))
        )
        tf.gradients(tf.nn.max_pool(y, 2, 2, "VALID"), x)
        names = [op.name for op in graph.get_operations()]
    assert names[2:] == [
        "conv",
        "zeros",
        "BiasAdd",
        "Relu",
        "MaxPool",
        "gradients/Shape",
        "gradients/grad_ys_0",
        "gradients/Fill",
        "gradients/MaxPool_grad/MaxPoolGrad",
        "gradients/Relu_grad/ReluGrad",
        "gradients/BiasAdd_grad/BiasAddGrad",
        "gradients/conv_grad/ShapeN",
        "gradients/conv_grad/Conv2DBackpropInput",
        "gradients/conv_grad/Conv2DBackpropFilter",
    ]


def test_a_layer_at_once(sess):
    x, w, b = np.array([[1.0, -2.0]]), np.array([[1.0, 2.0], [3.0, 1.0]]), np.array([1.0, -1.0])
    np.testing.assert_allclose(sess.run(tf.nn.relu_layer(x, w, b)), np.maximum(x @ w + b, 0))
    np.testing.assert_allclose(sess.run(tf.nn.xw_plus_b(x, w, b)), x @ w + b)
