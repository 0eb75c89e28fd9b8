"""Gradients of the nn ops against finite differences, in float64, first and second."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.RandomState(7)


def data(*shape, low=-1.0, high=1.0):
    return RANDOM.uniform(low, high, shape)


def distinct(*shape):
    """No two entries are close, so that maxima don't change under small steps."""
    return RANDOM.permutation(int(np.prod(shape))).reshape(shape) * 0.37 - 3.0


def shares(*shape):
    """Rows that sum to one, as the gradient of the softmax cross entropy takes its labels to do."""
    values = data(*shape, low=0.1)
    return values / values.sum(-1, keepdims=True)


SAME, VALID = "SAME", "VALID"


# name: (function of tensors, their values)
CASES = {
    "relu": (tf.nn.relu, [distinct(3, 4) + 0.1]),
    "relu6": (tf.nn.relu6, [distinct(4, 6) + 0.1]),
    "elu": (tf.nn.elu, [data(3, 4)]),
    "selu": (tf.nn.selu, [data(3, 4)]),
    "softplus": (tf.nn.softplus, [data(3, 4)]),
    "softsign": (tf.nn.softsign, [distinct(3, 4) + 0.1]),
    "leaky_relu": (lambda x: tf.nn.leaky_relu(x, 0.3), [distinct(3, 4) + 0.1]),
    "crelu": (tf.nn.crelu, [distinct(3, 4) + 0.1]),
    "swish": (tf.nn.swish, [data(3, 4)]),
    "softmax": (tf.nn.softmax, [data(3, 4)]),
    "softmax of an inner axis": (lambda x: tf.nn.softmax(x, axis=1), [data(2, 3, 4)]),
    "log_softmax": (tf.nn.log_softmax, [data(3, 4)]),
    "l2_loss": (tf.nn.l2_loss, [data(3, 4)]),
    "l2_normalize": (lambda x: tf.nn.l2_normalize(x, 1), [data(3, 4)]),
    "bias_add": (tf.nn.bias_add, [data(2, 3, 4), data(4)]),
    "bias_add channels first": (lambda x, b: tf.nn.bias_add(x, b, data_format="NCHW"), [data(2, 3, 2, 2), data(3)]),
    "xw_plus_b": (tf.nn.xw_plus_b, [data(2, 3), data(3, 4), data(4)]),
    "conv2d": (lambda x, w: tf.nn.conv2d(x, w, [1, 1, 1, 1], VALID), [data(2, 5, 4, 2), data(3, 2, 2, 3)]),
    "conv2d uneven": (lambda x, w: tf.nn.conv2d(x, w, [1, 2, 2, 1], SAME), [data(1, 6, 5, 2), data(3, 2, 2, 2)]),
    "conv2d explicit": (
        lambda x, w: tf.nn.conv2d(x, w, 1, [[0, 0], [2, 0], [1, 3], [0, 0]]),
        [data(1, 4, 4, 1), data(2, 2, 1, 2)],
    ),
    "conv2d dilated": (lambda x, w: tf.nn.conv2d(x, w, 1, SAME, dilations=2), [data(1, 6, 6, 1), data(3, 3, 1, 2)]),
    "conv2d channels first": (
        lambda x, w: tf.nn.conv2d(x, w, 2, SAME, data_format="NCHW"),
        [data(1, 2, 5, 4), data(3, 2, 2, 2)],
    ),
    "conv2d_transpose": (
        lambda x, w: tf.nn.conv2d_transpose(x, w, [1, 7, 8, 2], [1, 2, 2, 1]),
        [data(1, 4, 4, 3), data(3, 3, 2, 3)],
    ),
    "conv1d": (lambda x, w: tf.nn.conv1d(x, w, 2, SAME), [data(2, 5, 2), data(3, 2, 2)]),
    "conv3d": (lambda x, w: tf.nn.conv3d(x, w, [1, 2, 1, 1, 1], SAME), [data(1, 3, 3, 2, 2), data(2, 2, 2, 2, 2)]),
    "depthwise": (lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], SAME), [data(1, 4, 5, 2), data(2, 3, 2, 2)]),
    "depthwise with gaps": (
        lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], SAME, rate=[2, 2]),
        [data(1, 4, 5, 2), data(2, 2, 2, 1)],
    ),
    "separable": (
        lambda x, w, p: tf.nn.separable_conv2d(x, w, p, [1, 1, 1, 1], VALID),
        [data(1, 3, 4, 2), data(2, 2, 2, 2), data(1, 1, 4, 3)],
    ),
    "atrous": (lambda x, w: tf.nn.atrous_conv2d(x, w, 2, SAME), [data(1, 5, 5, 1), data(3, 3, 1, 2)]),
    "max_pool": (lambda x: tf.nn.max_pool(x, 3, 2, SAME), [distinct(1, 5, 6, 2)]),
    "max_pool stride one": (lambda x: tf.nn.max_pool(x, 2, 1, SAME), [distinct(1, 4, 4, 2)]),
    "avg_pool": (lambda x: tf.nn.avg_pool(x, 3, 2, SAME), [data(1, 5, 6, 2)]),
    "avg_pool stride one": (lambda x: tf.nn.avg_pool(x, 2, 1, SAME), [data(1, 4, 4, 2)]),
    "avg_pool3d": (lambda x: tf.nn.avg_pool3d(x, 2, 2, SAME), [data(1, 3, 3, 4, 2)]),
    "max_pool_with_argmax": (
        lambda x: tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], SAME)[0],
        [distinct(2, 4, 5, 2)],
    ),
    "dilation2d": (
        lambda x, w: tf.nn.dilation2d(x, w, [1] * 4, [1] * 4, SAME),
        [distinct(1, 4, 4, 2), data(2, 3, 2) * 0.1],
    ),
    "erosion2d": (
        lambda x, w: tf.nn.erosion2d(x, w, [1] * 4, [1] * 4, VALID),
        [distinct(1, 4, 4, 2), data(2, 3, 2) * 0.1],
    ),
    "softmax cross entropy": (
        lambda x, z: tf.nn.softmax_cross_entropy_with_logits_v2(labels=z, logits=x),
        [data(3, 4), shares(3, 4)],
    ),
    "sparse softmax cross entropy": (
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 3, 0], logits=x),
        [data(3, 4)],
    ),
    "sigmoid cross entropy": (
        lambda x, z: tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x),
        [data(3, 4), data(3, 4, low=0.0)],
    ),
    "weighted cross entropy": (
        lambda x, z: tf.nn.weighted_cross_entropy_with_logits(labels=z, logits=x, pos_weight=3.0),
        [data(3, 4), data(3, 4, low=0.0)],
    ),
    "log_poisson_loss": (lambda x: tf.nn.log_poisson_loss(np.full([3, 4], 2.5), x, True), [data(3, 4)]),
    "moments": (lambda x: tf.stack(tf.nn.moments(x, [0, 1])), [data(3, 4, 2)]),
    "batch_normalization": (
        lambda x, m, v: tf.nn.batch_normalization(x, m, v, None, None, 0.01),
        [data(4, 3), data(3), data(3, low=0.5)],
    ),
    "top_k": (lambda x: tf.nn.top_k(x, 2)[0], [distinct(3, 4)]),
    "ctc_loss": (
        lambda x: tf.nn.ctc_loss(tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([0, 0, 1]), [2, 2]), x, [5, 4]),
        [data(5, 2, 3)],
    ),
    "fractional_avg_pool": (
        lambda x: tf.nn.fractional_avg_pool(
            x, [1.0, 1.4, 1.7, 1.0], deterministic=True, seed=1, seed2=2, overlapping=True
        )[0],
        [data(1, 7, 8, 2)],
    ),
    "fractional_max_pool": (
        lambda x: tf.nn.fractional_max_pool(x, [1.0, 1.4, 1.7, 1.0], deterministic=True, seed=1, seed2=2)[0],
        [distinct(1, 7, 8, 2)],
    ),
}


def by_differences(run, values, grads, step=1e-6):
    """The largest error of gradients against central differences of a scalar function."""
    worst = 0.0
    for position, value in enumerate(values):
        numeric = np.zeros_like(value)
        for index in np.ndindex(*value.shape):
            sides = []
            for sign in (1, -1):
                moved = [v.copy() for v in values]
                moved[position][index] += sign * step
                sides.append(run(moved))
            numeric[index] = (sides[0] - sides[1]) / (2 * step)
        worst = max(worst, np.abs(numeric - grads[position]).max())
    return worst


@pytest.mark.parametrize("name", sorted(CASES))
def test_first_gradient(name):
    function, values = CASES[name]
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.placeholder(tf.float64, v.shape) for v in values]
        output = function(*inputs)
        weights = np.random.RandomState(1).uniform(0.5, 1.5, output.shape.as_list())
        loss = tf.reduce_sum(output * weights)
        grads = tf.gradients(loss, inputs)
        run = session.make_callable(loss, inputs)
        found = session.run(grads, dict(zip(inputs, values, strict=True)))
        assert by_differences(lambda moved: run(*moved), values, found) < 1e-5


SECOND = [
    "elu",
    "selu",
    "softplus",
    "softmax",
    "log_softmax",
    "conv2d",
    "conv3d",
    "depthwise",
    "conv2d uneven",
    "avg_pool",
]


@pytest.mark.parametrize("name", [*SECOND, "bias_add", "softmax cross entropy", "max_pool", "leaky_relu"])
def test_second_gradient(name):
    function, values = CASES[name]
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.placeholder(tf.float64, v.shape) for v in values]
        output = function(*inputs)
        # Squares, so that there is a second gradient of piecewise linear ops, too.
        first = tf.gradients(tf.reduce_sum(tf.square(output)), inputs[:1])[0]
        loss = tf.reduce_sum(first * np.random.RandomState(2).uniform(0.5, 1.5, values[0].shape))
        # Labels of a cross entropy have no second gradient.
        by = inputs[:1] if name == "softmax cross entropy" else inputs
        grads = tf.gradients(loss, by)
        run = session.make_callable(loss, inputs)
        found = session.run(grads, dict(zip(inputs, values, strict=True)))
        rest = values[len(by) :]
        assert by_differences(lambda moved: run(*moved, *rest), values[: len(by)], found) < 1e-4


def test_max_pool_sends_a_tie_to_the_first():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.ones([1, 2, 4, 1])
        grad = tf.gradients(tf.nn.max_pool(x, 2, 2, "VALID"), x)[0]
        assert session.run(grad).ravel().tolist() == [1, 0, 1, 0, 0, 0, 0, 0]
