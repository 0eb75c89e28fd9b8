"""The gamma distribution, and the exponential, its simplest member."""

from __future__ import annotations

import numpy as np

from everflow.distributions.checks import constructor_with, softplus_of
from everflow.distributions.distribution import FULLY_REPARAMETERIZED
from everflow.distributions.event_shapes import Scalar
from everflow.distributions.kullback_leibler import RegisterKL
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.checks.shapes import assert_same_float_dtype
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.random import distributions as random


class ConcentrationRate(Scalar):
    """Base of distributions with a positive concentration and a positive rate."""

    _parameter_names = ("concentration", "rate")

    _kind_of_samples = FULLY_REPARAMETERIZED

    def __init__(self, concentration, rate, validate_args, parameters, name):
        with name_scope(name, values=[concentration, rate]) as name:
            checked = (concentration, rate) if validate_args else ()
            with control_dependencies([check.assert_positive(parameter) for parameter in checked]):
                self._concentration = array.identity(concentration, name="concentration")
                self._rate = array.identity(rate, name="rate")
                assert_same_float_dtype([self._concentration, self._rate])
        self._begin(parameters, self._rate.dtype, self._kind_of_samples, [self._concentration, self._rate], name)

    concentration = property(lambda self: self._concentration, doc="The shape: the larger, the more symmetrical.")
    rate = property(lambda self: self._rate, doc="The inverse of the scale.")

    def _log_normalization(self):
        return math.lgamma(self.concentration) - self.concentration * math.log(self.rate)


class Gamma(ConcentrationRate):
    """The gamma distribution, of density proportional to `x ** (concentration - 1) * exp(-rate * x)`.

    Args:
        concentration: The concentrations, positive.
        rate: The rates, positive.
        validate_args: Whether parameters and values are checked while the graph runs.
        allow_nan_stats: Whether a statistic that isn't defined is NaN rather than an error.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.distributions.Gamma(2.0, 4.0).mean())
        np.float32(0.5)
    """

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="Gamma"):
        super().__init__(concentration, rate, validate_args, dict(locals()), name)

    def _sample_n(self, n, seed=None):
        return random.random_gamma(shape=[n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)

    def _log_prob(self, x):
        x = self._checked(x)
        return math.xlogy(self.concentration - 1.0, x) - self.rate * x - self._log_normalization()

    def _cdf(self, x):
        # Drawing is by way of a gamma of rate 1.
        return math.igamma(self.concentration, self.rate * self._checked(x))

    def _entropy(self):
        a = self.concentration
        return a - math.log(self.rate) + math.lgamma(a) + (1.0 - a) * math.digamma(a)

    def _mean(self):
        return self.concentration / self.rate

    def _variance(self):
        return self.concentration / math.square(self.rate)

    def _stddev(self):
        return math.sqrt(self.concentration) / self.rate

    def _mode(self):
        message = "mode not defined when any concentration <= 1"
        return self._where_defined(
            (self.concentration - 1.0) / self.rate,
            lambda: self.concentration > 1.0,
            lambda: [check.assert_less(array.ones([], self.dtype), self.concentration, message=message)],
        )

    def _checked(self, x):
        return with_dependencies([check.assert_positive(x)], x) if self.validate_args else x


class GammaWithSoftplusConcentrationRate(Gamma):
    """Gamma with `softplus` of both its parameters."""

    __init__ = constructor_with(Gamma, "GammaWithSoftplusConcentrationRate", **softplus_of("concentration", "rate"))


@RegisterKL(Gamma, Gamma)
def _kl_gamma_gamma(g0, g1, name=None):
    with name_scope(name, "kl_gamma_gamma", [g0.concentration, g0.rate, g1.concentration, g1.rate]):
        a, b = g0.concentration, g1.concentration
        gammas = (a - b) * math.digamma(a) + math.lgamma(b) - math.lgamma(a)
        return gammas + b * math.log(g0.rate) - b * math.log(g1.rate) + a * (g1.rate / g0.rate - 1.0)


class Exponential(Gamma):
    """The exponential distribution: times between events that happen `rate` times in a unit of time.

    Args:
        rate: The rates, positive.
        validate_args: Whether parameters and values are checked while the graph runs.
        allow_nan_stats: Whether a statistic that isn't defined is NaN rather than an error.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.distributions.Exponential(2.0).mean())
        np.float32(0.5)
    """

    _parameter_names = ("rate",)

    def __init__(self, rate, validate_args=False, allow_nan_stats=True, name="Exponential"):
        parameters = dict(locals())
        # The concentration of 1 is made outside the scope: TensorFlow's graphs have it there.
        with name_scope(name, values=[rate]) as name:
            self._rate = convert_to_tensor(rate, name="rate")
        super().__init__(array.ones([], dtype=self._rate.dtype), self._rate, validate_args, allow_nan_stats, name)
        self._parameters = parameters

    def _own_parameters(self):
        return [self._concentration, self._rate]

    def _log_survival_function(self, value):
        return self._log_prob(value) - math.log(self._rate)

    def _sample_n(self, n, seed=None):
        shape = array.concat([[n], array.shape(self._rate)], 0)
        # From (0, 1): the smallest positive number stands in for zero, whose logarithm is infinite.
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        sampled = random.random_uniform(shape, minval=tiny, maxval=1.0, seed=seed, dtype=self.dtype)
        return -math.log(sampled) / self._rate


class ExponentialWithSoftplusRate(Exponential):
    """Exponential with `softplus(rate)` as its rate."""

    __init__ = constructor_with(Exponential, "ExponentialWithSoftplusRate", **softplus_of("rate"))
