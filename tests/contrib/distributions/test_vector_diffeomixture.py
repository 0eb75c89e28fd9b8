"""`VectorDiffeomixture`, with numbers of TensorFlow 1.15.5."""

import numpy as np
import pytest

import everflow as tf

tfd = tf.contrib.distributions


def mixture(**more):
    scale = [
        tf.linalg.LinearOperatorScaledIdentity(3, np.float32(1.1), is_positive_definite=True),
        tf.linalg.LinearOperatorDiag(np.linspace(2.5, 3.5, 3, dtype=np.float32), is_positive_definite=True),
    ]
    loc = [None, np.float32([2.0] * 3)]
    return tfd.VectorDiffeomixture([[0.0], [1.0]], [1.0], tfd.Normal(0.0, 1.0), loc, scale, **more)


def test_moments_densities_and_draws():
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(42)
        d = mixture()
        assert d.batch_shape == [2] and d.event_shape == [3] and d.grid.shape == [2, 2, 8]
        np.testing.assert_allclose(sess.run(d.mean())[:, 0], [1.0, 0.57584053], rtol=1e-5)
        np.testing.assert_allclose(sess.run(d.variance())[0], [3.381288, 4.3829036, 5.5213714], rtol=1e-5)
        np.testing.assert_allclose(sess.run(d.covariance())[0, 0], [3.381288, 0.09482424, 0.09482424], rtol=1e-5)
        np.testing.assert_allclose(sess.run(d.log_prob(np.ones(3, np.float32))), [-4.8215418, -4.3570266], rtol=1e-5)
        drawn = sess.run(d.sample(4, seed=7))
        assert drawn.shape == (4, 2, 3)
        np.testing.assert_allclose(drawn[0, 1], [0.65430307, 1.3359318, 1.4592445], rtol=1e-5)
        assert d.copy(quadrature_size=3).grid.shape == [2, 2, 3]


def test_what_it_refuses():
    with tf.Graph().as_default():
        eye, normal = tf.linalg.LinearOperatorIdentity(2), tfd.Normal(0.0, 1.0)

        def made(loc=(None, None), scale=(eye, eye), distribution=normal, temperature=(1.0,)):
            return tfd.VectorDiffeomixture([[0.0]], temperature, distribution, loc, scale)

        for wrong, kind in (
            ({"loc": [None]}, ValueError),
            ({"scale": None}, ValueError),
            ({"loc": None, "scale": [eye] * 3}, NotImplementedError),
            ({"distribution": tfd.Normal([0.0, 1.0], 1.0)}, ValueError),
            ({"temperature": 1.0}, ValueError),
            ({"scale": [eye, tf.linalg.LinearOperatorIdentity(2, dtype=tf.float64)]}, TypeError),
            ({"scale": [tf.linalg.LinearOperatorFullMatrix(np.eye(2, dtype=np.float32)), eye]}, NotImplementedError),
        ):
            with pytest.raises(kind):
                made(**wrong)
