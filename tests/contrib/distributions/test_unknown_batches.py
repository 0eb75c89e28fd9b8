"""Distributions whose batch size is known only in a run, as encoders of images have them."""

import numpy as np
import pytest

import everflow as tf

tfd = tf.contrib.distributions


@pytest.mark.parametrize("loc, scale", [([None, 2], [None, 2]), ([2], [None, 2]), ([None, 2], [2]), (None, [None, 2])])
def test_moments_of_multivariate_normals(loc, scale):
    loc = (
        None
        if loc is None
        else tf.placeholder_with_default(np.full([3 if n is None else n for n in loc], 2.0, np.float32), loc)
    )
    scale = tf.placeholder_with_default(np.full([3 if n is None else n for n in scale], 0.5, np.float32), scale)
    normal = tfd.MultivariateNormalDiag(loc, scale)
    prior = tfd.MultivariateNormalDiag(tf.zeros(2), tf.ones(2))
    mean = 0.0 if loc is None else 2.0
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(normal.mean()), np.full([3, 2], mean))
        np.testing.assert_allclose(sess.run(normal.mode()), np.full([3, 2], mean))
        divergence = 2 * (0.5 * (0.25 + mean**2 - 1) - np.log(0.5))
        np.testing.assert_allclose(sess.run(tfd.kl_divergence(normal, prior)), [divergence] * 3, rtol=1e-5)


def test_nodes_of_a_mean():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2])
        normal = tfd.MultivariateNormalDiag(x, tf.exp(x))
        before = len(graph.get_operations())
        normal.mean()
        assert [op.name for op in graph.get_operations()[before:]] == [
            "Normal/batch_shape_tensor/batch_shape",
            "MultivariateNormalDiag/event_shape_tensor/event_shape",
            "MultivariateNormalDiag/mean/concat/axis",
            "MultivariateNormalDiag/mean/concat",
            "MultivariateNormalDiag/mean/Identity",
            "MultivariateNormalDiag/mean/zeros/Const",
            "MultivariateNormalDiag/mean/zeros",
            "MultivariateNormalDiag/mean/add",
        ]


def test_independent_ones_are_summed_from_the_last_axis():
    with tf.Graph().as_default() as graph:
        images = [tfd.Independent(tfd.Normal(tf.zeros([3, 2]), 1.0), 2) for _ in range(2)]
        tfd.kl_divergence(*images)
        axes = graph.get_operation_by_name("KullbackLeibler/Sum/reduction_indices")
        assert tf.make_ndarray(axes.get_attr("value")).tolist() == [-1, -2]


def test_constants_of_bijectors():
    with tf.Graph().as_default() as graph:
        tfd.bijectors.Permute([1, 0])
        tfd.fill_triangular(tf.placeholder(tf.float32, [3]))
        names = [op.name for op in graph.get_operations()]
    assert names[:3] == ["permute/permutation", "Placeholder", "fill_triangular/Rank"]


def test_means_of_a_mixtures_components_come_before_its_own():
    with tf.Graph().as_default() as graph:
        mixture = tfd.MixtureSameFamily(
            tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal(loc=[-1.0, 1.0], scale=[0.1, 0.5])
        )
        mixture.variance()
        difference = graph.get_operation_by_name("MixtureSameFamily/variance/SquaredDifference")
        assert difference.inputs[0].name == "Normal/mean/mul:0"


def test_covariance_of_a_mixture_of_vectors():
    vectors = tfd.MultivariateNormalDiag(tf.constant([[0.0, 1.0], [2.0, -1.0]]), [1.0, 2.0])
    mixture = tfd.MixtureSameFamily(tfd.Categorical(probs=[0.25, 0.75]), vectors)
    between = 0.25 * 0.75 * np.outer([2, -2], [2, -2])
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(mixture.covariance()), np.diag([1.0, 4.0]) + between, rtol=1e-5)
