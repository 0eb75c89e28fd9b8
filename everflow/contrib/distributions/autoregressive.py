"""Distributions of sequences, each element of which depends on those before it."""

from __future__ import annotations

from everflow.distributions.event_shapes import Inner
from everflow.framework.scopes import name_scope


class Autoregressive(Inner):
    """The distribution of `x` whose element i comes from `distribution_fn(x)`, which looks at elements before i only.

    Draws apply the function `num_steps` times, from `sample0` on: after step i, the first i elements stay.
    """

    _shaped_like = "distribution0"

    def __init__(
        self,
        distribution_fn,
        sample0=None,
        num_steps=None,
        validate_args=False,
        allow_nan_stats=True,
        name="Autoregressive",
    ):
        parameters = dict(locals())
        with name_scope(name) as name:
            self._distribution_fn, self._sample0 = distribution_fn, sample0
            self._distribution0 = distribution_fn() if sample0 is None else distribution_fn(sample0)
            if num_steps is None:
                num_steps = self._distribution0.event_shape.num_elements()
                if num_steps is None:
                    raise ValueError(f"num_steps must be given: {self._distribution0} has no known number of elements")
            if num_steps < 1:
                raise ValueError(f"num_steps ({num_steps}) must be at least 1.")
            self._num_steps = num_steps
        first = self._distribution0
        kind, parents = first.reparameterization_type, first._graph_parents
        self._begin(parameters, first.dtype, kind, parents, name)

    distribution_fn = property(lambda self: self._distribution_fn, doc="From a sequence to its distribution.")
    sample0 = property(lambda self: self._sample0, doc="Where drawing begins, or None.")
    num_steps = property(lambda self: self._num_steps, doc="How often the function is applied to draw.")
    distribution0 = property(lambda self: self._distribution0, doc="The distribution that `sample0` makes.")

    def _sample_n(self, n, seed=None):
        samples = self.distribution0.sample(n, seed=seed)
        for _ in range(self._num_steps):
            samples = self.distribution_fn(samples).sample(seed=seed)
        return samples

    def _log_prob(self, value):
        return self.distribution_fn(value).log_prob(value)
