"""Values of distributions and bijectors that only TensorFlow can tell; the numbers are TensorFlow 1.15's."""

import numpy as np
import pytest

import everflow as tf

tfd = tf.contrib.distributions
tfb = tfd.bijectors


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_variance_of_a_mixture_of_vectors(session):
    components = [
        tfd.MultivariateNormalDiag([[0.0, 1.0]], [[1.0, 1.0]]),
        tfd.MultivariateNormalDiag([[2.0, 5.0]], [[2.0, 3.0]]),
    ]
    mixture = tfd.Mixture(tfd.Categorical(probs=[[0.25, 0.75]]), components)
    mean, variance = session.run([mixture.mean(), mixture.variance()])
    np.testing.assert_allclose(mean, [[1.5, 4.0]], rtol=1e-6)
    np.testing.assert_allclose(variance, [[0.25 + 0.75 * 8 - 2.25, 0.25 * 2 + 0.75 * 34 - 16.0]], rtol=1e-5)


def test_log_probabilities_of_a_quantized_distribution_hold_in_the_tails(session):
    quantized = tfd.QuantizedDistribution(tfd.Normal(0.0, 1.0), low=-50.0, high=50.0)
    found = session.run(quantized.log_prob([20.0, -20.0]))
    assert np.isfinite(found).all() and (found < -150).all()


def test_binomial_has_a_distribution_function_where_all_trials_succeed(session):
    found = session.run(tfd.Binomial(total_count=4.0, probs=0.5).cdf([0.0, 2.0, 4.0]))
    np.testing.assert_allclose(found, [0.0625, 0.6875, 1.0], rtol=1e-5)


def test_volume_that_triangular_inverses_stretch_by_is_tensorflows(session):
    matrix = tf.constant([[2.0, 0.0], [1.0, 4.0]])
    bijector = tfb.MatrixInverseTriL()
    found = session.run(bijector.forward_log_det_jacobian(matrix, event_ndims=2))
    np.testing.assert_allclose(found, -4.0 * np.log(8.0), rtol=1e-6)


def test_batch_normalization_stretches_events_as_a_whole(session):
    bijector = tfb.BatchNormalization(training=False)
    assert bijector.forward_min_event_ndims == 1
    found = bijector.inverse_log_det_jacobian(tf.ones([3, 2]), event_ndims=1)
    session.run(tf.global_variables_initializer())
    np.testing.assert_allclose(session.run(found), [-np.log(1.001)] * 3, rtol=1e-4)


def test_an_inverse_drawn_for_its_volume_is_drawn_once():
    bijector = tfb.AffineScalar(shift=1.0, scale=2.0)
    y = tf.constant([3.0])
    bijector.inverse_log_det_jacobian(y, event_ndims=0)
    before = len(tf.get_default_graph().get_operations())
    bijector.inverse(y)
    assert len(tf.get_default_graph().get_operations()) == before
