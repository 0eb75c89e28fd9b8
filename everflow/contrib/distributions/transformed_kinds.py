"""Transformed distributions of single numbers: Kumaraswamy's, sinh-arcsinh, and quantized ones."""

from __future__ import annotations

import numpy as np

from everflow.contrib.distributions.bijectors.composed import Chain
from everflow.contrib.distributions.bijectors.elementwise import AffineScalar
from everflow.contrib.distributions.bijectors.elementwise import Kumaraswamy as KumaraswamyBijector
from everflow.contrib.distributions.bijectors.elementwise import SinhArcsinh as SinhArcsinhBijector
from everflow.contrib.distributions.transformed import TransformedDistribution
from everflow.distributions.distribution import NOT_REPARAMETERIZED
from everflow.distributions.event_shapes import Inner
from everflow.distributions.location_scale import Normal
from everflow.distributions.uniform import Uniform
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.math.special import lbeta


def _harmonic_number(x):
    one = array.ones([], x.dtype)
    return math.digamma(x + one) - math.digamma(one)


class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy's distribution over (0, 1): like a beta distribution, with a simple distribution function."""

    def __init__(
        self, concentration1=None, concentration0=None, validate_args=False, allow_nan_stats=True, name="Kumaraswamy"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            concentration1 = convert_to_tensor(concentration1, name="concentration1")
            concentration0 = convert_to_tensor(concentration0, name="concentration0")
        dtype = concentration1.dtype
        uniform = Uniform(array.zeros([], dtype), array.ones([], dtype), allow_nan_stats=allow_nan_stats)
        bijector = KumaraswamyBijector(concentration1, concentration0, validate_args=validate_args)
        super().__init__(uniform, bijector, _common_shape(concentration1, concentration0), name=name)
        self._parameters = parameters

    concentration1 = property(lambda self: self.bijector.concentration1, doc="The weight of 1.")
    concentration0 = property(lambda self: self.bijector.concentration0, doc="The weight of 0.")

    def _entropy(self):
        a, b = self.concentration1, self.concentration0
        # The signs of the logarithms are TensorFlow's; the entropy would subtract both, with a and b exchanged.
        return (1 - 1.0 / a) + (1 - 1.0 / b) * _harmonic_number(b) + math.log(a) + math.log(b)

    def _moment(self, n):
        """The mean of the n-th powers of draws."""
        total = self.concentration1 + self.concentration0
        a = array.ones_like(total, dtype=self.dtype) * self.concentration1
        b = array.ones_like(total, dtype=self.dtype) * self.concentration0
        shapes = array.stack([1.0 + n / a, b], axis=-1)
        return math.exp(math.log(b) + lbeta(shapes))

    def _mean(self):
        return self._moment(1)

    def _variance(self):
        return self._moment(2) - math.square(self._moment(1))

    def _mode(self):
        a, b = self.concentration1, self.concentration0
        return self._where_defined(
            ((a - 1) / (a * b - 1)) ** (1.0 / a),
            lambda: (a > 1.0) & (b > 1.0),
            lambda: [
                check.assert_less(array.ones([], self.dtype), x, message=f"Mode undefined for {name} <= 1.")
                for name, x in (("concentration1", a), ("concentration0", b))
            ],
        )


def _common_shape(*parameters):
    """The shape that parameters are broadcast to: a list where it is known, else a tensor."""
    static = parameters[0].shape
    for parameter in parameters[1:]:
        static = array.broadcast_static_shape(static, parameter.shape)
    if static.is_fully_defined():
        return static.as_list()
    shape = array.shape(parameters[0])
    for parameter in parameters[1:]:
        shape = array.broadcast_dynamic_shape(shape, array.shape(parameter))
    return shape


class SinhArcsinh(TransformedDistribution):
    """A normal (or other) distribution that leans by `skewness`, with tails as heavy as `tailweight` says."""

    def __init__(
        self,
        loc,
        scale,
        skewness=None,
        tailweight=None,
        distribution=None,
        validate_args=False,
        allow_nan_stats=True,
        name="SinhArcsinh",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale, skewness, tailweight]) as name:
            loc = convert_to_tensor(loc, name="loc")
            dtype = loc.dtype
            scale = convert_to_tensor(scale, name="scale", dtype=dtype)
            tailweight = convert_to_tensor(1.0 if tailweight is None else tailweight, name="tailweight", dtype=dtype)
            skewed = skewness is not None
            skewness = convert_to_tensor(skewness if skewed else 0.0, name="skewness", dtype=dtype)
            batch_shape = None
            if distribution is None:
                zero, one = array.zeros([], dtype=dtype), array.ones([], dtype=dtype)
                distribution = Normal(loc=zero, scale=one, allow_nan_stats=allow_nan_stats)
                batch_shape = _common_shape(loc, scale, skewness, tailweight)
            bent = SinhArcsinhBijector(skewness=skewness, tailweight=tailweight)
            # Scaled so that a standard deviation of 2 stays where it was: tails change, the middle doesn't.
            zero = np.zeros([], dtype.as_numpy_dtype)
            unskewed = SinhArcsinhBijector(skewness=zero, tailweight=tailweight) if skewed else bent
            stretch = 2.0 * scale / unskewed.forward(convert_to_tensor(2, dtype=dtype))
            bijector = Chain([AffineScalar(shift=loc, scale=stretch, validate_args=validate_args), bent])
        super().__init__(distribution, bijector, batch_shape, validate_args=validate_args, name=name)
        self._parameters = parameters
        self._loc, self._scale, self._tailweight, self._skewness = loc, scale, tailweight, skewness

    loc = property(lambda self: self._loc, doc="The location.")
    scale = property(lambda self: self._scale, doc="The scale.")
    tailweight = property(lambda self: self._tailweight, doc="How heavy the tails are.")
    skewness = property(lambda self: self._skewness, doc="To which side it leans.")


class QuantizedDistribution(Inner):
    """Draws of a continuous distribution rounded up to whole numbers, and cut off at `low` and `high`."""

    def __init__(self, distribution, low=None, high=None, validate_args=False, name="QuantizedDistribution"):
        parameters = dict(locals())
        with name_scope(name, values=[low, high]) as name:
            self._low = None if low is None else convert_to_tensor(low, dtype=distribution.dtype, name="low")
            self._high = None if high is None else convert_to_tensor(high, dtype=distribution.dtype, name="high")
        self._dist = distribution
        parents = list(distribution._graph_parents) + [bound for bound in (self._low, self._high) if bound is not None]
        self._begin(parameters, distribution.dtype, NOT_REPARAMETERIZED, parents, name, distribution.allow_nan_stats)

    distribution = property(lambda self: self._dist, doc="The continuous distribution.")
    low = property(lambda self: self._low, doc="The least value, or None.")
    high = property(lambda self: self._high, doc="The largest value, or None.")

    def _sample_n(self, n, seed=None):
        with name_scope("transform"):
            n = convert_to_tensor(n, name="n")
            drawn = self.distribution.sample(n, seed=seed)
            ones = array.ones_like(drawn)
            samples = math.ceil(drawn)
            if self._low is not None:
                samples = array.where(samples < self._low, self._low * ones, samples)
            return samples if self._high is None else array.where(samples > self._high, self._high * ones, samples)

    def _prob(self, y):
        # Above the median the probabilities of larger values are exact, below it those of smaller ones.
        above, above_before = self.survival_function(y), self.survival_function(y - 1.0)
        below, below_before = self.cdf(y), self.cdf(y - 1.0)
        return array.where(above < below, above_before - above, below - below_before)

    def _log_prob(self, y):
        above, above_before = self.log_survival_function(y), self.log_survival_function(y - 1.0)
        below, below_before = self.log_cdf(y), self.log_cdf(y - 1.0)
        larger = array.where(above < below, above_before, below)
        smaller = array.where(above < below, above, below_before)
        with name_scope("logsum_expbig_minus_expsmall", values=[larger, smaller]):
            return math.log(1.0 - math.exp(smaller - larger)) + larger

    def _log_cdf(self, y):
        floor = math.floor(y)
        below = self.distribution.log_cdf(floor)
        floor = floor + array.zeros_like(below)
        if self._low is not None:
            never = -np.inf * array.ones_like(below)
            below = array.where(floor < self._low, never, below)
        return below if self._high is None else array.where(floor >= self._high, array.zeros_like(below), below)

    def _log_survival_function(self, y):
        ceiling = math.ceil(y)
        above = self.distribution.log_survival_function(ceiling)
        ceiling = ceiling + array.zeros_like(above)
        if self._low is not None:
            above = array.where(ceiling < self._low, array.zeros_like(above), above)
        if self._high is not None:
            never = -np.inf * array.ones_like(above)
            above = array.where(ceiling >= self._high, never, above)
        return above

    def _cdf(self, y):
        floor = math.floor(y)
        below = self.distribution.cdf(floor)
        floor = floor + array.zeros_like(below)
        if self._low is not None:
            below = array.where(floor < self._low, array.zeros_like(below), below)
        return below if self._high is None else array.where(floor >= self._high, array.ones_like(below), below)

    def _survival_function(self, y):
        ceiling = math.ceil(y)
        above = self.distribution.survival_function(ceiling)
        ceiling = ceiling + array.zeros_like(above)
        if self._low is not None:
            above = array.where(ceiling < self._low, array.ones_like(above), above)
        return above if self._high is None else array.where(ceiling >= self._high, array.zeros_like(above), above)
