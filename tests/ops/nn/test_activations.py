"""tf.nn's functions: static shapes with unknown sizes, values against scipy and numpy, arguments and what they refuse."""

import numpy as np
import pytest
import scipy.special

import everflow as tf

RANDOM = np.random.RandomState(5)
MATRIX = RANDOM.uniform(-3, 3, (4, 5))


def evaluate(build):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


def x_of(*sizes, dtype=tf.float32):
    return tf.placeholder(dtype, None if sizes == (None,) else list(sizes))


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
    "l2_loss": (tf.nn.l2_loss, lambda x: (x * x).sum() / 2),
    "l2_normalize": (lambda x: tf.nn.l2_normalize(x, 1), lambda x: x / np.linalg.norm(x, axis=1, keepdims=True)),
    "zero_fraction": (lambda x: tf.nn.zero_fraction(tf.nn.relu(x)), lambda x: (x <= 0).mean()),
    "sigmoid cross entropy": (
        lambda x: tf.nn.sigmoid_cross_entropy_with_logits(
            labels=tf.fill([4, 5], tf.constant(0.25, tf.float64)), logits=100 * x
        ),
        lambda x: np.maximum(100 * x, 0) - 25 * x + np.log1p(np.exp(-np.abs(100 * x))),
    ),
    "sparse softmax cross entropy": (
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 4, 2, 2], logits=x),
        lambda x: -scipy.special.log_softmax(x, 1)[range(4), [0, 4, 2, 2]],
    ),
    "variance": (lambda x: tf.nn.moments(x, [0])[1], lambda x: x.var(0)),
    "largest": (lambda x: tf.nn.top_k(x, 3)[0], lambda x: -np.sort(-x, 1)[:, :3]),
    "places": (
        lambda x: tf.nn.top_k(tf.cast(x, tf.int32), 5)[1],
        lambda x: np.argsort(-x.astype(int), 1, kind="stable"),
    ),
}


@pytest.mark.parametrize("name", sorted(VALUES))
def test_values(name):
    build, reference = VALUES[name]
    found = evaluate(lambda: build(tf.constant(MATRIX)))
    np.testing.assert_allclose(found, reference(MATRIX), rtol=1e-6, atol=1e-12)


def test_top_k_keeps_the_order_of_equal_entries_in_long_rows():
    rows = RANDOM.randint(0, 50, (3, 1000)).astype(np.float32)
    values, indices = evaluate(lambda: tf.nn.top_k(rows, 20))
    order = np.argsort(-rows, 1, kind="stable")[:, :20]
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(rows, order, 1))


CONV = {"strides": [1, 2, 2, 1], "padding": "SAME"}
# what is built, its static shape
SHAPES = [
    (lambda: tf.nn.conv2d(x_of(None, 8, None, 3), x_of(3, 3, 3, 4), **CONV), [None, 4, None, 4]),
    (lambda: tf.nn.conv2d(x_of(None, 8, 7, 3), x_of(None, 3, 3, 4), 1, "VALID"), [None, None, 5, 4]),
    (lambda: tf.nn.conv2d(x_of(None), x_of(3, 3, 3, 4), **CONV), [None, None, None, 4]),
    (lambda: tf.nn.conv2d(x_of(2, 3, 9, 8), x_of(3, 3, 3, 4), 2, "VALID", data_format="NCHW"), [2, 4, 4, 3]),
    (lambda: tf.nn.conv2d_transpose(x_of(2, 4, 4, 3), x_of(3, 3, 5, 3), [2, 8, 8, 5], 2), [2, 8, 8, 5]),
    (lambda: tf.nn.conv3d(x_of(1, 5, 6, 7, 2), x_of(2, 2, 2, 2, 3), [1, 1, 2, 3, 1], "SAME"), [1, 5, 3, 3, 3]),
    (lambda: tf.nn.depthwise_conv2d(x_of(None, 5, 6, 2), x_of(2, 2, 2, 3), [1, 1, 1, 1], "VALID"), [None, 4, 5, 6]),
    (lambda: tf.nn.max_pool(x_of(None, 5, None, 2), 2, 2, "SAME"), [None, 3, None, 2]),
    (lambda: tf.nn.avg_pool3d(x_of(1, 5, 6, 7, 2), 2, 2, "VALID"), [1, 2, 3, 3, 2]),
    (lambda: tf.nn.max_pool1d(x_of(1, 5, 2), 2, 2, "VALID"), [1, 2, 2]),
    (lambda: tf.nn.bias_add(x_of(None, None), x_of(3)), [None, 3]),
    (lambda: tf.nn.top_k(x_of(None, 5), 2)[1], [None, 2]),
    (lambda: tf.nn.in_top_k(x_of(None, 5), x_of(7, dtype=tf.int32), 2), [7]),
    (lambda: tf.nn.fused_batch_norm(x_of(None, 4, 4, None), x_of(3), x_of(3))[0], [None, 4, 4, 3]),
    (lambda: tf.nn.softmax_cross_entropy_with_logits_v2(x_of(None, 3), x_of(None, 3)), [None]),
    (
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=x_of(2, None, dtype=tf.int32), logits=x_of(2, None, 3)
        ),
        [2, None],
    ),
    (lambda: tf.nn.ctc_greedy_decoder(x_of(None, 2, 3), [4, 4])[1], [2, 1]),
    (lambda: tf.nn.dilation2d(x_of(None, 5, 6, 2), x_of(2, 2, 2), [1, 1, 2, 1], [1, 1, 1, 1], "SAME"), [None, 5, 3, 2]),
    (lambda: tf.nn.moments(x_of(None, 4, 2), [0, 1])[0], [2]),
]


@pytest.mark.parametrize("build, expected", SHAPES)
def test_static_shapes(build, expected):
    with tf.Graph().as_default():
        assert build().shape.as_list() == expected


# what raises while a graph is built
REFUSED = [
    (lambda: tf.nn.conv2d(x_of(1, 5, 5, 3), x_of(2, 2, 2, 4), 1, "SAME"), ValueError),
    (lambda: tf.nn.conv2d(x_of(5, 5, 3), x_of(2, 2, 3, 4), 1, "SAME"), ValueError),
    (lambda: tf.nn.conv2d(x_of(1, 5, 5, 3), x_of(7, 2, 3, 4), 1, "VALID"), ValueError),
    (lambda: tf.nn.conv2d(x_of(1, 5, 5, 3), x_of(2, 2, 3, 4), 0, "SAME"), ValueError),
    (lambda: tf.nn.conv2d(x_of(1, 5, 5, 3), x_of(2, 2, 3, 4), 1, "FULL"), ValueError),
    (lambda: tf.nn.conv2d(x_of(1, 5, 5, 3), x_of(2, 2, 3, 4), 1), TypeError),
    (lambda: tf.nn.conv2d(x_of(1, 5, 5, 3, dtype=tf.int32), x_of(2, 2, 3, 4, dtype=tf.int32), 1, "SAME"), TypeError),
    (lambda: tf.nn.max_pool(x_of(1, 5, 5, 3), [1, 2, 3], 1, "SAME"), ValueError),
    (lambda: tf.nn.bias_add(x_of(2, 3), x_of(4)), ValueError),
    (lambda: tf.nn.bias_add(x_of(3), x_of(3)), ValueError),
    (lambda: tf.nn.softmax(x_of()), ValueError),
    (lambda: tf.nn.softmax(x_of(2, 3), axis=2), tf.errors.InvalidArgumentError),
    (lambda: tf.nn.softmax_cross_entropy_with_logits(x_of(2, 3), x_of(2, 3)), ValueError),
    (
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=x_of(2, 3, dtype=tf.int32), logits=x_of(2, 3)),
        ValueError,
    ),
    (lambda: tf.nn.dropout(x_of(2, 3), rate=1.0), ValueError),
    (lambda: tf.nn.top_k(x_of(2, 3), 4), ValueError),
    (lambda: tf.nn.fused_batch_norm(x_of(2, 3, 3, 2), x_of(2), x_of(2), mean=x_of(2), variance=x_of(2)), ValueError),
    (lambda: tf.nn.ctc_loss(tf.constant([[0]]), x_of(5, 1, 3), [5]), TypeError),
    (lambda: tf.nn.lrn(x_of(2, 3, 3)), ValueError),
    (lambda: tf.nn.pool(x_of(1, 5, 5, 2), [2, 2], "MIN", "SAME"), ValueError),
]


@pytest.mark.parametrize("build, error", REFUSED)
def test_refused_while_building(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


free = lambda *values: [tf.placeholder(np.asarray(v).dtype if v is not None else tf.float32) for v in values]  # noqa: E731
image = np.zeros((1, 4, 4, 2), np.float32)
# build from placeholders of unknown shape, what is fed
WRONG_WHEN_RUN = [
    (lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), [image, np.zeros((2, 2, 3, 1), np.float32)]),
    (lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), [image[0], np.zeros((2, 2, 2, 1), np.float32)]),
    (lambda x, w: tf.nn.conv2d(x, w, 1, "VALID"), [image, np.zeros((9, 2, 2, 1), np.float32)]),
    (lambda x, w: tf.nn.depthwise_conv2d_native(x, w, [1, 1, 1, 1], "SAME"), [image, np.zeros((2, 2, 3, 1), np.float32)]),
    (lambda s, g: tf.nn.conv2d_backprop_input(s, np.zeros((2, 2, 2, 3), np.float32), g, [1, 1, 1, 1], "SAME"),
     [np.array([1, 5, 5, 2], np.int32), np.zeros((1, 4, 4, 3), np.float32)]),
    (lambda x: tf.nn.max_pool(x, 2, 1, "SAME"), [image[0]]),
    (lambda x, b: tf.nn.bias_add(x, b), [image, np.zeros(3, np.float32)]),
    (lambda x: tf.nn.softmax(x), [np.float32(1)]),
    (lambda x, z: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=z, logits=x), [np.zeros((2, 3), np.float32), np.array([0, 3])]),
    (lambda x, z: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=z, logits=x), [np.zeros((2, 3), np.float32), np.array([-1, 0])]),
    (lambda x, k: tf.nn.top_k(x, k)[0], [np.zeros((2, 3), np.float32), np.int32(4)]),
    (lambda x, z: tf.nn.in_top_k(x, z, 1), [np.zeros((2, 3), np.float32), np.array([0, 1, 2], np.int32)]),
    (lambda x: tf.nn.lrn(x), [image[0]]),
    (lambda x, s: tf.nn.fused_batch_norm(x, s, s)[0], [image, np.zeros(3, np.float32)]),
]  # fmt: skip


@pytest.mark.parametrize("build, values", WRONG_WHEN_RUN)
def test_wrong_shapes_known_only_when_run(build, values):
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = free(*values)
        output = build(*inputs)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(output, dict(zip(inputs, values, strict=True)))


def test_dropout_keeps_the_expectation():
    kept = evaluate(lambda: tf.nn.dropout(tf.ones([200, 200]), rate=0.3, seed=4))
    assert set(np.unique(kept)) == {np.float32(0.0), np.float32(1 / 0.7)}
    assert kept.mean() == pytest.approx(1.0, abs=0.02)
    rows = evaluate(lambda: tf.nn.dropout(tf.ones([50, 8]), 0.5, noise_shape=[50, 1]))
    assert (rows == rows[:, :1]).all()


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


def test_old_and_new_argument_names():
    with tf.Graph().as_default():
        x, w = x_of(1, 4, 4, 2), x_of(2, 2, 2, 3)
        assert (
            tf.nn.conv2d(x, filters=w, strides=1, padding="SAME").shape
            == tf.nn.conv2d(x, filter=w, strides=1, padding="SAME").shape
        )
        with pytest.raises(ValueError, match="Cannot specify both"):
            tf.nn.conv2d(x, filter=w, filters=w, strides=1, padding="SAME")
        with pytest.raises(ValueError, match="Cannot specify both"):
            tf.nn.softmax(x, axis=1, dim=1)


@pytest.mark.parametrize("add", [tf.nn.bias_add, tf.add])
def test_a_convolution_and_its_bias_are_one_kernel_with_the_same_values(add):
    with tf.Graph().as_default(), tf.Session() as session:
        x, w, b = (tf.constant(RANDOM.normal(size=s), tf.float32) for s in ([2, 5, 6, 3], [3, 3, 3, 4], [4]))
        image = tf.placeholder_with_default(x, [None, 5, 6, 3])
        convolved = tf.nn.conv2d(image, w, 2, "SAME")
        biased = add(convolved, b)
        together = session.run(biased)
        apart, bias = session.run([convolved, b])
        np.testing.assert_allclose(together, apart + bias, atol=1e-5)


def test_unsorted_top_k_has_the_order_of_tensorflows_heap():
    row = [5.0, 1.0, 5.0, 4.0, 9.0, 2.0, 7.0, 8.0, 6.0, 3.0]
    values, indices = evaluate(lambda: tf.nn.top_k(row, 4, sorted=False))
    assert indices.tolist() == [8, 7, 6, 4] and values.tolist() == [6.0, 8.0, 7.0, 9.0]
