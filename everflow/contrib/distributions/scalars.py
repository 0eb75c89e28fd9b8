"""Further distributions of single numbers, continuous ones."""

from __future__ import annotations

import math as pymath

import numpy as np

from everflow.distributions import normal_functions as special
from everflow.distributions.checks import constructor_with, fill, softplus_of
from everflow.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED
from everflow.distributions.event_shapes import Scalar
from everflow.distributions.gamma import ConcentrationRate, Gamma
from everflow.distributions.location_scale import LocationScale
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.nn import activations as nn
from everflow.ops.random import distributions as random


class Logistic(LocationScale):
    """The logistic distribution, whose distribution function is a sigmoid."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Logistic"):
        super().__init__(loc, scale, validate_args, dict(locals()), name)

    def _sample_n(self, n, seed=None):
        uniform = self._standard_uniform(n, seed, np.finfo(self.dtype.as_numpy_dtype).tiny)
        return (math.log(uniform) - math.log1p(-1.0 * uniform)) * self.scale + self.loc

    def _log_prob(self, x):
        z = self._z(x)
        return -z - 2.0 * nn.softplus(-z) - math.log(self.scale)

    def _log_cdf(self, x):
        return -nn.softplus(-self._z(x))

    def _cdf(self, x):
        return math.sigmoid(self._z(x))

    def _log_survival_function(self, x):
        return -nn.softplus(self._z(x))

    def _survival_function(self, x):
        return math.sigmoid(-self._z(x))

    def _entropy(self):
        return 2 + math.log(self.scale * array.ones_like(self.loc))

    def _mean(self):
        return self.loc * array.ones_like(self.scale)

    def _stddev(self):
        return self.scale * array.ones_like(self.loc) * np.pi / pymath.sqrt(3)

    def _mode(self):
        return self._mean()


class Cauchy(LocationScale):
    """The Cauchy distribution, whose tails are so heavy that it has no mean."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Cauchy"):
        super().__init__(loc, scale, validate_args, dict(locals()), name)

    def _sample_n(self, n, seed=None):
        return self._quantile(self._standard_uniform(n, seed, 0.0))

    def _log_prob(self, x):
        return -math.log1p(math.square(self._z(x))) - (np.log(np.pi) + math.log(self.scale))

    def _cdf(self, x):
        return math.atan(self._z(x)) / np.pi + 0.5

    def _log_cdf(self, x):
        return math.log1p(2 / np.pi * math.atan(self._z(x))) - np.log(2)

    def _entropy(self):
        h = np.log(4 * np.pi) + math.log(self.scale)
        return h * array.ones_like(self.loc)

    def _quantile(self, p):
        return self.loc + self.scale * math.tan(np.pi * (p - 0.5))

    def _mode(self):
        return self.loc * array.ones_like(self.scale)

    def _mean(self):
        return self._undefined("mean")

    def _stddev(self):
        return self._undefined("stddev")

    def _undefined(self, statistic):
        if not self.allow_nan_stats:
            raise ValueError(f"{statistic} is undefined for Cauchy distribution.")
        return fill(self.batch_shape_tensor(), np.nan, self.dtype, None)


class HalfNormal(Scalar):
    """The absolute values of normal draws around 0."""

    _parameter_names = ("scale",)

    def __init__(self, scale, validate_args=False, allow_nan_stats=True, name="HalfNormal"):
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            with control_dependencies([check.assert_positive(scale)] if validate_args else []):
                self._scale = array.identity(scale, name="scale")
        self._begin(parameters, self._scale.dtype, FULLY_REPARAMETERIZED, [self._scale], name)

    scale = property(lambda self: self._scale, doc="The standard deviation of the normal draws.")

    def _sample_n(self, n, seed=None):
        return math.abs(self._standard_normal(n, seed) * self.scale)

    def _prob(self, x):
        coeff = np.sqrt(2) / self.scale / np.sqrt(np.pi)
        density = coeff * math.exp(-0.5 * (x / self.scale) ** 2)
        return density * math.cast(x >= 0, self.dtype)

    def _cdf(self, x):
        truncated = nn.relu(x)
        return math.erf(truncated / self.scale / np.sqrt(2.0))

    def _entropy(self):
        return 0.5 * math.log(np.pi * self.scale**2.0 / 2.0) + 0.5

    def _mean(self):
        return self.scale * np.sqrt(2.0) / np.sqrt(np.pi)

    def _quantile(self, p):
        return np.sqrt(2.0) * self.scale * _erfinv(p)

    def _mode(self):
        return array.zeros(self.batch_shape_tensor())

    def _variance(self):
        return self.scale**2.0 * (1.0 - 2.0 / np.pi)


def _erfinv(x):
    with name_scope("erfinv", values=[x]):
        return special.ndtri((x + 1.0) / 2.0) / np.sqrt(2.0)


class InverseGamma(ConcentrationRate):
    """The inverses of gamma draws; the rate is their scale."""

    _kind_of_samples = NOT_REPARAMETERIZED

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="InverseGamma"):
        super().__init__(concentration, rate, validate_args, dict(locals()), name)

    def _sample_n(self, n, seed=None):
        return 1.0 / random.random_gamma([n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)

    def _log_prob(self, x):
        x = self._positive(x)
        return -(1.0 + self.concentration) * math.log(x) - self.rate / x - self._log_normalization()

    def _cdf(self, x):
        return math.igammac(self.concentration, self.rate / self._positive(x))

    def _positive(self, x):
        return with_dependencies([check.assert_positive(x)], x) if self.validate_args else x

    def _entropy(self):
        a = self.concentration
        return a + math.log(self.rate) + math.lgamma(a) - (1.0 + a) * math.digamma(a)

    def _mean(self):
        return self._beyond(1, self.rate / (self.concentration - 1.0), "mean")

    def _variance(self):
        scaled = math.square(self.rate) / math.squared_difference(self.concentration, 1.0)
        variance = scaled / (self.concentration - 2.0)
        return self._beyond(2, variance, "variance")

    def _mode(self):
        return self.rate / (1.0 + self.concentration)

    def _beyond(self, least, value, what):
        """A statistic that is defined for concentrations above a bound."""
        message = f"{what} undefined when any concentration <= {least}"

        def checks():
            # The one is made as a tensor of ones, any other bound as a constant.
            one = array.ones([], self.dtype) if least == 1 else None
            bound = convert_to_tensor(float(least), dtype=self.dtype) if one is None else one
            return [check.assert_less(bound, self.concentration, message=message)]

        return self._where_defined(value, lambda: self.concentration > float(least), checks)


class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """InverseGamma with `softplus` of both its parameters."""

    __init__ = constructor_with(
        InverseGamma, "InverseGammaWithSoftplusConcentrationRate", **softplus_of("concentration", "rate")
    )


class Chi2(Gamma):
    """The chi-squared distribution: sums of the squares of `df` standard normal draws."""

    _parameter_names = ("df",)

    def __init__(self, df, validate_args=False, allow_nan_stats=True, name="Chi2"):
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            with control_dependencies([check.assert_positive(df)] if validate_args else []):
                self._df = array.identity(df, name="df")
            super().__init__(
                0.5 * self._df, convert_to_tensor(0.5, dtype=self._df.dtype), validate_args, allow_nan_stats, name
            )
        self._parameters = parameters

    df = property(lambda self: self._df, doc="Degrees of freedom.")

    def _own_parameters(self):
        return [self._concentration, self._rate]


def _whole(df):
    return math.floor(math.abs(df, name="abs_df"), name="floor_abs_df")


class Chi2WithAbsDf(Chi2):
    """Chi2 with `floor(abs(df))` degrees of freedom."""

    __init__ = constructor_with(Chi2, "Chi2WithAbsDf", df=_whole)
