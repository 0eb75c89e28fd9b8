"""tf.contrib.distributions and its bijectors: seeded draws, densities and maps as TensorFlow 1.15.5 gives them."""

import numpy as np
import pytest

import everflow as tf

ds = tf.contrib.distributions
NAN, INF = float("nan"), float("inf")

# fmt: off
VALUES = [
    ("Logistic([1.0, 2.0], 3.0).sample(2, seed=1)", [[-2.47389, 9.34336], [-7.80111, 1.94893]]),
    ("Logistic(1.0, 3.0).log_prob([0.0, 1.0])", [-2.51256, -2.48491]),
    ("Logistic(1.0, 3.0).log_survival_function(4.0)", -1.31326),
    ("Cauchy([1.0, 2.0], 3.0).sample(2, seed=1)", [[-2.2141, 13.7454], [-17.7459, 1.95989]]),
    ("Cauchy(1.0, 3.0).log_prob([0.0, 1.0])", [-2.3487, -2.24334]),
    ("Cauchy(1.0, 3.0).quantile(0.4)", 0.025241),
    ("HalfNormal([1.0, 2.0]).sample(2, seed=1)", [[0.811318, 2.9692], [0.0653294, 4.88541]]),
    ("HalfNormal(2.0).prob([-1.0, 1.0])", [0.0, 0.352065]),
    ("HalfNormal(2.0).quantile(0.4)", 1.0488),
    ("InverseGamma([3.0, 2.0], 3.0).sample(2, seed=1)", [[1.40795, 3.45889], [1.78962, 2.66189]]),
    ("InverseGamma([3.0, 2.0], 3.0).log_prob(1.0)", [-0.39731, -0.802775]),
    ("InverseGamma([3.0, 2.0], 3.0).variance()", [2.25, NAN]),
    ("Chi2([3.0, 2.0]).sample(2, seed=1)", [[1.65083, 1.49506], [1.12121, 0.959372]]),
    ("Chi2(3.0).log_prob(1.0)", -1.41894),
    ("Poisson([3.0, 2.0]).sample(2, seed=1)", [[5.0, 6.0], [4.0, 6.0]]),
    ("Poisson(log_rate=1.0).log_prob([0.0, 2.0])", [-2.71828, -1.41143]),
    ("Poisson(3.0).cdf(2.0)", 0.42319),
    ("Binomial(3.0, probs=0.3).log_prob([0.0, 1.0, 3.0])", [-1.07002, -0.81871, -3.61192]),
    ("Binomial(3.0, probs=0.3).cdf([0.0, 1.0, 3.0])", [0.343, 0.784, 1.0]),
    ("Geometric(probs=[0.3, 0.5]).sample(2, seed=1)", [[4.0, 0.0], [8.0, 1.0]]),
    ("Geometric(probs=0.3).log_prob([0.0, 2.0])", [-1.20397, -1.91732]),
    ("Geometric(probs=0.3).entropy()", 2.03621),
    ("NegativeBinomial([3.0, 2.0], probs=0.3).sample(2, seed=1)", [[1.0, 0.0], [0.0, 0.0]]),
    ("NegativeBinomial(3.0, probs=0.3).log_prob([0.0, 2.0])", [-1.07002, -1.68621]),
    ("NegativeBinomial(3.0, probs=0.3).cdf(2.0)", 0.83692),
    ("Deterministic([3.0, 2.0]).log_prob(3.0)", [0.0, -INF]),
    ("Deterministic([3.0, 2.0]).cdf(2.5)", [0.0, 1.0]),
    ("VectorDeterministic([3.0, 2.0]).prob([[3.0, 2.0], [1.0, 2.0]])", [1.0, 0.0]),
    ("OneHotCategorical(logits=[1.0, 2.0, 3.0]).sample(3, seed=1)", [[0, 0, 1], [0, 0, 1], [0, 0, 1]]),
    ("OneHotCategorical(logits=[1.0, 2.0, 3.0]).log_prob([0, 0, 1])", -0.407606),
    ("OneHotCategorical(probs=[0.2, 0.3, 0.5]).entropy()", 1.02965),
    ("ExpRelaxedOneHotCategorical(0.5, logits=[1.0, 2.0, 3.0]).sample(2, seed=1)", [[-7.70217, -0.00613935, -5.17279], [-4.75105, -0.026609, -4.03898]]),
    ("RelaxedOneHotCategorical(0.5, logits=[1.0, 2.0, 3.0]).sample(2, seed=1)", [[0.000451844, 0.993879, 0.0056687], [0.00864264, 0.973742, 0.0176155]]),
    ("RelaxedOneHotCategorical(0.5, logits=[1.0, 2.0, 3.0]).log_prob([0.2, 0.3, 0.5])", -1.04529),
    ("RelaxedBernoulli(0.5, probs=[0.2, 0.7]).sample(2, seed=1)", [[0.00612936, 0.998628], [0.000176857, 0.840312]]),
    ("RelaxedBernoulli(0.5, probs=[0.2, 0.7]).log_prob(0.3)", [-0.742037, -0.89805]),
    ("Independent(Normal([[1.0, 2.0, 3.0]], 2.0), reinterpreted_batch_ndims=1).log_prob([1.0, 2.0, 4.0])", [-4.96126]),
    ("Mixture(Categorical(probs=[0.3, 0.7]), [Normal(1.0, 2.0), Normal(-3.0, 1.0)]).sample(4, seed=2)", [-3.25641, -2.36242, -4.70413, -1.62946]),
    ("Mixture(Categorical(probs=[0.3, 0.7]), [Normal(1.0, 2.0), Normal(-3.0, 1.0)]).log_prob(0.5)", -2.83683),
    ("Mixture(Categorical(probs=[0.3, 0.7]), [Normal(1.0, 2.0), Normal(-3.0, 1.0)]).variance()", 5.26),
    ("MixtureSameFamily(Categorical(probs=[0.3, 0.7]), Normal([1.0, -3.0], [2.0, 1.0])).log_prob([0.5, 1.0])", [-2.83683, -2.81449]),
    ("MixtureSameFamily(Categorical(probs=[0.3, 0.7]), Normal([1.0, -3.0], [2.0, 1.0])).variance()", 5.26),
    ("MultivariateNormalDiag([1.0, 2.0], [3.0, 4.0]).sample(2, seed=1)", [[-1.43395, 7.9384], [1.19599, -7.77082]]),
    ("MultivariateNormalDiag([1.0, 2.0], [3.0, 4.0]).log_prob([[1.0, 3.0], [0.0, 0.0]])", [-4.35403, -4.50334]),
    ("MultivariateNormalDiag([[1.0, 2.0], [3.0, 4.0]], scale_identity_multiplier=2.0).entropy()", [4.22417, 4.22417]),
    ("MultivariateNormalTriL([1.0, 2.0], [[1.0, 0.0], [2.0, 3.0]]).sample(2, seed=1)", [[0.188682, 4.83116], [1.06533, -5.19745]]),
    ("MultivariateNormalTriL([1.0, 2.0], [[1.0, 0.0], [2.0, 3.0]]).log_prob([1.0, 3.0])", -2.99204),
    ("MultivariateNormalTriL([1.0, 2.0], [[1.0, 0.0], [2.0, 3.0]]).covariance()", [[1.0, 2.0], [2.0, 13.0]]),
    ("MultivariateNormalFullCovariance([1.0, 2.0], [[2.0, 1.0], [1.0, 3.0]]).sample(2, seed=1)", [[-0.147377, 3.77367], [1.09239, -1.81606]]),
    ("MultivariateNormalDiagPlusLowRank([1.0, 2.0], [3.0, 4.0], scale_perturb_factor=[[1.0], [2.0]]).log_prob([1.0, 3.0])", -5.18284),
    ("kl_divergence(MultivariateNormalDiag([1.0, 2.0], [3.0, 4.0]), MultivariateNormalTriL([1.0, 2.0], [[1.0, 0.0], [2.0, 3.0]]))", 5.00259),
    ("TransformedDistribution(Normal([0.0, 0.5], 1.0), bijectors.Exp()).sample(2, seed=1)", [[0.444272, 7.27613], [1.06751, 0.143316]]),
    ("TransformedDistribution(Normal([0.0, 0.5], 1.0), bijectors.Exp()).log_prob(2.0)", [-1.85231, -1.63074]),
    ("TransformedDistribution(Normal([0.0, 0.5], 1.0), bijectors.Exp()).quantile(0.3)", [0.59191, 0.975895]),
    ("TransformedDistribution(Normal(0.0, 1.0), bijectors.Affine([1.0, 2.0], scale_tril=[[1.0, 0.0], [2.0, 3.0]]), event_shape=[2]).log_prob([1.0, 2.0])", -2.93649),
    ("TransformedDistribution(Normal(0.0, 1.0), bijectors.AffineScalar(1.0, 2.0)).entropy()", 2.11209),
    ("softplus_inverse([1e-8, 1.0, 50.0])", [-18.4207, 0.541325, 50.0]),
    ("fill_triangular([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])", [[4.0, 0.0, 0.0], [6.0, 5.0, 0.0], [3.0, 2.0, 1.0]]),
    ("fill_triangular([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], upper=True)", [[1.0, 2.0, 3.0], [0.0, 5.0, 6.0], [0.0, 0.0, 4.0]]),
    ("fill_triangular_inverse([[1.0, 0.0], [2.0, 3.0]])", [3.0, 2.0, 1.0]),
    ("tridiag([1.0], [2.0, 3.0], [4.0])", [[2.0, 4.0], [1.0, 3.0]]),
    ("reduce_weighted_logsumexp([1.0, 2.0], [0.3, 0.7])", 1.78973),
    ("percentile([[1.0, 5.0, 3.0], [2.0, 8.0, 7.0]], 50.0, axis=[1])", [3.0, 7.0]),
    ("percentile([[1.0, 2.0, 7.0], [3.0, 4.0, 9.0]], 30.0)", 2.0),
    ("percentile([[1.0, 2.0, 7.0], [3.0, 4.0, 9.0]], 30, interpolation='higher', keep_dims=True)", [[3.0]]),
    ("percentile(tf.placeholder_with_default([[1.0, 2.0], [3.0, 4.0]], None), 30.0, keep_dims=True)", [[2.0]]),
]

# A bijector, what it makes of [0.1, 0.3, 0.6], and how much it stretches that vector.
BIJECTORS = [
    ("Exp()", [1.10517, 1.34986, 1.82212], 1.0),
    ("AffineScalar(1.0, 2.0)", [1.2, 1.6, 2.2], 2.07944),
    ("Affine(shift=[1.0, 2.0, 3.0], scale_diag=[3.0, 4.0, 5.0])", [1.3, 3.2, 6.0], 4.09434),
    ("Affine(scale_tril=[[1.0, 0.0, 0.0], [2.0, 3.0, 0.0], [1.0, 1.0, 2.0]])", [0.1, 1.1, 1.6], 1.79176),
    ("Affine(scale_identity_multiplier=2.0)", [0.2, 0.6, 1.2], 2.07944),
    ("Chain([Exp(), AffineScalar(1.0, 2.0)])", [3.32012, 4.95303, 9.02501], 7.07944),
    ("Invert(Exp())", [-2.30259, -1.20397, -0.510826], 4.01738),
    ("Sigmoid()", [0.524979, 0.574443, 0.645656], -4.27248),
    ("Softplus()", [0.744397, 0.854355, 1.03749], -1.63624),
    ("Softplus(hinge_softness=2.0)", [1.43692, 1.54191, 1.70871], -1.84377),
    ("Softsign()", [0.0909091, 0.230769, 0.375], -1.65536),
    ("Square()", [0.01, 0.09, 0.36], -1.93794),
    ("SinhArcsinh(skewness=0.5, tailweight=2.0)", [1.50886, 2.35335, 4.18078], 4.8682),
    ("Gumbel(1.0, 2.0)", [0.208397, 0.24194, 0.294816], -5.28822),
    ("PowerTransform(0.5)", [1.1025, 1.3225, 1.69], 0.450916),
    ("Permute([2, 0, 1])", [0.6, 0.1, 0.3], 0.0),
    ("SoftmaxCentered()", [0.209426, 0.255793, 0.345285, 0.189496], -5.65354),
    ("Ordered()", [0.1, -1.60944, -1.20397], 2.81341),
    ("ScaleTriL()", [[1.0375, 0.0], [0.3, 0.744407]], -1.08188),
    ("Identity()", [0.1, 0.3, 0.6], -0.0),
]
# fmt: on


@pytest.mark.parametrize(("expression", "wanted"), VALUES, ids=[expression for expression, _ in VALUES])
def test_value(expression, wanted):
    with tf.Graph().as_default(), tf.Session() as sess:
        found = sess.run(eval(expression, {**vars(ds), "tf": tf}))
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("expression", "mapped", "stretched"), BIJECTORS, ids=[row[0] for row in BIJECTORS])
def test_bijector(expression, mapped, stretched):
    with tf.Graph().as_default(), tf.Session() as sess:
        bijector = eval(expression, dict(vars(ds.bijectors)))
        x = tf.constant([0.1, 0.3, 0.6])
        y = bijector.forward(x)
        assert bijector.inverse(y) is x
        ndims = max(1, bijector.inverse_min_event_ndims - bijector.forward_min_event_ndims + 1)
        fresh = tf.constant(mapped)
        back, there, again = sess.run(
            [
                bijector.inverse(fresh),
                bijector.forward_log_det_jacobian(x, 1),
                bijector.inverse_log_det_jacobian(fresh, ndims),
            ]
        )
        np.testing.assert_allclose(sess.run(y), mapped, rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(back, [0.1, 0.3, 0.6], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(there, stretched, rtol=2e-4, atol=1e-5)
    np.testing.assert_allclose(again, -np.array(stretched), rtol=1e-3, atol=1e-4)


def test_shapes_known_only_when_run():
    with tf.Graph().as_default(), tf.Session() as sess:
        loc, scale = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 2])
        d = ds.MultivariateNormalDiag(loc, scale)
        assert d.batch_shape.as_list() == [None] and d.event_shape.as_list() == [2]
        x = d.sample(3)
        feeds = {loc: np.zeros([4, 2]), scale: np.ones([4, 2])}
        drawn, densities = sess.run([x, d.log_prob(x)], feeds)
        assert drawn.shape == (3, 4, 2)
        np.testing.assert_allclose(densities, -0.5 * (drawn**2).sum(-1) - np.log(2 * np.pi), rtol=1e-4)
        (gradient,) = tf.gradients(d.log_prob([1.0, 2.0]), loc)
        np.testing.assert_allclose(sess.run(gradient, feeds), [[1.0, 2.0]] * 4)


def test_reshape_and_inline():
    with tf.Graph().as_default(), tf.Session() as sess:
        reshape = ds.bijectors.Reshape(event_shape_out=[2, -1], event_shape_in=[4])
        assert reshape.forward(np.zeros([3, 4], np.float32)).shape.as_list() == [3, 2, 2]
        assert reshape.forward_event_shape([4]).as_list() == [2, 2]
        assert sess.run(reshape.inverse_event_shape_tensor([2, 2])).tolist() == [4]
        double = ds.bijectors.Inline(
            forward_fn=lambda x: 2.0 * x,
            inverse_fn=lambda y: y / 2.0,
            inverse_log_det_jacobian_fn=lambda y: -tf.log(2.0),
            forward_min_event_ndims=0,
        )
        doubled = ds.TransformedDistribution(ds.Normal(0.0, 1.0), double)
        wanted = ds.Normal(0.0, 2.0)
        np.testing.assert_allclose(*sess.run([doubled.log_prob(1.5), wanted.log_prob(1.5)]), rtol=1e-6)


def test_wrong_arguments():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="not scalar"):
            ds.TransformedDistribution(ds.Normal([0.0, 1.0], 1.0), ds.bijectors.Exp(), batch_shape=[2])
        with pytest.raises(ValueError, match="scale"):
            ds.multivariate_normal.MultivariateNormalLinearOperator([1.0])
        with pytest.raises(ValueError, match="len"):
            ds.Mixture(ds.Categorical(probs=[0.3, 0.7]), [ds.Normal(0.0, 1.0)])
        with pytest.raises(ValueError, match="exactly one"):
            ds.Poisson(rate=1.0, log_rate=0.0)
        with pytest.raises(ValueError, match="event_ndims"):
            ds.bijectors.Affine(scale_diag=[1.0, 2.0]).forward_log_det_jacobian([1.0, 2.0], 0)


def test_seed_stream():
    stream = ds.SeedStream(3, "salt")
    first, second = stream(), stream()
    assert str(first).startswith("82659524798456372070") and first != second
    assert ds.SeedStream(None, "salt")() is None


def test_autoregressive_flow():
    def shift_and_log_scale(y):
        before = tf.concat([tf.zeros_like(y[..., :1]), y[..., :-1]], -1)
        return 0.5 * before, 0.1 * before

    with tf.Graph().as_default(), tf.Session() as sess:
        for unrolled in (False, True):
            flow = ds.bijectors.MaskedAutoregressiveFlow(shift_and_log_scale, unroll_loop=unrolled)
            x = tf.constant([[0.5, 1.0, 2.0]])
            y = flow.forward(x)
            y1 = 1.0 * np.exp(0.05) + 0.25
            np.testing.assert_allclose(sess.run(y), [[0.5, y1, 2.0 * np.exp(0.1 * y1) + 0.5 * y1]], rtol=1e-5)
            np.testing.assert_allclose(sess.run(flow.inverse(tf.identity(y))), [[0.5, 1.0, 2.0]], rtol=1e-5)
            np.testing.assert_allclose(sess.run(flow.forward_log_det_jacobian(x, 1)), [0.05 + 0.1 * y1], rtol=1e-5)


def test_networks_of_flows():
    with tf.Graph().as_default(), tf.Session() as sess:
        b = ds.bijectors
        maf = b.MaskedAutoregressiveFlow(b.masked_autoregressive_default_template([4]))
        nvp = b.RealNVP(1, b.real_nvp_default_template([4]))
        flowing = ds.TransformedDistribution(
            ds.Normal(0.0, 1.0), b.Chain([maf, b.Permute([1, 0]), nvp]), event_shape=[2]
        )
        y = flowing.sample(5, seed=1)
        names = {v.op.name for v in tf.trainable_variables()}
        assert names == {
            *(
                f"masked_autoregressive_default_template/dense{i}/{kind}"
                for i in ("", "_1")
                for kind in ("kernel", "bias")
            ),
            *(f"real_nvp_default_template/dense{i}/{kind}" for i in ("", "_1") for kind in ("kernel", "bias")),
        }
        assert all(
            gradient is not None
            for gradient in tf.gradients(flowing.log_prob(np.ones([3, 2], np.float32)), tf.trainable_variables())
        )
        sess.run(tf.global_variables_initializer())
        known, again = sess.run([flowing.log_prob(y), flowing.log_prob(tf.identity(y))])
        np.testing.assert_allclose(known, again, rtol=1e-3, atol=1e-4)


def test_transformed_kinds():
    with tf.Graph().as_default(), tf.Session() as sess:
        k = ds.Kumaraswamy([1.5, 2.0], 3.0)
        x = np.array([0.3, 0.6], np.float32)
        density = np.array([1.5, 2.0]) * 3.0 * x ** np.array([0.5, 1.0]) * (1 - x ** np.array([1.5, 2.0])) ** 2
        np.testing.assert_allclose(sess.run(k.prob(x)), density, rtol=1e-4)
        plain = ds.SinhArcsinh(1.0, 3.0)
        np.testing.assert_allclose(*sess.run([plain.log_prob(x), ds.Normal(1.0, 3.0).log_prob(x)]), rtol=1e-4)
        whole = ds.QuantizedDistribution(ds.Normal(0.0, 2.0), low=-3.0, high=3.0)
        np.testing.assert_allclose(
            sess.run(tf.reduce_sum(whole.prob(np.arange(-3, 4, dtype=np.float32)))), 1.0, rtol=1e-5
        )
        assert set(np.unique(sess.run(whole.sample(200, seed=1)))) <= set(range(-3, 4))


def test_percentile_refuses_what_is_no_percentage():
    percentile = tf.contrib.distributions.percentile
    with pytest.raises(ValueError, match="'q' to have ndims 0"):
        percentile([1.0, 2.0], [30.0, 40.0])
    with pytest.raises(ValueError, match="'axis' to have ndims <= 1"):
        percentile([1.0, 2.0], 30.0, axis=[[0]])
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="x <= y did not hold"):
        sess.run(percentile([1.0, 2.0], 140.0, validate_args=True))
