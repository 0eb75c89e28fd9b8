"""Where batch and event shapes come from: `Scalar` for draws of single numbers, `Vector` for draws along a parameter's
last axis, `Inner` for what is made of another distribution."""

from __future__ import annotations

from everflow.distributions.distribution import Distribution
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.shapes import TensorShape
from everflow.ops import array
from everflow.ops.random import distributions as random


class Scalar(Distribution):
    """Base of distributions whose draws are single numbers and whose parameters are broadcast against each other."""

    _parameter_names: tuple = ("loc", "scale")

    @classmethod
    def _param_shapes(cls, sample_shape):
        shape = convert_to_tensor(sample_shape, dtype=dtypes.int32)
        return dict.fromkeys(cls._parameter_names, shape)

    def _own_parameters(self):
        return [getattr(self, f"_{name}") for name in self._parameter_names]

    def _batch_shape_tensor(self):
        shape, *others = [array.shape(x) for x in self._own_parameters()]
        for other in others:
            shape = array.broadcast_dynamic_shape(shape, other)
        return shape

    def _batch_shape(self):
        shape, *others = [x.shape for x in self._own_parameters()]
        for other in others:
            shape = array.broadcast_static_shape(shape, other)
        return shape

    def _event_shape_tensor(self):
        return array.constant([], dtype=dtypes.int32)

    def _event_shape(self):
        return TensorShape([])

    def _standard_normal(self, n, seed):
        return random.random_normal(self._drawn_shape(n), dtype=self.dtype, seed=seed)

    def _standard_uniform(self, n, seed, low):
        """Draws between `low`, of the type of the distribution, and 1."""
        return random.random_uniform(self._drawn_shape(n), minval=low, maxval=1.0, dtype=self.dtype, seed=seed)


class Inner(Distribution):
    """Base of distributions whose batch and events have the shapes of those of another, `_shaped_like`."""

    _shaped_like = "distribution"

    def _batch_shape_tensor(self):
        return getattr(self, self._shaped_like).batch_shape_tensor()

    def _batch_shape(self):
        return getattr(self, self._shaped_like).batch_shape

    def _event_shape_tensor(self):
        return getattr(self, self._shaped_like).event_shape_tensor()

    def _event_shape(self):
        return getattr(self, self._shaped_like).event_shape


class Vector(Distribution):
    """Base of distributions whose draws are vectors, as long as the last axis of the parameter `_shaped_like` names."""

    _shaped_like = "_logits"

    def _batch_shape_tensor(self):
        return array.shape(getattr(self, self._shaped_like))[:-1]

    def _batch_shape(self):
        return getattr(self, self._shaped_like).shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self):
        return array.shape(getattr(self, self._shaped_like))[-1:]

    def _event_shape(self):
        return getattr(self, self._shaped_like).shape.with_rank_at_least(1)[-1:]
