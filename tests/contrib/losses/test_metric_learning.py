"""Losses over embeddings: values for embeddings on the unit sphere, and gradients that stay finite."""

import numpy as np
import pytest

import everflow as tf

losses = tf.contrib.losses.metric_learning
_draws = np.random.RandomState(0)
EMBEDDINGS = _draws.randn(12, 4).astype(np.float32)
EMBEDDINGS /= np.linalg.norm(EMBEDDINGS, axis=1, keepdims=True)
OTHERS = _draws.randn(12, 4).astype(np.float32)
LABELS = _draws.randint(0, 4, 12)


@pytest.mark.parametrize(
    ("loss", "value", "gradient"),
    [
        (lambda e: losses.triplet_semihard_loss(LABELS, e), 0.6995, 5.754),
        (lambda e: losses.npairs_loss(LABELS, e, OTHERS), 2.8035, 2.117),
        (lambda e: losses.contrastive_loss(LABELS % 2, e, OTHERS), 1.9688, 3.526),
        (lambda e: losses.lifted_struct_loss(LABELS, e), 6.2264, 8.435),
    ],
)
def test_values_and_gradients(loss, value, gradient):
    with tf.Graph().as_default(), tf.Session() as sess:
        embeddings = tf.constant(EMBEDDINGS)
        made = loss(embeddings)
        got, slopes = sess.run([made, tf.gradients(made, embeddings)[0]])
    np.testing.assert_allclose(got, value, atol=2e-4)
    np.testing.assert_allclose(np.abs(slopes).sum(), gradient, rtol=1e-3)


def test_equal_embeddings_have_finite_gradients():
    with tf.Graph().as_default(), tf.Session() as sess:
        embeddings = tf.zeros([4, 3])
        slopes = sess.run(tf.gradients(losses.lifted_struct_loss([0, 0, 1, 1], embeddings), embeddings)[0])
    assert np.isfinite(slopes).all()


@pytest.mark.parametrize("loss", [losses.triplet_semihard_loss, losses.lifted_struct_loss])
def test_labels_have_one_dimension(loss):
    with tf.Graph().as_default(), pytest.raises(AssertionError):
        loss(tf.placeholder(tf.int32, [6, 1]), tf.placeholder(tf.float32, [6, 4]))


def test_several_labels_of_a_row_count_as_often_as_they_are_shared():
    random = np.random.default_rng(5)
    anchors, positives = (random.normal(size=(3, 4)).astype(np.float32) for _ in range(2))
    labels = [[0], [0, 1], [2]]
    with tf.Graph().as_default(), tf.Session() as sess:
        sparse = [tf.SparseTensor([[i] for i in row], [1] * len(row), [3]) for row in labels]
        found = sess.run(tf.contrib.losses.metric_learning.npairs_loss_multilabel(sparse, anchors, positives))
    shared = np.array([[len(set(a) & set(b)) for b in labels] for a in labels], np.float64)
    logits = anchors @ positives.T
    logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    expected = -(shared / shared.sum(1, keepdims=True) * logs).sum(1).mean()
    expected += 0.25 * 0.002 * ((anchors**2).sum(1).mean() + (positives**2).sum(1).mean())
    np.testing.assert_allclose(found, expected, rtol=1e-5)
