"""Distributions that take more than a value: what they are conditioned on goes by keyword through every call."""

from __future__ import annotations

from everflow.contrib.distributions.transformed import TransformedDistribution
from everflow.distributions.distribution import Distribution
from everflow.ops import math


class ConditionalDistribution(Distribution):
    """Base of distributions whose `_sample_n`, `_log_prob`, ... take keyword arguments, the conditions."""

    def sample(self, sample_shape=(), seed=None, name="sample", **condition_kwargs):
        """Draw values, given the conditions."""
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def log_prob(self, value, name="log_prob", **condition_kwargs):
        """The logarithm of the density, or of the probability, of a value, given the conditions."""
        return self._call_log_prob(value, name, **condition_kwargs)

    def prob(self, value, name="prob", **condition_kwargs):
        """The density, or the probability, of a value, given the conditions."""
        return self._call_prob(value, name, **condition_kwargs)

    def log_cdf(self, value, name="log_cdf", **condition_kwargs):
        """The logarithm of the probability of a draw of at most `value`, given the conditions."""
        return self._call_log_cdf(value, name, **condition_kwargs)

    def cdf(self, value, name="cdf", **condition_kwargs):
        """The probability of a draw of at most `value`, given the conditions."""
        return self._call_cdf(value, name, **condition_kwargs)

    def log_survival_function(self, value, name="log_survival_function", **condition_kwargs):
        """The logarithm of the probability of a draw above `value`, given the conditions."""
        return self._call_log_survival_function(value, name, **condition_kwargs)

    def survival_function(self, value, name="survival_function", **condition_kwargs):
        """The probability of a draw above `value`, given the conditions."""
        return self._call_survival_function(value, name, **condition_kwargs)


class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """A transformed distribution whose conditions are `bijector_kwargs` and `distribution_kwargs`: dictionaries for its two parts."""

    # The same sums and products as in TransformedDistribution, in the order that TensorFlow's graphs have them in.

    def _log_prob_of(self, x, log_det, distribution_kwargs):
        log_prob = self.distribution.log_prob(self._rotated(x, -1), **(distribution_kwargs or {}))
        return log_det + (math.reduce_sum(log_prob, self._reduce_event_indices) if self._event_override.ndims else log_prob)

    def _prob_of(self, x, log_det, distribution_kwargs):
        prob = self.distribution.prob(self._rotated(x, -1), **(distribution_kwargs or {}))
        prob = math.reduce_prod(prob, self._reduce_event_indices) if self._event_override.ndims else prob
        return math.exp(log_det) * prob
