"""What distributions and bijectors refuse while a graph runs, where arguments are to be checked, and what they don't."""

import numpy as np
import pytest

import everflow as tf

tfd = tf.contrib.distributions
tfb = tfd.bijectors

# what is drawn with validate_args=True, and fails when it runs
REFUSED = {
    "density at a negative number": lambda **k: tfd.InverseGamma(2.0, 1.0, **k).log_prob(tf.placeholder_with_default(-1.0, [])),
    "entropy of what is certain": lambda **k: tfd.Geometric(probs=1.0, **k).entropy(),
    "a value above 1": lambda **k: tfd.Kumaraswamy(2.0, 3.0, **k).cdf(tf.placeholder_with_default(2.0, [])),
    "a weight of zero": lambda **k: tfd.Kumaraswamy(tf.placeholder_with_default(0.0, []), 3.0, **k).prob(0.5),
    "half a draw": lambda **k: tfd.Binomial(tf.placeholder_with_default(1.5, []), probs=0.5, **k).mean(),
    "half an event": lambda **k: tfd.Poisson(1.0, **k).cdf(tf.placeholder_with_default(0.5, [])),
    "a vector of another length": lambda **k: tfd.VectorDeterministic([1.0, 2.0], **k).prob(
        tf.placeholder_with_default([1.0], None)
    ),
    "a diagonal with a zero": lambda **k: tfb.Affine(scale_diag=tf.placeholder_with_default([0.0, 1.0], [2]), **k).forward(
        [1.0, 1.0]
    ),
    "a triangle with a zero": lambda **k: tfb.Affine(
        scale_tril=tf.placeholder_with_default([[0.0, 0.0], [1.0, 1.0]], [2, 2]), **k
    ).forward([1.0, 1.0]),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_checks_are_made_where_they_are_asked_for(what):
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(REFUSED[what](validate_args=False))
        checked = REFUSED[what](validate_args=True)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(checked)


def test_scales_may_be_negative():
    with tf.Graph().as_default(), tf.Session() as session:
        normal = tfd.MultivariateNormalDiag([1.0, 2.0], [-1.0, 2.0], validate_args=True)
        assert session.run(normal.stddev()).tolist() == [1.0, 2.0]
        assert session.run(normal.sample(3, seed=1)).shape == (3, 2)
        diagonal = tf.placeholder_with_default([-1.0, 2.0], [2])
        low_rank = tfd.MultivariateNormalDiagPlusLowRank([0.0, 0.0], diagonal, validate_args=True)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(low_rank.stddev())


def test_affine_maps_without_a_matrix():
    with tf.Graph().as_default(), tf.Session() as session:
        moved = tfb.Affine(shift=[1.0, 2.0])
        assert session.run(moved.forward([1.0, 1.0])).tolist() == [2.0, 3.0]
        assert session.run(moved.inverse_log_det_jacobian([1.0, 1.0], event_ndims=1)) == 0.0
        twice = tfb.Affine(scale_identity_multiplier=2.0)
        assert session.run(twice.inverse([[2.0, 4.0]])).tolist() == [[1.0, 2.0]]


def test_all_draws_are_certainly_no_more_than_there_are():
    with tf.Graph().as_default(), tf.Session() as session:
        binomial = tfd.Binomial([3.0, 4.0], probs=[0.5, 0.5])
        np.testing.assert_allclose(session.run(binomial.cdf([3.0, 1.0])), [1.0, 0.3125], rtol=1e-6)
        np.testing.assert_allclose(session.run(binomial.cdf(1.0)), [0.5, 0.3125], rtol=1e-6)


def test_what_was_mapped_back_for_a_density_is_not_mapped_again():
    with tf.Graph().as_default() as graph:
        bijector, y = tfb.Affine(scale_diag=[1.0, 2.0]), tf.constant([[1.0, 2.0]])
        bijector.inverse_log_det_jacobian(y, event_ndims=1)
        before = len(graph.get_operations())
        bijector.inverse(y)
        assert len(graph.get_operations()) == before


def test_entropies_of_a_batch_that_a_transformation_makes():
    with tf.Graph().as_default(), tf.Session() as session:
        normal, twice = tf.distributions.Normal(0.0, 1.0), tfb.AffineScalar(1.0, 2.0)
        entropy = tfd.TransformedDistribution(normal, twice, batch_shape=[2, 1]).entropy()
        np.testing.assert_allclose(session.run(entropy), [[2.1120858], [2.1120858]], rtol=1e-5)
