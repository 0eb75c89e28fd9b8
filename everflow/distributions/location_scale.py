"""Distributions of numbers with a location and a scale: Normal, Laplace, and StudentT with its heavier tails."""

from __future__ import annotations

import math as pymath

import numpy as np

from everflow.distributions import normal_functions as special
from everflow.distributions.checks import constructor_with, fill, gen_new_seed, softplus_of
from everflow.distributions.distribution import FULLY_REPARAMETERIZED
from everflow.distributions.event_shapes import Scalar
from everflow.distributions.kullback_leibler import RegisterKL
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.array.indexing import where_v2
from everflow.ops.checks import values as check
from everflow.ops.checks.shapes import assert_same_float_dtype
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.random import distributions as random


class LocationScale(Scalar):
    """Base of distributions that are a standard one, stretched by `scale` and moved by `loc`."""

    def __init__(self, loc, scale, validate_args, parameters, name):
        with name_scope(name, values=[loc, scale]) as name:
            with control_dependencies([check.assert_positive(scale)] if validate_args else []):
                self._loc = array.identity(loc, name="loc")
                self._scale = array.identity(scale, name="scale")
            assert_same_float_dtype([self._loc, self._scale])
        self._begin(parameters, self._scale.dtype, FULLY_REPARAMETERIZED, [self._loc, self._scale], name)

    loc = property(lambda self: self._loc, doc="The location.")
    scale = property(lambda self: self._scale, doc="The scale.")

    def _z(self, x):
        """How many scales a value is away from the location."""
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale


class Normal(LocationScale):
    """The normal distribution, of mean `loc` and standard deviation `scale`.

    Args:
        loc: The mean.
        scale: The standard deviation.
        validate_args: Whether parameters and values are checked while the graph runs.
        allow_nan_stats: Whether a statistic that isn't defined is NaN rather than an error.
        name: What the operations' names start with.

    Example:
        >>> d = tf.distributions.Normal(loc=0.0, scale=2.0)
        >>> sess.run([d.log_prob(1.0), d.cdf(0.0)])
        [np.float32(-1.7370857), np.float32(0.5)]
    """

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Normal"):
        super().__init__(loc, scale, validate_args, dict(locals()), name)

    def _sample_n(self, n, seed=None):
        return self._standard_normal(n, seed) * self.scale + self.loc

    def _log_prob(self, x):
        return -0.5 * math.square(self._z(x)) - (0.5 * pymath.log(2.0 * pymath.pi) + math.log(self.scale))

    def _log_cdf(self, x):
        return special.log_ndtr(self._z(x))

    def _cdf(self, x):
        return special.ndtr(self._z(x))

    def _log_survival_function(self, x):
        return special.log_ndtr(-self._z(x))

    def _survival_function(self, x):
        return special.ndtr(-self._z(x))

    def _entropy(self):
        # The scale broadcast against the location, because an entropy has the shape of the batch.
        scale = self.scale * array.ones_like(self.loc)
        return 0.5 + 0.5 * pymath.log(2.0 * pymath.pi) + math.log(scale)

    def _mean(self):
        return self.loc * array.ones_like(self.scale)

    def _quantile(self, p):
        z = special.ndtri(p)
        with name_scope("reconstruct", values=[z]):
            return z * self.scale + self.loc

    def _stddev(self):
        return self.scale * array.ones_like(self.loc)

    def _mode(self):
        return self._mean()


@RegisterKL(Normal, Normal)
def _kl_normal_normal(n_a, n_b, name=None):
    with name_scope(name, "kl_normal_normal", [n_a.loc, n_b.loc]):
        one, two, half = (constant(value, dtype=n_a.dtype) for value in (1, 2, 0.5))
        s_a_squared = math.square(n_a.scale)
        s_b_squared = math.square(n_b.scale)
        ratio = s_a_squared / s_b_squared
        return math.squared_difference(n_a.loc, n_b.loc) / (two * s_b_squared) + half * (ratio - one - math.log(ratio))


class Laplace(LocationScale):
    """The Laplace distribution, of density proportional to `exp(-|x - loc| / scale)`.

    Args:
        loc: Where the distribution is centred.
        scale: How wide it is.
        validate_args: Whether parameters and values are checked while the graph runs.
        allow_nan_stats: Whether a statistic that isn't defined is NaN rather than an error.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.distributions.Laplace(0.0, 1.0).prob(0.0))
        np.float32(0.5)
    """

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Laplace"):
        super().__init__(loc, scale, validate_args, dict(locals()), name)

    def _sample_n(self, n, seed=None):
        # From (-1, 1) without its ends: one at either end would be infinitely far away.
        number = self.dtype.as_numpy_dtype
        uniform = self._standard_uniform(n, seed, np.nextafter(number(-1.0), number(0.0)))
        return self.loc - self.scale * math.sign(uniform) * math.log1p(-math.abs(uniform))

    def _log_prob(self, x):
        return -math.abs(self._z(x)) - (pymath.log(2.0) + math.log(self.scale))

    def _log_cdf(self, x):
        return special.log_cdf_laplace(self._z(x))

    def _log_survival_function(self, x):
        return special.log_cdf_laplace(-self._z(x))

    def _cdf(self, x):
        z = self._z(x)
        return 0.5 + 0.5 * math.sign(z) * (1.0 - math.exp(-math.abs(z)))

    def _entropy(self):
        scale = self.scale + array.zeros_like(self.loc)
        return pymath.log(2.0) + 1.0 + math.log(scale)

    def _mean(self):
        return self.loc + array.zeros_like(self.scale)

    def _stddev(self):
        return pymath.sqrt(2.0) * self.scale + array.zeros_like(self.loc)

    def _mode(self):
        return self._mean()

    def _z(self, x):
        return (x - self.loc) / self.scale


class LaplaceWithSoftplusScale(Laplace):
    """Laplace with `softplus(scale)` as its scale."""

    __init__ = constructor_with(Laplace, "LaplaceWithSoftplusScale", **softplus_of("scale"))


class NormalWithSoftplusScale(Normal):
    """Normal with `softplus(scale)` as its scale."""

    __init__ = constructor_with(Normal, "NormalWithSoftplusScale", **softplus_of("scale"))


class StudentT(Scalar):
    """Student's t distribution, with `df` degrees of freedom, moved by `loc` and stretched by `scale`.

    Args:
        df: The degrees of freedom, positive.
        loc: Where the distribution is centred.
        scale: How wide it is.
        validate_args: Whether parameters and values are checked while the graph runs.
        allow_nan_stats: Whether a statistic that isn't defined is NaN rather than an error.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.distributions.StudentT(df=3.0, loc=0.0, scale=1.0).variance())
        np.float32(3.0)
    """

    _parameter_names = ("df", "loc", "scale")

    def __init__(self, df, loc, scale, validate_args=False, allow_nan_stats=True, name="StudentT"):
        parameters = dict(locals())
        with name_scope(name, values=[df, loc, scale]) as name:
            with control_dependencies([check.assert_positive(df)] if validate_args else []):
                self._df = array.identity(df, name="df")
                self._loc = array.identity(loc, name="loc")
                self._scale = array.identity(scale, name="scale")
                assert_same_float_dtype((self._df, self._loc, self._scale))
        self._begin(parameters, self._scale.dtype, FULLY_REPARAMETERIZED, [self._df, self._loc, self._scale], name)

    df = property(lambda self: self._df, doc="Degrees of freedom.")
    loc = property(lambda self: self._loc, doc="The location.")
    scale = property(lambda self: self._scale, doc="The scale; only its absolute value counts.")

    def _batch_shape_tensor(self):
        inner = array.broadcast_dynamic_shape(array.shape(self.loc), array.shape(self.scale))
        return array.broadcast_dynamic_shape(array.shape(self.df), inner)

    def _batch_shape(self):
        inner = array.broadcast_static_shape(self.df.shape, self.loc.shape)
        return array.broadcast_static_shape(inner, self.scale.shape)

    def _sample_n(self, n, seed=None):
        # A standard normal draw divided by the root of a chi-squared one over its degrees of freedom.
        normal = self._standard_normal(n, seed)
        df = self._spread(self.df)
        own_seed = gen_new_seed(seed, salt="student_t")
        chi_squared = random.random_gamma([n], 0.5 * df, beta=0.5, dtype=self.dtype, seed=own_seed)
        return normal * math.rsqrt(chi_squared / df) * self.scale + self.loc

    def _spread(self, x):
        """A parameter broadcast to the shape of the batch."""
        return x * array.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _log_prob(self, x):
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_unnormalized_prob(self, x):
        y = (x - self.loc) / self.scale
        return -0.5 * (self.df + 1.0) * math.log1p(y**2.0 / self.df)

    def _log_normalization(self):
        return (
            math.log(math.abs(self.scale))
            + 0.5 * math.log(self.df)
            + 0.5 * np.log(np.pi)
            + math.lgamma(0.5 * self.df)
            - math.lgamma(0.5 * (self.df + 1.0))
        )

    def _cdf(self, x):
        y = (x - self.loc) / math.abs(self.scale)
        x_t = self.df / (y**2.0 + self.df)
        negative = 0.5 * math.betainc(0.5 * self.df, 0.5, x_t)
        return where_v2(math.less(y, 0.0), negative, 1.0 - negative)

    def _entropy(self):
        v = array.ones(self.batch_shape_tensor(), dtype=self.dtype)[..., None]
        u = v * self.df[..., None]
        beta_arg = array.concat([u, v], -1) / 2.0
        return (
            math.log(math.abs(self.scale))
            + 0.5 * math.log(self.df)
            + math.lbeta(beta_arg)
            + 0.5 * (self.df + 1.0) * (math.digamma(0.5 * (self.df + 1.0)) - math.digamma(0.5 * self.df))
        )

    def _mean(self):
        return self._beyond_one(self._spread(self.loc), "mean")

    def _variance(self):
        # Where it is infinite or undefined the division gets a harmless denominator, so that gradients stay finite.
        denominator = where_v2(math.greater(self.df, 2.0), self.df - 2.0, array.ones_like(self.df))
        ones = array.ones(self.batch_shape_tensor(), dtype=self.dtype)
        variance = ones * math.square(self.scale) * self.df / denominator
        finite = self.df > array.fill(self.batch_shape_tensor(), 2.0)
        variance = where_v2(finite, variance, fill(self.batch_shape_tensor(), np.inf, self.dtype, "inf"))
        return self._beyond_one(variance, "variance")

    def _beyond_one(self, value, what):
        """A statistic that is defined for more than one degree of freedom."""
        if self.allow_nan_stats:
            defined = math.greater(self.df, array.ones(self.batch_shape_tensor(), dtype=self.dtype))
            return where_v2(defined, value, fill(self.batch_shape_tensor(), np.nan, self.dtype, "nan"))
        message = f"{what} not defined for components of df <= 1"
        return with_dependencies([check.assert_less(array.ones([], dtype=self.dtype), self.df, message=message)], value)

    def _mode(self):
        return array.identity(self.loc)


def _whole(df):
    return math.floor(math.abs(df))


class StudentTWithAbsDfSoftplusScale(StudentT):
    """StudentT with `floor(abs(df))` degrees of freedom and `softplus(scale)` as its scale."""

    __init__ = constructor_with(StudentT, "StudentTWithAbsDfSoftplusScale", df=_whole, **softplus_of("scale"))
