"""tf.distributions: seeded draws, densities and statistics as TensorFlow 1.15.5 gives them, shapes, checks and
divergences of one's own.
"""

import numpy as np
import pytest

import everflow as tf

NAN, INF = float("nan"), float("inf")

# fmt: off
VALUES = [
    ("Normal(0.5, [1.0, 2.0]).sample(2, seed=1)", [[-0.311318, 3.4692], [0.565329, -4.38541]]),
    ("Normal(0.5, [1.0, 2.0]).log_prob(2)", [-2.04394, -1.89334]),
    ("Normal(0.0, 1.0).cdf([-12.0, -1.0, 6.0])", [1.77649e-33, 0.158655, 1.0]),
    ("Normal(0.0, 1.0).log_cdf([-12.0, -1.0, 6.0])", [-75.4107, -1.84102, -9.86589e-10]),
    ("Normal(0.0, 1.0).log_survival_function([-12.0, 1.0, 12.0])", [-1.77649e-33, -1.84102, -75.4107]),
    ("Normal(1.0, 2.0).quantile([0.0, 1e-20, 0.001, 0.4, 0.99, 1.0])", [-INF, -17.5247, -5.18047, 0.493306, 5.6527, INF]),
    ("Normal(0.5, [1.0, 2.0]).entropy()", [1.41894, 2.11209]),
    ("Laplace(0.5, [1.0, 2.0]).sample(2, seed=1)", [[-0.237988, 4.17518], [-1.79239, 0.482905]]),
    ("Laplace(0.5, [1.0, 2.0]).log_prob([1.0, -1.0])", [-1.19315, -2.13629]),
    ("Laplace(0.5, 2.0).log_cdf([-30.0, 1.0])", [-15.9431, -0.493314]),
    ("Laplace(0.5, 2.0).entropy()", 2.38629),
    ("Exponential([2.0, 3.0]).log_survival_function(1.5)", [-3.0, -4.5]),
    ("StudentT(3.0, 0.5, [1.0, 2.0]).sample(2, seed=1)", [[-0.564662, 4.36989], [0.551493, -20.142]]),
    ("StudentT(3.0, 0.5, [1.0, 2.0]).log_prob(1.0)", [-1.16097, -1.73527]),
    ("StudentT(3.0, 0.5, 1.0).cdf([-1.0, 1.0])", [0.115292, 0.674276]),
    ("StudentT([1.0, 2.0, 3.0], 0.5, 1.0).variance()", [NAN, INF, 3.0]),
    ("StudentT([1.0, 2.0, 3.0], 0.5, 1.0).mean()", [NAN, 0.5, 0.5]),
    ("Uniform([1.0, 2.0], 5.0).sample(2, seed=1)", [[1.95615, 4.7612], [1.20205, 3.48723]]),
    ("Uniform(1.0, 5.0).log_prob([0.0, 1.0, 5.0])", [-INF, -1.38629, -INF]),
    ("Uniform(1.0, 5.0).survival_function([0.0, 2.0, 6.0])", [1.0, 0.75, 0.0]),
    ("Uniform(1.0, 5.0).stddev()", 1.1547),
    ("Gamma([1.0, 2.0], 3.0).sample(2, seed=1)", [[0.172561, 0.28911], [0.232884, 0.375673]]),
    ("Gamma([1.0, 2.0], 3.0).log_prob(0.5)", [-0.401388, 0.00407743]),
    ("Gamma([1.0, 2.0], 3.0).cdf(0.5)", [0.77687, 0.442175]),
    ("Gamma([1.0, 2.0], 3.0).mode()", [NAN, 0.333333]),
    ("Gamma([1.0, 2.0], 3.0).entropy()", [-0.0986123, 0.478603]),
    ("Exponential([1.0, 2.0]).sample(2, seed=1)", [[1.43114, 0.0414737], [2.98554, 0.350847]]),
    ("Exponential([1.0, 2.0]).prob(0.5)", [0.606531, 0.735759]),
    ("Beta([1.0, 2.0], 3.0).sample(2, seed=1)", [[0.169928, 0.211583], [0.604995, 0.202652]]),
    ("Beta([1.0, 2.0], 3.0).log_prob(0.25)", [0.523248, 0.523248]),
    ("Beta([1.0, 2.0], 3.0).mode()", [NAN, 0.333333]),
    ("Dirichlet([1.0, 2.0, 3.0]).sample(2, seed=1)", [[0.150293, 0.251802, 0.597905], [0.12511, 0.201818, 0.673072]]),
    ("Dirichlet([1.0, 2.0, 3.0]).log_prob([0.2, 0.2, 0.6])", 1.46326),
    ("Dirichlet([1.0, 2.0, 3.0]).covariance()", [[0.0198413, -0.00793651, -0.0119048], [-0.00793651, 0.031746, -0.0238095], [-0.0119048, -0.0238095, 0.0357143]]),
    ("Dirichlet([1.0, 2.0, 3.0]).entropy()", -1.24434),
    ("Bernoulli(probs=[0.2, 0.7]).sample(4, seed=1)", [[0, 0], [1, 1], [0, 1], [1, 1]]),
    ("Bernoulli(logits=[0.2, 0.7]).log_prob([[0], [1]])", [[-0.798139, -1.10319], [-0.598139, -0.403186]]),
    ("Bernoulli(logits=[-0.2, 0.7]).mode()", [0, 1]),
    ("Bernoulli(logits=[-0.2, 0.7]).entropy()", [0.688172, 0.635455]),
    ("Categorical(probs=[[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]]).sample(3, seed=1)", [[2, 1], [2, 0], [2, 0]]),
    ("Categorical(logits=[0.1, 0.2, 0.7]).log_prob([0, 2])", [-1.36795, -0.76795]),
    ("Categorical(probs=[0.1, 0.2, 0.7]).cdf([0, 1, 2])", [0.0, 0.1, 0.3]),
    ("Categorical(probs=[0.1, 0.2, 0.7]).entropy()", 0.801819),
    ("Multinomial(4.0, probs=[0.1, 0.2, 0.7]).sample(2, seed=1)", [[0.0, 0.0, 4.0], [0.0, 3.0, 1.0]]),
    ("Multinomial(4.0, probs=[0.1, 0.2, 0.7]).log_prob([1.0, 2.0, 1.0])", -3.39323),
    ("Multinomial(4.0, probs=[0.1, 0.2, 0.7]).covariance()", [[0.36, -0.08, -0.28], [-0.08, 0.64, -0.56], [-0.28, -0.56, 0.84]]),
    ("DirichletMultinomial(4.0, [1.0, 2.0, 3.0]).sample(2, seed=1)", [[0.0, 3.0, 1.0], [1.0, 0.0, 3.0]]),
    ("DirichletMultinomial(4.0, [1.0, 2.0, 3.0]).log_prob([1.0, 2.0, 1.0])", -2.63906),
    ("DirichletMultinomial(4.0, [1.0, 2.0, 3.0]).variance()", [0.793651, 1.26984, 1.42857]),
    ("kl_divergence(Normal(0.0, 1.0), Normal(1.0, 2.0))", 0.443147),
    ("kl_divergence(Gamma(1.0, 2.0), Gamma(2.0, 3.0))", 0.266286),
    ("kl_divergence(Beta(1.0, 2.0), Beta(2.0, 3.0))", 0.208241),
    ("kl_divergence(Dirichlet([1.0, 2.0]), Dirichlet([2.0, 3.0]))", 0.208241),
    ("kl_divergence(Bernoulli(probs=0.2), Bernoulli(logits=0.3))", 0.293953),
    ("kl_divergence(Categorical(probs=[0.2, 0.8]), Categorical(logits=[0.3, 0.1]))", 0.257736),
    ("Normal(0.0, 1.0).cross_entropy(Normal(1.0, 2.0))", 1.86209),
]
# fmt: on


@pytest.mark.parametrize(("expression", "wanted"), VALUES, ids=[expression for expression, _ in VALUES])
def test_value(expression, wanted):
    with tf.Graph().as_default(), tf.Session() as sess:
        names = {name: getattr(tf.distributions, name) for name in tf.distributions.__all__}
        found = sess.run(eval(expression, names))
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-6)


def test_shapes_of_samples():
    with tf.Graph().as_default(), tf.Session() as sess:
        d = tf.distributions.Dirichlet(np.ones([2, 3], np.float32))
        assert d.batch_shape.as_list() == [2] and d.event_shape.as_list() == [3]
        assert d.sample().shape.as_list() == [2, 3]
        assert d.sample([4, 5]).shape.as_list() == [4, 5, 2, 3]
        shape = tf.placeholder(tf.int32)
        assert sess.run(d.sample(shape), {shape: 4}).shape == (4, 2, 3)
        assert sess.run(d.sample(shape), {shape: [4, 1]}).shape == (4, 1, 2, 3)
        scalar = tf.distributions.Normal(0.0, 1.0)
        assert sess.run(
            [scalar.is_scalar_batch(), scalar.is_scalar_event(), d.is_scalar_batch(), d.is_scalar_event()]
        ) == [
            True,
            True,
            False,
            False,
        ]


def test_shapes_known_only_when_run():
    with tf.Graph().as_default(), tf.Session() as sess:
        loc = tf.placeholder(tf.float32)
        d = tf.distributions.Normal(loc, 1.0)
        assert d.batch_shape.ndims is None
        batch, scalar, samples = sess.run(
            [d.batch_shape_tensor(), d.is_scalar_batch(), d.sample(2)], {loc: np.zeros([3, 4])}
        )
        assert batch.tolist() == [3, 4] and not scalar and samples.shape == (2, 3, 4)


def test_parameters_are_checked_on_request():
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="x > 0"):
            tf.distributions.Normal(0.0, -1.0, validate_args=True)
        probs = tf.placeholder(tf.float32)
        d = tf.distributions.Bernoulli(probs=probs, validate_args=True)
        with pytest.raises(tf.errors.InvalidArgumentError, match="greater than 1"):
            sess.run(d.mean(), {probs: 1.5})
        with pytest.raises(tf.errors.InvalidArgumentError, match="cannot exceed 1"):
            d.log_prob(3)


def test_undefined_statistics_can_be_errors():
    with tf.Graph().as_default(), tf.Session() as sess:
        df = tf.placeholder(tf.float32)
        d = tf.distributions.StudentT(df, 0.0, 1.0, allow_nan_stats=False)
        assert sess.run(d.mean(), {df: 2.0}) == 0.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="mean not defined"):
            sess.run(d.mean(), {df: 1.0})


def test_gradients_flow_through_samples():
    with tf.Graph().as_default(), tf.Session() as sess:
        d = tf.distributions.Normal(tf.constant([1.0, 2.0]), 3.0)
        assert d.reparameterization_type is tf.distributions.FULLY_REPARAMETERIZED
        np.testing.assert_allclose(sess.run(tf.gradients(d.sample(4), d.loc)[0]), [4.0, 4.0])
        assert tf.gradients(tf.cast(tf.distributions.Bernoulli(probs=d.loc).sample(), tf.float32), d.loc) == [None]


def test_what_a_kind_lacks_is_said():
    with tf.Graph().as_default():
        with pytest.raises(NotImplementedError, match="cdf is not implemented: Bernoulli"):
            tf.distributions.Bernoulli(probs=0.5).cdf(1)
        with pytest.raises(NotImplementedError, match="No KL"):
            tf.distributions.kl_divergence(tf.distributions.Normal(0.0, 1.0), tf.distributions.Laplace(0.0, 1.0))
        with pytest.raises(ValueError, match="probs or logits"):
            tf.distributions.Categorical()


def test_a_distribution_of_ones_own():
    class Point(tf.distributions.Distribution):
        def __init__(self, at, name="Point"):
            self._at = tf.convert_to_tensor(at)
            super().__init__(
                tf.float32, tf.distributions.FULLY_REPARAMETERIZED, False, True, {"at": at}, [self._at], name
            )

        def _batch_shape(self):
            return tf.TensorShape([])

        def _event_shape(self):
            return tf.TensorShape([])

        def _sample_n(self, n, seed=None):
            return tf.fill([n], self._at)

        def _cdf(self, x):
            return tf.cast(x >= self._at, tf.float32)

    @tf.distributions.RegisterKL(Point, Point)
    def _kl(a, b, name=None):
        return tf.where(tf.equal(a._at, b._at), 0.0, np.float32(np.inf))

    with pytest.raises(ValueError, match="already"):
        tf.distributions.RegisterKL(Point, Point)(_kl)
    with tf.Graph().as_default(), tf.Session() as sess:
        point = Point(2.0)
        assert point.name == "Point/"
        assert sess.run([point.sample([2, 1]), point.survival_function(1.0), point.log_cdf(3.0)])[1:] == [1.0, 0.0]
        assert sess.run(point.kl_divergence(point.copy(at=3.0))) == np.inf


def test_a_dirichlet_multinomial_has_two_classes_at_least():
    with pytest.raises(ValueError):
        tf.distributions.DirichletMultinomial(2.0, [1.0], validate_args=True)


def test_what_is_made_of_another_distribution_copies_itself():
    copy = tf.distributions.Exponential([1.0, 2.0]).copy(name="second")
    assert copy.name.startswith("second") and sorted(copy.parameters) == [
        "allow_nan_stats",
        "name",
        "rate",
        "validate_args",
    ]
