"""Batch normalization in its fused forms, and normalization over neighbouring channels."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.RandomState(0)


@pytest.mark.parametrize("beta", [0.5, 0.75, 0.6])
def test_local_response_normalization(sess, beta):
    x = RANDOM.rand(2, 3, 4, 9).astype(np.float32)
    squares = np.pad(x * x, [(0, 0)] * 3 + [(2, 2)])
    around = sum(squares[..., i : i + 9] for i in range(5))
    result = sess.run(tf.nn.local_response_normalization(x, depth_radius=2, bias=1.5, alpha=0.3, beta=beta))
    np.testing.assert_allclose(result, x / (1.5 + 0.3 * around) ** beta, rtol=1e-5)


EPSILON = 0.001
X = RANDOM.randn(2, 3, 4, 5).astype(np.float32)
SCALE, OFFSET = (RANDOM.rand(5).astype(np.float32) + 0.5 for _ in range(2))
NONE = np.zeros(0, np.float32)


def fed(value):
    return tf.placeholder_with_default(np.asarray(value, np.float32), None)


def test_in_training_the_batch_itself_is_measured(sess):
    y, mean, variance = sess.run(tf.nn.fused_batch_norm(fed(X), fed(SCALE), fed(OFFSET), epsilon=EPSILON))
    mean_of, biased = X.mean((0, 1, 2)), X.var((0, 1, 2))
    np.testing.assert_allclose(y, (X - mean_of) / np.sqrt(biased + EPSILON) * SCALE + OFFSET, atol=1e-5)
    np.testing.assert_allclose(mean, mean_of, atol=1e-6)
    np.testing.assert_allclose(variance, biased * 24 / 23, rtol=1e-5)


def test_afterwards_what_was_measured_before_is_used(sess):
    mean, variance = np.arange(5, dtype=np.float32), np.arange(1, 6, dtype=np.float32)
    y, given_mean, given_variance = sess.run(
        tf.nn.fused_batch_norm(
            fed(X), fed(SCALE), fed(OFFSET), fed(mean), fed(variance), epsilon=EPSILON, is_training=False
        )
    )
    np.testing.assert_allclose(y, (X - mean) / np.sqrt(variance + EPSILON) * SCALE + OFFSET, atol=1e-5)
    assert given_mean.tolist() == mean.tolist() and given_variance.tolist() == variance.tolist()


def test_a_single_value_of_a_channel_has_no_variance(sess):
    y, mean, variance = sess.run(tf.nn.fused_batch_norm(fed(X[:1, :1, :1]), fed(SCALE), fed(OFFSET)))
    np.testing.assert_allclose(y[0, 0, 0], OFFSET, atol=1e-5)
    np.testing.assert_allclose(mean, X[0, 0, 0], rtol=1e-6)
    assert np.abs(variance).max() == 0


@pytest.mark.parametrize("is_training", [True, False])
def test_gradients_of_batch_normalization(sess, is_training):
    grad = RANDOM.randn(*X.shape).astype(np.float32)
    mean, variance = X.mean((0, 1, 2)), X.var((0, 1, 2))
    op = tf.raw_ops.FusedBatchNormGradV2(
        y_backprop=fed(grad),
        x=fed(X),
        scale=fed(SCALE),
        reserve_space_1=fed(mean),
        reserve_space_2=fed(variance),
        epsilon=EPSILON,
        is_training=is_training,
    )
    dx, dscale, doffset = sess.run(op)[:3]
    inverse = 1 / np.sqrt(variance + EPSILON)
    centered = (X - mean) * inverse
    np.testing.assert_allclose(doffset, grad.sum((0, 1, 2)), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(dscale, (grad * centered).sum((0, 1, 2)), rtol=1e-4, atol=1e-4)
    wanted = grad * SCALE * inverse
    if is_training:
        wanted = SCALE * inverse * (grad - grad.mean((0, 1, 2)) - centered * (grad * centered).mean((0, 1, 2)))
    np.testing.assert_allclose(dx, wanted, atol=1e-4)


def test_the_oldest_form(sess):
    mean, variance = X.mean((0, 1, 2)), X.var((0, 1, 2))
    for scaled in (True, False):
        found = tf.nn.batch_norm_with_global_normalization(
            fed(X), fed(mean), fed(variance), fed(OFFSET), fed(SCALE), EPSILON, scale_after_normalization=scaled
        )
        factor = SCALE if scaled else 1
        wanted = (X - mean) / np.sqrt(variance + EPSILON) * factor + OFFSET
        np.testing.assert_allclose(sess.run(found), wanted, atol=1e-5)


@pytest.mark.parametrize("beta", [0.5, 0.75, 1.3])
def test_gradient_of_local_response_normalization(sess, beta):
    x = tf.constant(RANDOM.rand(1, 2, 2, 6).astype(np.float32))
    y = tf.nn.local_response_normalization(x, depth_radius=2, bias=1.5, alpha=0.3, beta=beta)
    assert tf.test.compute_gradient_error(x, [1, 2, 2, 6], y, [1, 2, 2, 6]) < 1e-2


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.nn.fused_batch_norm(fed(X[0]), fed(SCALE), fed(OFFSET)),
        lambda: tf.raw_ops.FusedBatchNorm(
            x=fed(X), scale=fed(SCALE[:3]), offset=fed(OFFSET[None]), mean=fed(NONE), variance=fed(NONE)
        ),
        lambda: tf.nn.lrn(fed(X[0])),
    ],
)
def test_what_does_not_fit(sess, build):
    found = build()
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(found)


def test_nothing_is_normalized(sess):
    empty = fed(np.zeros([0, 2, 2, 5]))
    y = sess.run(tf.nn.fused_batch_norm(empty, fed(SCALE), fed(OFFSET))[0])
    assert y.shape == (0, 2, 2, 5)
    assert sess.run(tf.nn.lrn(empty)).shape == (0, 2, 2, 5)


@pytest.mark.parametrize(
    ("data_format", "shape"), [("NHWC", [3, 4, 2, 5]), ("NCHW", [3, 5, 4, 2]), ("NHWC", [1, 1, 1, 5])]
)
@pytest.mark.parametrize("is_training", [True, False])
def test_machine_code_gives_what_kernels_give(data_format, shape, is_training):
    x = tf.constant(RANDOM.randn(*shape).astype(np.float32))
    scale, offset = tf.constant(SCALE), tf.constant(OFFSET)
    moments = (None, None) if is_training else (tf.constant(OFFSET), tf.constant(SCALE))
    y, *found = tf.nn.fused_batch_norm(
        x * 2.0, scale, offset, *moments, data_format=data_format, is_training=is_training, epsilon=EPSILON
    )
    fetches = [y, *found, *tf.gradients(tf.nn.relu(y) * y, [x, scale, offset])]
    shown = []
    for level in (tf.OptimizerOptions.OFF, tf.OptimizerOptions.ON_1):
        options = tf.GraphOptions(optimizer_options=tf.OptimizerOptions(global_jit_level=level))
        with tf.Session(config=tf.ConfigProto(graph_options=options)) as sess:
            shown.append(sess.run(fetches))
    for kernels, code in zip(*shown, strict=True):
        np.testing.assert_allclose(code, kernels, rtol=2e-5, atol=2e-5)
