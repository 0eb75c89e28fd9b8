"""Cross entropies with their gradients where logits are far apart, nothing is there, or labels can't be."""

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed

RANDOM = np.random.RandomState(0)


def reference(logits):
    shifted = logits - logits.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


@pytest.mark.parametrize("scale", [1.0, 300.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_losses_and_gradients(sess, scale, dtype):
    logits = (RANDOM.randn(6, 4) * scale).astype(dtype)
    labels = RANDOM.rand(6, 4).astype(dtype)
    labels /= labels.sum(1, keepdims=True)
    logs = reference(logits.astype(np.float64))
    dense = sess.run(tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=fed(logits), labels=fed(labels)))
    np.testing.assert_allclose(dense.loss, -(labels * logs).sum(1), rtol=2e-5)
    np.testing.assert_allclose(dense.backprop, np.exp(logs) - labels, atol=1e-5)
    which = RANDOM.randint(0, 4, 6)
    for ids in (np.int32, np.int64):
        sparse = sess.run(
            tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=fed(logits), labels=fed(which.astype(ids)))
        )
        np.testing.assert_allclose(sparse.loss, -logs[range(6), which], rtol=2e-5, atol=1e-5)
        np.testing.assert_allclose(sparse.backprop, np.exp(logs) - np.eye(4)[which], atol=1e-5)


def test_labels_may_be_one_row_for_all(sess):
    logits = RANDOM.randn(3, 2).astype(np.float32)
    found = sess.run(tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=fed(logits), labels=fed([[0.25, 0.75]])))
    np.testing.assert_allclose(found.loss, -(reference(logits) * [0.25, 0.75]).sum(1), rtol=1e-5)


def test_no_rows(sess):
    nothing = fed(np.zeros([0, 3], np.float32))
    found = sess.run(tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=nothing, labels=nothing))
    assert found.loss.shape == (0,) and found.backprop.shape == (0, 3)
    sparse = tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=nothing, labels=fed(np.zeros([0], np.int32)))
    assert sess.run(sparse).loss.shape == (0,)


@pytest.mark.parametrize("label", [-1, 3])
def test_labels_outside_are_named(sess, label):
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=fed([0, label]), logits=fed(np.zeros([2, 3])))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=rf"label value of {label} which is outside the valid range of \[0, 3\)"
    ):
        sess.run(loss)


@pytest.mark.parametrize(
    ("op", "logits", "labels", "message"),
    [
        ("SoftmaxCrossEntropyWithLogits", [2, 3], [2, 4], "broadcast|same size"),
        ("SoftmaxCrossEntropyWithLogits", [3], [3], "2-dimensional"),
        ("SparseSoftmaxCrossEntropyWithLogits", [3], [3], "logits must be 2-D"),
        ("SparseSoftmaxCrossEntropyWithLogits", [2, 3], [2, 1], "labels must be 1-D"),
        ("SparseSoftmaxCrossEntropyWithLogits", [2, 3], [3], "same first dimension"),
        ("SparseSoftmaxCrossEntropyWithLogits", [2, 0], [2], "Must have at least one class"),
    ],
)
def test_shapes_that_do_not_fit(sess, op, logits, labels, message):
    kind = np.int32 if op.startswith("Sparse") else np.float32
    found = getattr(tf.raw_ops, op)(features=fed(np.zeros(logits, np.float32)), labels=fed(np.zeros(labels, kind)))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(found)


@pytest.mark.parametrize("shape", [(), (7,), (2, 3, 4), (0, 3), (20000,)])
def test_half_the_sum_of_squares(sess, shape):
    x = np.asarray(RANDOM.randn(*shape))
    np.testing.assert_allclose(sess.run(tf.nn.l2_loss(fed(x))), (x * x).sum() / 2, rtol=1e-12)


@pytest.mark.parametrize("sparse", [True, False])
def test_a_small_loss_beside_large_logits_keeps_its_digits(sparse):
    logits = np.array([[1000.0, 990.0], [990.0, 1000.0]], np.float32)
    expected = -reference(logits.astype(np.float64)).max(1)
    with tf.Graph().as_default(), tf.Session() as sess:
        if sparse:
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=fed([0, 1]), logits=fed(logits))
        else:
            loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=fed(np.eye(2, dtype="f")), logits=fed(logits))
        np.testing.assert_allclose(sess.run(loss), expected, rtol=3e-3)
