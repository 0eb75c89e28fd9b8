"""What layers' ops become for all iterations at once."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.parallel_for.loops import for_loop, pfor
from tests.ops.parallel_for.agreement import MATRICES, ROWS, check_agreement, evaluated

FUNCTIONS = [
    (lambda a: tf.nn.softmax(tf.reshape(a, [4])), MATRICES),
    (lambda a: tf.nn.bias_add(a, [1.0, 2.0]), MATRICES),
]


@pytest.mark.parametrize("known_size", [True, False])
@pytest.mark.parametrize(("fn", "elements"), FUNCTIONS)
def test_what_map_fn_computes(fn, elements, known_size):
    check_agreement(fn, elements, known_size)


IMAGES = np.arange(3 * 2 * 4 * 4 * 1, dtype=np.float32).reshape(3, 2, 4, 4, 1)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: tf.nn.conv2d(x, tf.ones([2, 2, 1, 3]), 1, "SAME"),
        lambda x: tf.nn.max_pool(x, 2, 2, "VALID"),
        lambda x: tf.nn.avg_pool(x, 2, 2, "VALID"),
        lambda x: tf.gradients(tf.nn.max_pool(x, 2, 2, "VALID"), x)[0],
        lambda x: tf.nn.log_softmax(tf.reshape(x, [8, 4])),
        lambda x: tf.nn.softmax_cross_entropy_with_logits_v2(tf.nn.softmax(tf.ones([8, 4])), tf.reshape(x, [8, 4])),
        lambda x: tf.searchsorted([1.0, 5.0, 40.0], tf.reshape(x, [-1])),
    ],
)
def test_ops_with_a_batch_of_their_own(fn):
    check_agreement(fn, IMAGES)


def test_biases_that_differ():
    check_agreement(lambda a: tf.nn.bias_add(tf.ones([3, 2]), a), ROWS)
    check_agreement(lambda a: tf.gradients(tf.nn.bias_add(tf.ones([3, 2]), a * 2.0) * 3.0, a)[0], ROWS)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="NHWC only"):
        tf.vectorized_map(lambda a: tf.nn.bias_add(tf.ones([1, 2, 1, 1]), a, data_format="NCHW"), tf.constant(ROWS))


def test_assertions_hold_in_all_iterations():
    with tf.Graph().as_default():
        limit = tf.placeholder(tf.int32, [])

        def body(i):
            with tf.control_dependencies([tf.Assert(i < limit, ["too far"])]):
                return tf.identity(i)

        made = pfor(body, 3)
        assert evaluated(made, {limit: 3}).tolist() == [0, 1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="too far"):
            evaluated(made, {limit: 2})


def test_messages_are_printed_once_for_all(capfd):
    with tf.Graph().as_default():
        evaluated(pfor(lambda i: tf.Print(i, [i], "i: "), 3))
    assert capfd.readouterr().err == "i: [0 1 2]\n"


def _agree(fn, types):
    """What is drawn for all iterations gives what a loop gives."""
    at_once, one_by_one = pfor(fn, 3), for_loop(fn, types, 3)
    with tf.Session() as session:
        for a, b in zip(*map(tf.contrib.framework.nest.flatten, session.run([at_once, one_by_one])), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


_IMAGES = np.random.RandomState(0).rand(3, 2, 4, 4, 3).astype("f")
_FILTER = np.random.RandomState(1).rand(2, 2, 3, 2).astype("f")
_GRADS = np.random.RandomState(2).rand(3, 2, 4, 4, 2).astype("f")
_CONV = {"strides": [1, 1, 1, 1], "padding": "SAME"}


@pytest.mark.parametrize(
    "image, grad",
    [(_IMAGES, _GRADS), (None, _GRADS), (_IMAGES, None)],
    ids=["both", "gradients", "images"],
)
def test_gradients_of_filters(image, grad):
    def one(i):
        own_image = tf.constant(_IMAGES[0]) if image is None else tf.gather(image, i)
        own_grad = tf.constant(_GRADS[0]) if grad is None else tf.gather(grad, i)
        return tf.nn.conv2d_backprop_filter(own_image, [2, 2, 3, 2], own_grad, **_CONV)

    _agree(one, tf.float32)


@pytest.mark.parametrize(
    "one, types",
    [
        (lambda i: tf.nn.conv2d_backprop_input([2, 4, 4, 3], _FILTER, tf.gather(_GRADS, i), **_CONV), tf.float32),
        (lambda i: list(tf.nn.fused_batch_norm(tf.gather(_IMAGES, i), tf.ones(3), tf.zeros(3))), [tf.float32] * 3),
        (
            lambda i: tf.nn.fused_batch_norm(
                tf.gather(_IMAGES, i), tf.ones(3), tf.zeros(3), tf.zeros(3), tf.ones(3), is_training=False
            )[0],
            tf.float32,
        ),
        (lambda i: list(tf.decode_csv(tf.gather(["1,2", "3,4", "5,6"], i), [[0], [0]])), [tf.int32, tf.int32]),
    ],
    ids=["images", "batch norm", "known statistics", "csv"],
)
def test_more_layers(one, types):
    _agree(one, types)


def test_gradients_of_averages():
    def one(i):
        image = tf.gather(_IMAGES, i)
        return tf.gradients(tf.nn.avg_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], "SAME") ** 2, image)[0]

    _agree(one, tf.float32)


@pytest.mark.parametrize("is_training", [True, False])
def test_gradients_of_batch_norm(is_training):
    known = {} if is_training else {"mean": tf.ones(3), "variance": tf.fill([3], 2.0)}
    scale = tf.constant([1.0, 2.0, 3.0])

    def one(i):
        image = tf.gather(_IMAGES, i)
        normal = tf.nn.fused_batch_norm(image, scale, tf.ones(3), is_training=is_training, **known)[0]
        return tf.gradients(tf.nn.l2_loss(normal), [image, scale])

    _agree(one, [tf.float32] * 2)
