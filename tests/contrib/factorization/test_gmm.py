"""Mixtures of Gaussians, with the numbers that TensorFlow 1.15.5 gives."""

import itertools

import numpy as np
import pytest

import everflow as tf

_DRAW = np.random.RandomState(0)
POINTS = np.concatenate([_DRAW.randn(60, 2) * 0.5, _DRAW.randn(60, 2) * 0.5 + 4]).astype(np.float32)
FIRST = [[0.5, 0.0], [3.0, 3.0]]


@pytest.mark.parametrize(
    "options, likelihood, means",
    [
        ({}, 2.83399, [[0.027, 0.089], [3.9205, 3.9555]]),
        ({"covariance_type": "diag"}, 2.95234, [[0.0341, 0.0985], [3.9653, 3.9975]]),
        ({"params": "wm"}, 1.69667, FIRST),
    ],
)
def test_five_steps(options, likelihood, means):
    with tf.Graph().as_default(), tf.Session() as session:
        found, scores, classes, train_op, init_op, begun = tf.contrib.factorization.gmm(POINTS, FIRST, 2, 0, **options)
        session.run(tf.global_variables_initializer())
        assert not session.run(begun)
        session.run(init_op)
        for _ in range(5):
            session.run(train_op)
        assert session.run(begun)
        clusters = session.graph.get_tensor_by_name("clusters:0")
        np.testing.assert_allclose(session.run(clusters)[:, 0], means, atol=1e-3)
        assert session.run(found) == pytest.approx(likelihood, abs=1e-4)
        assert session.run(scores).shape == (120, 1) and session.run(classes[0][0]).shape == (120,)


def test_several_batches_count_together():
    with tf.Graph().as_default(), tf.Session() as session:
        parts = [tf.constant(POINTS[:60]), tf.constant(POINTS[60:])]
        *_, train_op, init_op, _ = tf.contrib.factorization.gmm(parts, [[0.5, 0.5], [3.5, 3.5]], 2, 0)
        session.run(tf.global_variables_initializer())
        session.run(init_op)
        for _ in range(10):
            session.run(train_op)
        np.testing.assert_allclose(session.run("alphas:0"), [0.5, 0.5], atol=0.02)
        np.testing.assert_allclose(session.run("clusters:0")[1, 0], POINTS[60:].mean(0), atol=0.1)


def test_points_to_begin_with_are_drawn():
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        likelihood, *_, train_op, init_op, _ = tf.contrib.factorization.gmm(POINTS, "random", 2, 0)
        session.run(tf.global_variables_initializer())
        session.run(init_op)
        for _ in range(5):
            session.run(train_op)
        assert session.run(likelihood) == pytest.approx(1.75961, abs=1e-3)


def test_an_estimator():
    estimator = tf.contrib.factorization.GMM(2, random_seed=1, initial_clusters=np.float32(FIRST))

    def input_fn():
        return tf.constant(POINTS), None

    estimator.fit(input_fn=input_fn, steps=5)
    np.testing.assert_allclose(estimator.clusters(), [[0.027, 0.089], [3.9205, 3.9555]], atol=1e-3)
    np.testing.assert_allclose(estimator.weights(), [0.4933, 0.5067], atol=1e-3)
    assert estimator.covariances().shape == (2, 2, 2)
    assert estimator.score(input_fn=input_fn, steps=1) == pytest.approx(2.83399, abs=1e-4)
    assert list(itertools.islice(estimator.predict_assignments(input_fn=input_fn), 3)) == [0, 0, 0]


def test_a_covariance_that_there_is_not():
    with tf.Graph().as_default(), pytest.raises(Exception, match="covariance_type"):
        tf.contrib.factorization.gmm(POINTS, FIRST, 2, 0, covariance_type="round")
