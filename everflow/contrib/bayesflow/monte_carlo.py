"""Expectations estimated from samples, with gradients, and from samples of another distribution."""

from __future__ import annotations

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array
from everflow.ops import math as math_ops
from everflow.ops.nn.activations import relu

__all__ = ["expectation", "expectation_importance_sampler", "expectation_importance_sampler_logspace"]


def expectation_importance_sampler(
    f, log_p, sampling_dist_q, z=None, n=None, seed=None, name="expectation_importance_sampler"
):
    """The mean of `f` under the density `p`, from samples of `q`: the mean of `f(z) p(z) / q(z)`.

    It is computed with logarithms, apart for where `f` is positive and negative, so that nothing overflows.

    Args:
      f: A function of samples.
      log_p: The logarithm of the density whose mean is wanted, a function of samples.
      sampling_dist_q: The distribution that samples are from.
      z: Samples of it.
      n: How many samples to draw instead.
      seed: The seed for those.
      name: The name of the scope.

    Returns:
      The mean over the first dimension.
    """
    with name_scope(name, values=[z, n]):
        z = _samples(sampling_dist_q, z, n, seed)
        log_p_z, log_q_z, values = log_p(z), sampling_dist_q.log_prob(z), f(z)
        # One more in both parts falls out of the difference, and no logarithm is of zero.
        logs = [math_ops.log(relu(part()) + 1.0) for part in (lambda: values, lambda: -1.0 * values)]
        positive, negative = (_log_mean_exp(log + log_p_z - log_q_z) for log in logs)
    return math_ops.exp(positive) - math_ops.exp(negative)


def expectation_importance_sampler_logspace(
    log_f, log_p, sampling_dist_q, z=None, n=None, seed=None, name="expectation_importance_sampler_logspace"
):
    """As `expectation_importance_sampler`, for a positive `f` whose logarithm is given; the logarithm of the mean.

    Args:
      log_f: The logarithm of the function, a function of samples.
      log_p: The logarithm of the density whose mean is wanted, a function of samples.
      sampling_dist_q: The distribution that samples are from.
      z: Samples of it.
      n: How many samples to draw instead.
      seed: The seed for those.
      name: The name of the scope.

    Returns:
      The logarithm of the mean over the first dimension.
    """
    with name_scope(name, values=[z, n]):
        z = _samples(sampling_dist_q, z, n, seed)
        return _log_mean_exp(log_f(z) + log_p(z) - sampling_dist_q.log_prob(z))


def _log_mean_exp(values):
    """The logarithm of the mean of `exp(values)` over the first dimension."""
    largest = array.stop_gradient(math_ops.reduce_max(values, [0]))
    return math_ops.log(math_ops.reduce_mean(math_ops.exp(values - largest), [0])) + largest


def expectation(f, samples, log_prob=None, use_reparametrization=True, axis=0, keep_dims=False, name=None):
    """The mean of `f` over samples, with a gradient that knows where the samples came from.

    Args:
      f: A function of samples.
      samples: Samples.
      log_prob: The logarithm of their density, a function of samples: needed without reparametrization.
      use_reparametrization: Whether the samples themselves are a differentiable function of the parameters. If not, the
        gradient is that of the score function.
      axis: The dimension of the samples, or several.
      keep_dims: Whether that dimension stays, with size 1.
      name: The name of the scope.

    Returns:
      The mean.
    """
    with name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError(f"f must be a function of the samples, got {f!r}")
        if use_reparametrization:
            return math_ops.reduce_mean(f(samples), axis=axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError(f"Without reparametrization log_prob must be a function of the samples, got {log_prob!r}")
        samples = array.stop_gradient(samples)
        log_px, fx = log_prob(samples), f(samples)
        # Where exp(log_px - log_px) is 1 in value and the score in its gradient.
        weighted = fx + array.stop_gradient(fx) * (log_px - array.stop_gradient(log_px))
        return math_ops.reduce_mean(weighted, axis=axis, keepdims=keep_dims)


def _samples(distribution, z, n, seed):
    """Samples that were given, or so many new ones."""
    with name_scope("get_samples", values=[z, n]):
        if (n is None) == (z is None):
            raise ValueError(f"Give one of z, samples, and n, how many to draw; got z={z}, n={n}")
        return distribution.sample(n, seed=seed) if n is not None else convert_to_tensor(z, name="z")
