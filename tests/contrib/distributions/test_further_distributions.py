"""tf.contrib.distributions' rarer kinds: values, seeded draws and the number of nodes as TensorFlow 1.15.5 has them."""

import numpy as np
import pytest

import everflow as tf

ds = tf.contrib.distributions
NAN = float("nan")

# fmt: off
# An expression, its value, and how many nodes it draws.
CASES = [
    ("WishartCholesky(3.0, [[2.0, 0.0], [1.0, 1.0]]).sample(2, seed=1)", [[[20.2034, 10.3954], [10.3954, 6.0298]], [[2.3026, 2.0509], [2.0509, 2.9968]]], 95),
    ("WishartCholesky(3.0, [[2.0, 0.0], [1.0, 1.0]], cholesky_input_output_matrices=True).sample(2, seed=1)", [[[4.4948, 0.0], [2.3127, 0.8252]], [[1.5174, 0.0], [1.3515, 1.0818]]], 94),
    ("WishartCholesky(3.0, [[2.0, 0.0], [1.0, 1.0]]).log_prob([[2.0, 1.0], [1.0, 3.0]])", -6.1105, 106),
    ("WishartCholesky(3.0, [[2.0, 0.0], [1.0, 1.0]]).entropy()", 7.6105, 60),
    ("WishartCholesky(3.0, [[2.0, 0.0], [1.0, 1.0]]).mean()", [[12.0, 6.0], [6.0, 6.0]], 11),
    ("WishartCholesky(4.0, [[2.0, 0.0], [1.0, 1.0]]).mode()", [[4.0, 2.0], [2.0, 2.0]], 18),
    ("WishartCholesky(2.0, [[2.0, 0.0], [1.0, 1.0]]).mode()", [[NAN, NAN], [NAN, NAN]], 18),
    ("WishartCholesky(2.0, [[2.0, 0.0], [1.0, 1.0]], allow_nan_stats=False).mode()", [[NAN, NAN], [NAN, NAN]], 18),
    ("WishartCholesky(4.0, [[2.0, 0.0], [1.0, 1.0]]).variance()", [[128.0, 48.0], [48.0, 32.0]], 18),
    ("WishartCholesky(4.0, [[2.0, 0.0], [1.0, 1.0]]).stddev()", [[11.3137, 0.0], [4.2426, 3.7417]], 19),
    ("WishartCholesky(4.0, [[2.0, 0.0], [1.0, 1.0]], True).mean()", [[4.0, 0.0], [2.0, 2.0]], 8),
    ("WishartCholesky(4.0, [[2.0, 0.0], [1.0, 1.0]], True).mode()", [[2.0, 0.0], [1.0, 1.0]], 15),
    ("WishartCholesky(4.0, [[2.0, 0.0], [1.0, 1.0]]).mean_log_det()", 3.2319, 29),
    ("WishartCholesky(4.0, [[2.0, 0.0], [1.0, 1.0]]).log_normalization()", 5.9968, 39),
    ("WishartCholesky(4.0, [[2.0, 0.0], [1.0, 1.0]]).scale()", [[4.0, 2.0], [2.0, 2.0]], 10),
    ("WishartCholesky(4.0, [[2.0, 0.0], [1.0, 1.0]], True).scale()", [[2.0, 0.0], [1.0, 1.0]], 6),
    ("WishartCholesky(4.0, [[2.0, 0.0], [1.0, 1.0]]).batch_shape_tensor()", [], 4),
    ("VectorExponentialDiag([1.0, 2.0], [3.0, 4.0]).sample(2, seed=1)", [[5.2934, 2.3318], [9.9566, 4.8068]], 108),
    ("VectorExponentialDiag([1.0, 2.0], [3.0, 4.0]).log_prob([2.0, 3.0])", -3.0682, 111),
    ("VectorExponentialDiag([1.0, 2.0], [3.0, 4.0]).mean()", [4.0, 6.0], 47),
    ("VectorExponentialDiag([1.0, 2.0], [3.0, 4.0]).covariance()", [[9.0, 0.0], [0.0, 16.0]], 45),
    ("VectorExponentialDiag([1.0, 2.0], [3.0, 4.0]).variance()", [9.0, 16.0], 44),
    ("VectorExponentialDiag([1.0, 2.0], [3.0, 4.0]).stddev()", [3.0, 4.0], 44),
    ("VectorExponentialDiag([1.0, 2.0], [3.0, 4.0]).mode()", [1.0, 2.0], 47),
    ("VectorExponentialDiag([1.0, 2.0], [3.0, 4.0]).entropy()", 4.4849, 118),
    ("VectorExponentialDiag([[1.0, 2.0], [2.0, 3.0]], scale_identity_multiplier=2.0).mean()", [[3.0, 4.0], [4.0, 5.0]], 60),
    ("VectorExponentialDiag([1.0, 2.0]).sample(seed=1)", [2.4311, 2.0829], 104),
    ("VectorExponentialDiag(scale_diag=[1.0, 2.0]).mean()", [1.0, 2.0], 42),
    ("VectorLaplaceDiag([1.0, 2.0], [3.0, 4.0]).sample(2, seed=1)", [[-1.214, 9.3504], [-5.8772, 1.9658]], 112),
    ("VectorLaplaceDiag([1.0, 2.0], [3.0, 4.0]).log_prob([2.0, 3.0])", -4.4545, 109),
    ("VectorLaplaceDiag([1.0, 2.0], [3.0, 4.0]).mean()", [1.0, 2.0], 44),
    ("VectorLaplaceDiag([1.0, 2.0], [3.0, 4.0]).covariance()", [[18.0, 0.0], [0.0, 32.0]], 47),
    ("VectorLaplaceDiag([1.0, 2.0], [3.0, 4.0]).variance()", [18.0, 32.0], 46),
    ("VectorLaplaceDiag([1.0, 2.0], [3.0, 4.0]).stddev()", [4.2426, 5.6569], 46),
    ("VectorLaplaceDiag([1.0, 2.0], [3.0, 4.0]).mode()", [1.0, 2.0], 44),
    ("VectorLaplaceDiag(scale_diag=[3.0, 4.0]).mean()", [0.0, 0.0], 41),
    ("VectorSinhArcsinhDiag([1.0, 2.0], [3.0, 4.0], skewness=0.5, tailweight=1.2).sample(2, seed=1)", [[0.3562, 12.8553], [2.6028, -3.2609]], 120),
    ("VectorSinhArcsinhDiag([1.0, 2.0], [3.0, 4.0], skewness=[0.5, 0.3]).log_prob([1.0, 1.5])", -4.3543, 179),
    ("VectorSinhArcsinhDiag([1.0, 2.0], [3.0, 4.0], tailweight=[0.5, 0.3]).sample(seed=2)", [-2.0419, 0.9498], 118),
    ("VectorSinhArcsinhDiag([1.0, 2.0], scale_identity_multiplier=2.0, distribution=Laplace(0.0, 1.0)).sample(seed=2)", [1.8848, 3.1183], 135),
    ("BatchReshape(Normal([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2.0), [2, 3]).sample(2, seed=1)", [[[-0.6226, 4.9692, 3.1307], [-0.8854, 5.1985, 7.1824]], [[2.1856, -2.2459, 1.5542], [3.8875, 6.2871, 5.4714]]], 42),
    ("BatchReshape(Normal([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2.0), [2, 3]).log_prob([[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]])", [[[-1.6121, -1.6121, -1.6121], [-2.7371, -2.7371, -2.7371]]], 26),
    ("BatchReshape(Normal([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2.0), [2, 3]).mean()", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], 15),
    ("BatchReshape(Normal([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2.0), [2, 3]).entropy()", [[2.1121, 2.1121, 2.1121], [2.1121, 2.1121, 2.1121]], 16),
    ("BatchReshape(MultivariateNormalDiag([[1.0, 2.0], [3.0, 4.0]]), [1, 2, 1]).batch_shape_tensor()", [1.0, 2.0, 1.0], 49),
    ("Autoregressive(lambda x: Normal(x*0.5, 1.0), sample0=tf.constant([1.0, 2.0]), num_steps=3).sample(2, seed=1)", [[-1.4587, 2.9086], [0.185, -4.4551]], 112),
    ("Autoregressive(lambda x: Normal(x*0.5, 1.0), sample0=tf.constant([1.0, 2.0]), num_steps=3).log_prob([1.0, 3.0])", [-1.0439, -2.0439], 21),
    ("Autoregressive(lambda x=None: Normal([0.0, 1.0] if x is None else x*0.5, 1.0), num_steps=2).sample(2, seed=1)", [[-1.4198, 2.848], [0.1143, -4.0247]], 85),
    ("ConditionalTransformedDistribution(Normal(0.0, 1.0), bijectors.Exp()).sample(2, seed=1)", [0.4443, 4.4132], 65),
    ("ConditionalTransformedDistribution(Normal(0.0, 1.0), bijectors.Exp()).log_prob(2.0)", -1.8523, 64),
    ("ConditionalTransformedDistribution(Normal(0.0, 1.0), bijectors.Exp()).prob(2.0)", 0.1569, 66),
    ("ConditionalTransformedDistribution(Normal(0.0, 1.0), bijectors.Exp()).cdf(2.0)", 0.7559, 54),
    ("ConditionalTransformedDistribution(Normal(0.0, 1.0), bijectors.Exp()).survival_function(2.0)", 0.2441, 55),
    ("ConditionalTransformedDistribution(Normal(0.0, 1.0), bijectors.Exp()).log_cdf(2.0)", -0.2799, 112),
    ("ConditionalTransformedDistribution(Normal(0.0, 1.0), bijectors.Affine([1.0, 2.0], scale_diag=[2.0, 3.0]), event_shape=[2]).log_prob([2.0, 3.0])", -3.8102, 106),
    ("PoissonLogNormalQuadratureCompound([0.0, -0.5], 1.0, quadrature_size=3).sample(3, seed=1)", [[4.0, 2.0], [9.0, 3.0], [3.0, 3.0]], 353),
    ("PoissonLogNormalQuadratureCompound(0.0, 1.0, quadrature_size=3).sample(3, seed=1)", [4.0, 4.0, 9.0], 353),
    ("PoissonLogNormalQuadratureCompound([0.0, -0.5], 1.0, quadrature_size=3).log_prob(2.0)", [-1.6985, -1.3993], 325),
    ("PoissonLogNormalQuadratureCompound([0.0, -0.5], 1.0, quadrature_size=3).mean()", [3.5705, 2.0999], 315),
    ("PoissonLogNormalQuadratureCompound([0.0, -0.5], 1.0, quadrature_size=3).variance()", [6.8672, 2.5241], 346),
    ("PoissonLogNormalQuadratureCompound([0.0, -0.5], 1.0, quadrature_size=3).stddev()", [2.6205, 1.5887], 348),
    ("PoissonLogNormalQuadratureCompound([0.0, -0.5], 1.0, quadrature_size=3, quadrature_fn=quadrature_scheme_lognormal_gauss_hermite).log_prob(2.0)", [-2.0088, -2.3076], 49),
    ("PoissonLogNormalQuadratureCompound([0.0, -0.5], 1.0, quadrature_size=3).batch_shape_tensor()", [2.0], 300),
    ("PoissonLogNormalQuadratureCompound(0.0, 1.0, quadrature_size=3, validate_args=True).log_prob(2.0)", -1.6985, 372),
    ("quadrature_scheme_lognormal_quantiles([0.0, 1.0], 2.0, 3)", ([[0.3941, 1.1311, 3.5214], [1.0713, 3.0748, 9.5721]], [0.3333, 0.3333, 0.3333]), 292),
    ("auto_correlation([1.0, 3.0, 2.0, 4.0, 5.0])", [1.0, 0.125, 0.0, -0.5, -2.0], 57),
    ("auto_correlation([[1.0, 3.0, 2.0, 4.0, 5.0], [1.0, 2.0, 3.0, 5.0, 7.0]], max_lags=2, center=False, normalize=False)", [[11.0, 9.25, 8.0], [17.6, 14.5, 11.3333]], 50),
    ("auto_correlation([[1.0, 3.0, 2.0, 4.0, 5.0], [1.0, 2.0, 3.0, 5.0, 7.0]], axis=0)", [[NAN, 1.0, 1.0, 1.0, 1.0], [NAN, -1.0, -1.0, -1.0, -1.0]], 61),
    ("WishartCholesky(4.0, [[2.0, 0.0], [1.0, 1.0]], True).variance()", [[11.3137, 0.0], [4.2426, 3.7417]], 19),
    ("WishartCholesky(tf.constant([4.0, 5.0], tf.float64), tf.constant([[[2.0, 0.0], [1.0, 1.0]]]*2, tf.float64)).sample(3, seed=4)", [[[[9.6585, -0.4091], [-0.4091, 1.0148]], [[19.1968, 15.0994], [15.0994, 14.4201]]], [[[7.509, 6.3559], [6.3559, 6.2552]], [[41.9574, 20.4249], [20.4249, 12.9473]]], [[[28.733, 18.4143], [18.4143, 14.6172]], [[18.326, 0.6341], [0.6341, 5.6729]]]], 95),
    ("WishartCholesky(tf.constant([4.0, 5.0], tf.float64), tf.constant([[[2.0, 0.0], [1.0, 1.0]]]*2, tf.float64)).log_prob(tf.constant([[[[2.0, 1.0], [1.0, 3.0]]]*2]*3, tf.float64))", [[-6.692, -7.6791], [-6.692, -7.6791], [-6.692, -7.6791]], 106),
    ("BatchReshape(MultivariateNormalDiag([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]), [1, 2, 1]).covariance()", [[[[[1.0, 0.0], [0.0, 4.0]]], [[[9.0, 0.0], [0.0, 16.0]]]]], 54),
    ("BatchReshape(Normal([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2.0), [2, -1]).log_prob([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])", [[-1.6121, -1.6121, -1.6121], [-2.7371, -2.7371, -2.7371]], 43),
    ("BatchReshape(Normal([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2.0), [2, -1]).cdf(tf.placeholder_with_default([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], None))", [[0.5, 0.5, 0.5], [0.0668, 0.0668, 0.0668]], 72),
    ("BatchReshape(MultivariateNormalDiag([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]), [1, 2, 1]).log_prob([[[[1.0, 2.0]], [[2.0, 3.0]]]])", [[[-2.531], [-4.4096]]], 125),
    ("BatchReshape(Normal([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2.0), tf.placeholder_with_default([2, 3], None)).mean()", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], 32),
    ("BatchReshape(Normal([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2.0), tf.placeholder_with_default([2, 3], None), validate_args=True).log_prob(tf.zeros([2, 3]))", [[-1.7371, -2.1121, -2.7371], [-3.6121, -4.7371, -6.1121]], 161),
    ("SinhArcsinh([1.0, 2.0], [3.0, 4.0], skewness=0.5).log_prob([1.0, 1.5])", [-2.0332, -2.3512], 140),
    ("quadrature_scheme_softmaxnormal_quantiles([[0.0], [1.0]], [[2.0], [1.0]], 3)", ([[[0.2663, 0.5, 0.7337], [0.7337, 0.5, 0.2663]], [[0.609, 0.7282, 0.8205], [0.391, 0.2718, 0.1795]]], [0.3333, 0.3333, 0.3333]), 271),
    ("quadrature_scheme_softmaxnormal_quantiles([0.0], [1.0], 2)", ([[0.4187, 0.5813], [0.5813, 0.4187]], [0.5, 0.5]), 271),
    ("quadrature_scheme_lognormal_gauss_hermite(tf.constant([0.0, 1.0]), tf.constant(2.0), 3)", ([[-3.4641, 0.0, 3.4641], [-2.4641, 1.0, 4.4641]], [0.1667, 0.6667, 0.1667]), 16),
    ("bijectors.SoftmaxCentered().forward([[1.0, 2.0], [2.0, 3.0]])", [[0.2447, 0.6652, 0.09], [0.2595, 0.7054, 0.0351]], 10),
    ("bijectors.SoftmaxCentered().inverse([0.2, 0.3, 0.5])", [-0.9163, -0.5108], 16),
    ("bijectors.SoftmaxCentered().inverse_log_det_jacobian([0.2, 0.3, 0.5], event_ndims=1)", 3.5066, 21),
    ("bijectors.SoftmaxCentered().forward_log_det_jacobian([0.2, 0.3], event_ndims=1)", -3.3188, 38),
    ("SinhArcsinh([1.0, 2.0], 3.0, tailweight=2.0).sample(2, seed=1)", [[-0.4017, 5.5653], [1.0878, -6.6502]], 85),
]
# fmt: on


@pytest.mark.parametrize(("expression", "wanted", "nodes"), CASES, ids=[case[0] for case in CASES])
def test_value_and_graph(expression, wanted, nodes):
    with tf.Graph().as_default() as graph:
        result = eval(expression, {**vars(ds), "tf": tf, "ds": ds})
        assert len(graph.as_graph_def().node) == nodes
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            found = sess.run(result)
    if not isinstance(result, tuple):
        found, wanted = [found], [wanted]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


def test_errors():
    with pytest.raises(ValueError, match="cannot be less than dimension"):
        ds.WishartFull(1.0, [[2.0, 1.0], [1.0, 3.0]])
    with pytest.raises(ValueError, match="does not make sense"):
        ds.WishartCholesky(4.0, [[2.0, 0.0], [1.0, 1.0]], True).stddev()
    normal = ds.Normal([1.0, 2.0, 3.0, 4.0], 1.0)
    with pytest.raises(ValueError, match="must match"):
        ds.BatchReshape(normal, [3, 2])
    with pytest.raises(ValueError, match="must be a vector"):
        ds.BatchReshape(normal, [[2, 2]])
    with pytest.raises(NotImplementedError, match="Broadcasting is not supported"):
        ds.BatchReshape(normal, [2, 2]).log_prob(1.0)
    with pytest.raises(NotImplementedError, match="only bimixtures"):
        ds.quadrature_scheme_softmaxnormal_quantiles([0.0, 1.0], [2.0, 1.0], 3)
    with pytest.raises(TypeError, match="Normal"):
        ds.normal_conjugates_known_scale_posterior(3, 3.0, s=10.0, n=5)


def test_conjugate_normals():
    with tf.Graph().as_default(), tf.Session() as sess:
        prior = ds.Normal(1.0, 2.0)
        posterior = ds.normal_conjugates_known_scale_posterior(prior, 3.0, s=tf.constant(10.0), n=5)
        predictive = ds.normal_conjugates_known_scale_predictive(prior, 3.0, s=tf.constant(10.0), n=5)
        found = sess.run([posterior.mean(), posterior.stddev(), predictive.mean(), predictive.stddev()])
    np.testing.assert_allclose(found, [1.6897, 1.1142, 1.6897, 3.2002], rtol=1e-4)


def test_conditions_reach_both_parts():
    class Shifted(ds.ConditionalDistribution):
        def __init__(self):
            super().__init__(tf.float32, ds.NOT_REPARAMETERIZED, False, True)

        def _log_prob(self, x, by=0.0):
            return x - by

    with tf.Session() as sess:
        assert sess.run(Shifted().log_prob(3.0, by=1.0)) == 2.0


def test_moving_statistics():
    with tf.Graph().as_default(), tf.Session() as sess:
        log_mean, mean, variance = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0]), tf.Variable([1.0, 1.0])
        exp_update = ds.assign_log_moving_mean_exp(log_mean, [0.5, 0.3], 0.9)
        update = ds.assign_moving_mean_variance(mean, variance, [0.5, 0.3], 0.9)
        followed = ds.moving_mean_variance(tf.constant([0.5, 0.3]), 0.9)
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(sess.run(exp_update), [0.9599, 1.9147], rtol=1e-3)
        found = sess.run(update)
        np.testing.assert_allclose(sess.run(followed[0]), [0.05, 0.03], rtol=1e-5)
    np.testing.assert_allclose(found[0], [0.95, 1.83], rtol=1e-5)
    np.testing.assert_allclose(found[1], [0.9225, 1.1601], rtol=1e-4)


def test_head_for_distributions():
    def normal(logits):
        return ds.Normal(logits[:, 0], tf.nn.softplus(logits[:, 1]))

    head = ds.estimator_head_distribution_regression(normal, logits_dimension=2)
    with tf.Graph().as_default(), tf.Session() as sess:
        logits = tf.constant([[1.0, 2.0], [2.0, 3.0]])
        made = head.create_model_fn_ops(
            {}, labels=tf.constant([[1.0], [3.0]]), mode="train", train_op_fn=lambda loss: tf.no_op(), logits=logits
        )
        loss, predictions = sess.run([made.loss, made.predictions])
    assert head.logits_dimension == 2 and list(head.distributions) == [logits]
    np.testing.assert_allclose(loss, 1.880517, rtol=1e-5)
    np.testing.assert_allclose(predictions["scores"], [1.0, 2.0])


def test_the_absolute_value_keeps_volume_on_both_sides_and_says_nothing_forward():
    bijector = tf.contrib.distributions.bijectors.AbsoluteValue()
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        with pytest.raises(NotImplementedError):
            bijector.forward_log_det_jacobian([0.5], event_ndims=1)
        assert not graph.get_operations()
        assert sess.run(bijector.inverse_log_det_jacobian([0.5, 1.0], event_ndims=1)) == (0.0, 0.0)
