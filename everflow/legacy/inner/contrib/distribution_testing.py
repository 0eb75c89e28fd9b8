"""Mixins for tests of distributions: whether samples go with probabilities and moments.

`sess_run_fn` runs tensors, so that the mixins serve any kind of session.
"""

from __future__ import annotations

import math as pymath

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.linalg import norms
from everflow.ops.math.counting import histogram_fixed_width

__all__ = ["DiscreteScalarDistributionTestHelpers", "VectorDistributionTestHelpers", "_vec_outer_square"]


def _vec_outer_square(x, name=None):
    """`x xᵀ` of each vector."""
    with name_scope(name, "vec_osquare", [x]):
        return x[..., :, None] * x[..., None, :]


class DiscreteScalarDistributionTestHelpers:
    """For distributions of whole numbers."""

    def histogram(self, x, value_range=None, nbins=None, name=None):
        """(how many there are of each whole number, the numbers); beyond the range they count for its ends."""
        with name_scope(name, "histogram", [x]):
            x = convert_to_tensor(x, name="x")
            if value_range is None:
                value_range = [math.reduce_min(x), 1 + math.reduce_max(x)]
            value_range = convert_to_tensor(value_range, name="value_range")
            low, high = value_range[0], value_range[1]
            if nbins is None:
                nbins = math.cast(high - low, dtypes.int32)
            first = math.cast(low, x.dtype)
            step = math.cast((high - low), x.dtype) / math.cast(nbins, x.dtype)
            counts = histogram_fixed_width(x, value_range=value_range, nbins=nbins)
            return counts, first + step * math.cast(math.range(nbins), x.dtype)

    def run_test_sample_consistent_log_prob(
        self,
        sess_run_fn,
        dist,
        num_samples=int(1e5),
        num_threshold=int(1e3),
        seed=42,
        batch_size=None,
        rtol=1e-2,
        atol=0.0,
    ):
        """Compare how often numbers are drawn with their probabilities, where they come often enough to tell."""
        drawn = sess_run_fn(dist.sample(num_samples, seed=seed))
        drawn = np.reshape(drawn, [num_samples, -1 if batch_size is None else batch_size])
        numbers = np.arange(np.min(drawn), np.max(drawn) + 1).astype(drawn.dtype)
        shape = [-1] + [1] * dist.batch_shape.ndims
        probabilities = sess_run_fn(math.exp(dist.log_prob(np.reshape(numbers, shape))))
        probabilities = np.broadcast_to(np.reshape(probabilities, [len(numbers), -1]), [len(numbers), drawn.shape[1]])
        counts = np.stack([np.sum(drawn == number, axis=0) for number in numbers])
        often = counts > num_threshold
        self.assertAllClose(counts[often] / num_samples, probabilities[often], rtol=rtol, atol=atol)

    def run_test_sample_consistent_mean_variance(
        self, sess_run_fn, dist, num_samples=int(1e5), seed=24, rtol=1e-2, atol=0.0
    ):
        """Compare moments of samples with those of the distribution."""
        x = math.cast(dist.sample(num_samples, seed=seed), dtypes.float32)
        mean = math.reduce_mean(x, axis=0)
        variance = math.reduce_mean(math.square(x - mean), axis=0)
        found = sess_run_fn([mean, variance, math.sqrt(variance), dist.mean(), dist.variance(), dist.stddev()])
        for sampled, exact in zip(found[:3], found[3:], strict=True):
            self.assertAllClose(sampled, exact, rtol=rtol, atol=atol)


class VectorDistributionTestHelpers:
    """For distributions of vectors."""

    def run_test_sample_consistent_log_prob(
        self, sess_run_fn, dist, num_samples=int(1e5), radius=1.0, center=0.0, seed=42, rtol=1e-2, atol=0.0
    ):
        """Measure a ball: the mean of `1 / p(x)` over samples that are within it is its volume."""
        dims = int(sess_run_fn(dist.event_shape_tensor())[0])
        volume = pymath.pi ** (dims / 2) / pymath.gamma(dims / 2 + 1) * radius**dims
        x = dist.sample(num_samples, seed=seed)
        inside = math.cast(norms.norm(x - center, axis=-1) <= radius, x.dtype)
        inverse = math.exp(-dist.log_prob(x)) * inside
        measured = sess_run_fn(math.reduce_mean(inverse, axis=0))
        self.assertAllClose(np.broadcast_to(volume, np.shape(measured)), measured, rtol=rtol, atol=atol)

    def run_test_sample_consistent_mean_covariance(
        self, sess_run_fn, dist, num_samples=int(1e5), seed=24, rtol=1e-2, atol=0.1, cov_rtol=None, cov_atol=None
    ):
        """Compare moments of samples with those of the distribution."""
        x = dist.sample(num_samples, seed=seed)
        mean = math.reduce_mean(x, axis=0)
        covariance = math.reduce_mean(_vec_outer_square(x - mean), axis=0)
        variance = array.matrix_diag_part(covariance)
        sampled = [mean, covariance, variance, math.sqrt(variance)]
        exact = [dist.mean(), dist.covariance(), dist.variance(), dist.stddev()]
        found = sess_run_fn([*sampled, *exact])
        of_covariance = {"rtol": cov_rtol or rtol, "atol": cov_atol or atol}
        for which, (one, other) in enumerate(zip(found[:4], found[4:], strict=True)):
            self.assertAllClose(other, one, **(of_covariance if which == 1 else {"rtol": rtol, "atol": atol}))
