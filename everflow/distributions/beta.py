"""The beta distribution over (0, 1), and the Dirichlet, which is the same over many classes."""

from __future__ import annotations

from everflow.distributions.checks import constructor_with, gen_new_seed, softplus_of
from everflow.distributions.distribution import FULLY_REPARAMETERIZED
from everflow.distributions.event_shapes import Scalar, Vector
from everflow.distributions.kullback_leibler import RegisterKL
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.checks.shapes import assert_rank_at_least, assert_same_float_dtype
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.random import distributions as random


def positive(concentration):
    """The concentration itself, once it is known to be positive."""
    checked = check.assert_positive(concentration, message="Concentration parameter must be positive.")
    return with_dependencies([checked], concentration)


class _TotalShaped:
    """Batches that have the shape of the total concentration."""

    total_concentration = property(lambda self: self._total_concentration, doc="The sum of the weights.")

    def _batch_shape_tensor(self):
        return array.shape(self.total_concentration)

    def _batch_shape(self):
        return self.total_concentration.shape


class Beta(_TotalShaped, Scalar):
    """The beta distribution, of density proportional to `x ** (concentration1 - 1) * (1 - x) ** (concentration0 - 1)`.

    Args:
        concentration1: The concentration of 1; 1 if None.
        concentration0: The concentration of 0; 1 if None.
        validate_args: Whether parameters and values are checked while the graph runs.
        allow_nan_stats: Whether a statistic that isn't defined is NaN rather than an error.
        name: What the operations' names start with.

    Example:
        >>> d = tf.distributions.Beta(2.0, 3.0)
        >>> sess.run([d.mean(), d.prob(0.5)])
        [np.float32(0.4), np.float32(1.5)]
    """

    _parameter_names = ("concentration1", "concentration0")

    def __init__(
        self, concentration1=None, concentration0=None, validate_args=False, allow_nan_stats=True, name="Beta"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            self._concentration1 = convert_to_tensor(concentration1, name="concentration1")
            self._concentration1 = positive(self._concentration1) if validate_args else self._concentration1
            self._concentration0 = convert_to_tensor(concentration0, name="concentration0")
            self._concentration0 = positive(self._concentration0) if validate_args else self._concentration0
            assert_same_float_dtype([self._concentration1, self._concentration0])
            self._total_concentration = self._concentration1 + self._concentration0
        parents = [self._concentration1, self._concentration0, self._total_concentration]
        self._begin(parameters, self._total_concentration.dtype, FULLY_REPARAMETERIZED, parents, name)

    concentration1 = property(lambda self: self._concentration1, doc="The weight of 1.")
    concentration0 = property(lambda self: self._concentration0, doc="The weight of 0.")

    def _sample_n(self, n, seed=None):
        first = array.ones_like(self.total_concentration, dtype=self.dtype) * self.concentration1
        second = array.ones_like(self.total_concentration, dtype=self.dtype) * self.concentration0
        gamma1 = random.random_gamma(shape=[n], alpha=first, dtype=self.dtype, seed=seed)
        gamma2 = random.random_gamma(shape=[n], alpha=second, dtype=self.dtype, seed=gen_new_seed(seed, "beta"))
        return gamma1 / (gamma1 + gamma2)

    def _log_prob(self, x):
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _cdf(self, x):
        return math.betainc(self.concentration1, self.concentration0, x)

    def _log_unnormalized_prob(self, x):
        x = self._checked(x)
        return math.xlogy(self.concentration1 - 1.0, x) + (self.concentration0 - 1.0) * math.log1p(-x)

    def _log_normalization(self):
        both = math.lgamma(self.concentration1) + math.lgamma(self.concentration0)
        return both - math.lgamma(self.total_concentration)

    def _entropy(self):
        a, b, total = self.concentration1, self.concentration0, self.total_concentration
        both = self._log_normalization() - (a - 1.0) * math.digamma(a) - (b - 1.0) * math.digamma(b)
        return both + (total - 2.0) * math.digamma(total)

    def _mean(self):
        return self._concentration1 / self._total_concentration

    def _variance(self):
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self):
        both = {"concentration1": self.concentration1, "concentration0": self.concentration0}
        return self._where_defined(
            (self.concentration1 - 1.0) / (self.total_concentration - 2.0),
            lambda: math.logical_and(self.concentration1 > 1.0, self.concentration0 > 1.0),
            lambda: [
                check.assert_less(array.ones([], dtype=self.dtype), x, message=f"Mode undefined for {name} <= 1.")
                for name, x in both.items()
            ],
        )

    def _checked(self, x):
        if not self.validate_args:
            return x
        above = check.assert_positive(x, message="sample must be positive")
        below = check.assert_less(x, array.ones([], self.dtype), message="sample must be less than `1`.")
        return with_dependencies([above, below], x)


class BetaWithSoftplusConcentration(Beta):
    """Beta with `softplus` of both its parameters."""

    __init__ = constructor_with(
        Beta, "BetaWithSoftplusConcentration", **softplus_of("concentration1", "concentration0")
    )


@RegisterKL(Beta, Beta)
def _kl_beta_beta(d1, d2, name=None):
    with name_scope(name, "kl_beta_beta", [d1.concentration1, d1.concentration0, d2.concentration1, d2.concentration0]):

        def delta(attribute):
            return getattr(d2, attribute) - getattr(d1, attribute)

        return (
            (d2._log_normalization() - d1._log_normalization())
            - math.digamma(d1.concentration1) * delta("concentration1")
            - math.digamma(d1.concentration0) * delta("concentration0")
            + math.digamma(d1.total_concentration) * delta("total_concentration")
        )


class Concentrations(_TotalShaped, Vector):
    """Base of distributions over classes, each with a concentration."""

    _shaped_like = "_concentration"

    concentration = property(lambda self: self._concentration, doc="The weights of the classes.")

    def _covariance(self):
        x = self._variance_scale_term() * self._mean()
        return array.matrix_set_diag(-math.matmul(x[..., None], x[..., None, :]), self._variance())


class Dirichlet(Concentrations):
    """The Dirichlet distribution: probabilities of classes, each the likelier the higher its concentration.

    Args:
        concentration: The concentrations, positive.
        validate_args: Whether parameters and values are checked while the graph runs.
        allow_nan_stats: Whether a statistic that isn't defined is NaN rather than an error.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.distributions.Dirichlet([1.0, 2.0, 1.0]).mean())
        array([0.25, 0.5 , 0.25], dtype=float32)
    """

    def __init__(self, concentration, validate_args=False, allow_nan_stats=True, name="Dirichlet"):
        parameters = dict(locals())
        with name_scope(name, values=[concentration]) as name:
            concentration = convert_to_tensor(concentration, name="concentration")
            self._concentration = _checked_concentration(concentration) if validate_args else concentration
            self._total_concentration = math.reduce_sum(self._concentration, -1)
        parents = [self._concentration, self._total_concentration]
        self._begin(parameters, self._concentration.dtype, FULLY_REPARAMETERIZED, parents, name)

    def _sample_n(self, n, seed=None):
        gamma_sample = random.random_gamma(shape=[n], alpha=self.concentration, dtype=self.dtype, seed=seed)
        return gamma_sample / math.reduce_sum(gamma_sample, -1, keepdims=True)

    def _log_prob(self, x):
        x = self._checked(x)
        return math.reduce_sum(math.xlogy(self.concentration - 1.0, x), -1) - math.lbeta(self.concentration)

    def _entropy(self):
        k = math.cast(self.event_shape_tensor()[0], self.dtype)
        a, total = self.concentration, self.total_concentration
        normalized = math.lbeta(a) + (total - k) * math.digamma(total)
        return normalized - math.reduce_sum((a - 1.0) * math.digamma(a), axis=-1)

    def _mean(self):
        return self.concentration / self.total_concentration[..., None]

    def _variance(self):
        scale = self._variance_scale_term()
        x = scale * self._mean()
        return x * (scale - x)

    def _variance_scale_term(self):
        return math.rsqrt(1.0 + self.total_concentration[..., None])

    def _mode(self):
        k = math.cast(self.event_shape_tensor()[0], self.dtype)
        mode = (self.concentration - 1.0) / (self.total_concentration[..., None] - k)
        message = "Mode undefined when any concentration <= 1"
        return self._where_defined(
            mode,
            lambda: math.reduce_all(self.concentration > 1.0, axis=-1),
            lambda: [check.assert_less(array.ones([], self.dtype), self.concentration, message=message)],
            shape=array.shape(mode) if self.allow_nan_stats else None,
        )

    def _checked(self, x):
        if not self.validate_args:
            return x
        above = check.assert_positive(x, message="samples must be positive")
        one, last = array.ones([], dtype=self.dtype), math.reduce_sum(x, -1)
        total = check.assert_near(one, last, message="sample last-dimension must sum to `1`")
        return with_dependencies([above, total], x)


def _checked_concentration(concentration):
    return with_dependencies(
        [
            check.assert_positive(concentration, message="Concentration parameter must be positive."),
            assert_rank_at_least(concentration, 1, message="Concentration parameter must have >=1 dimensions."),
            check.assert_less(
                1, array.shape(concentration)[-1], message="Concentration parameter must have event_size >= 2."
            ),
        ],
        concentration,
    )


@RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(d1, d2, name=None):
    with name_scope(name, "kl_dirichlet_dirichlet", [d1.concentration, d2.concentration]):
        digamma_sum_d1 = math.digamma(math.reduce_sum(d1.concentration, axis=-1, keepdims=True))
        digamma_diff = math.digamma(d1.concentration) - digamma_sum_d1
        concentration_diff = d1.concentration - d2.concentration
        weighted = math.reduce_sum(concentration_diff * digamma_diff, axis=-1)
        return weighted - math.lbeta(d1.concentration) + math.lbeta(d2.concentration)
