"""Distributions that take more than a value: what they are conditioned on goes by keyword through every call."""

from __future__ import annotations

from everflow.contrib.distributions.transformed import TransformedDistribution
from everflow.distributions.distribution import Distribution
from everflow.ops import math


def _with_conditions(method):
    """A method of values that takes conditions, too, and hands them on."""

    def call(self, value, name=method, **condition_kwargs):
        return getattr(self, f"_call_{method}")(value, name, **condition_kwargs)

    call.__name__, call.__doc__ = method, getattr(Distribution, method).__doc__.replace(".", ", given the conditions.")
    return call


class ConditionalDistribution(Distribution):
    """Base of distributions whose `_sample_n`, `_log_prob`, ... take keyword arguments, the conditions."""

    def sample(self, sample_shape=(), seed=None, name="sample", **condition_kwargs):
        """Draw values, given the conditions."""
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    log_prob = _with_conditions("log_prob")
    prob = _with_conditions("prob")
    log_cdf = _with_conditions("log_cdf")
    cdf = _with_conditions("cdf")
    log_survival_function = _with_conditions("log_survival_function")
    survival_function = _with_conditions("survival_function")


class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """A transformed distribution; `bijector_kwargs` and `distribution_kwargs` are conditions of its parts."""

    # The same sums and products as in TransformedDistribution, in the order that TensorFlow's graphs have them in.

    def _log_prob_of(self, x, log_det, distribution_kwargs):
        log_prob = self.distribution.log_prob(self._rotated(x, -1), **(distribution_kwargs or {}))
        reduced = math.reduce_sum(log_prob, self._reduce_event_indices) if self._event_override.ndims else log_prob
        return log_det + reduced

    def _prob_of(self, x, log_det, distribution_kwargs):
        prob = self.distribution.prob(self._rotated(x, -1), **(distribution_kwargs or {}))
        prob = math.reduce_prod(prob, self._reduce_event_indices) if self._event_override.ndims else prob
        return math.exp(log_det) * prob
