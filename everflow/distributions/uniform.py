"""The uniform distribution over an interval."""

from __future__ import annotations

import math as pymath

from everflow.distributions.distribution import FULLY_REPARAMETERIZED
from everflow.distributions.event_shapes import Scalar
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.array.indexing import where_v2
from everflow.ops.checks import values as check
from everflow.ops.checks.shapes import assert_same_float_dtype
from everflow.ops.random import distributions as random


class Uniform(Scalar):
    """All values from `low` up to, and without, `high` alike.

    Args:
        low: The lower bound.
        high: The upper bound.
        validate_args: Whether parameters and values are checked while the graph runs.
        allow_nan_stats: Whether a statistic that isn't defined is NaN rather than an error.
        name: What the operations' names start with.

    Example:
        >>> sess.run(tf.distributions.Uniform(0.0, 4.0).mean())
        np.float32(2.0)
    """

    _parameter_names = ("low", "high")

    def __init__(self, low=0.0, high=1.0, validate_args=False, allow_nan_stats=True, name="Uniform"):
        parameters = dict(locals())
        with name_scope(name, values=[low, high]) as name:
            message = "uniform not defined when low >= high."
            checks = [check.assert_less(low, high, message=message)] if validate_args else []
            with control_dependencies(checks):
                self._low = array.identity(low, name="low")
                self._high = array.identity(high, name="high")
                assert_same_float_dtype([self._low, self._high])
        self._begin(parameters, self._low.dtype, FULLY_REPARAMETERIZED, [self._low, self._high], name)

    low = property(lambda self: self._low, doc="Where the interval begins.")
    high = property(lambda self: self._high, doc="Where the interval ends.")

    def range(self, name="range"):
        """The length of the interval."""
        with self._name_scope(name):
            return self.high - self.low

    def _sample_n(self, n, seed=None):
        samples = random.random_uniform(self._drawn_shape(n), dtype=self.dtype, seed=seed)
        return self.low + self.range() * samples

    def _prob(self, x):
        broadcast = x * array.ones(self.batch_shape_tensor(), dtype=x.dtype)
        missing = math.is_nan(broadcast)
        outside = math.logical_or(broadcast < self.low, broadcast >= self.high)
        density = where_v2(outside, array.zeros_like(broadcast), array.ones_like(broadcast) / self.range())
        return where_v2(missing, broadcast, density)

    def _cdf(self, x):
        shape = array.broadcast_dynamic_shape(array.shape(x), self.batch_shape_tensor())
        zeros = array.zeros(shape, dtype=self.dtype)
        ones = array.ones(shape, dtype=self.dtype)
        broadcast = x * ones
        from_low = where_v2(x < self.low, zeros, (broadcast - self.low) / self.range())
        return where_v2(x >= self.high, ones, from_low)

    def _entropy(self):
        return math.log(self.range())

    def _mean(self):
        return (self.low + self.high) / 2.0

    def _variance(self):
        return math.square(self.range()) / 12.0

    def _stddev(self):
        return self.range() / pymath.sqrt(12.0)
