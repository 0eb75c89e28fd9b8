"""Posteriors that are of the same kind as the prior."""

from __future__ import annotations

from everflow.distributions.location_scale import Normal
from everflow.ops import math


def _updated(prior, scale, s, n):
    """(mean, variance of that mean, variance of an observation) after n observations whose sum is s."""
    if not isinstance(prior, Normal):
        raise TypeError(f"The prior must be a Normal, not {prior!r}")
    if s.dtype != prior.dtype:
        raise TypeError(f"s is {s.dtype.name}, the prior {prior.dtype.name}: they must be of one type")
    n = math.cast(n, prior.dtype)
    prior_variance, variance = math.square(prior.scale), math.square(scale)
    posterior_variance = 1.0 / (1 / prior_variance + n / variance)
    return (prior.loc / prior_variance + s / variance) * posterior_variance, posterior_variance, variance


def normal_conjugates_known_scale_posterior(prior, scale, s, n):
    """What is known of a normal distribution's mean after `n` draws of known deviation, whose sum is `s`, as a Normal.

    >>> normal_conjugates_known_scale_posterior(tf.distributions.Normal(1.0, 2.0), 3.0, s=tf.constant(10.0), n=5).mean()  # 1.6897
    """
    mean, posterior_variance, _ = _updated(prior, scale, s, n)
    return Normal(loc=mean, scale=math.sqrt(posterior_variance))


def normal_conjugates_known_scale_predictive(prior, scale, s, n):
    """The distribution of the next draw, after `n` draws of known deviation whose sum is `s`, as a Normal."""
    mean, posterior_variance, variance = _updated(prior, scale, s, n)
    return Normal(loc=mean, scale=math.sqrt(posterior_variance + variance))
