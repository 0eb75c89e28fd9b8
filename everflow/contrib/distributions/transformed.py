"""TransformedDistribution: the draws of a distribution, mapped by a bijector."""

from __future__ import annotations

import numpy as np

from everflow.contrib.distributions.bijectors.elementwise import Identity
from everflow.distributions.distribution import Distribution, as_vector
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.constants import constant


def _truth(value):
    """What a bool tensor is known to be."""
    known = constant_value(value)
    return None if known is None else bool(known)


def _ndims(shape):
    """The rank that a shape tensor stands for, as a constant."""
    return constant(shape.shape.size(0), dtype=dtypes.int32)


def _equal(x, y):
    return constant(int(constant_value(x)) == int(constant_value(convert_to_tensor(y, name="Const"))))


def _not(x):
    return constant(not _truth(x))


def _and(*facts):
    return constant(all(_truth(fact) for fact in facts))


class _Override:
    """A shape in place of a scalar distribution's own; its facts are constants in TensorFlow's graphs, too."""

    def __init__(self, shape, base_is_scalar, zero, name):
        self.tensor = convert_to_tensor([] if shape is None else shape, dtype=dtypes.int32, name=name)
        if self.tensor.shape.ndims != 1 or self.tensor.shape.size(0) is None:
            raise ValueError(f"{name} must be a vector of known length: the rank it stands for has to be known")
        is_scalar = _equal(_ndims(self.tensor), 0)
        if not _truth(is_scalar):
            if _truth(_and(_not(base_is_scalar), _not(is_scalar))):
                raise ValueError("base distribution not scalar")
        self.given = _not(_equal(_ndims(self.tensor), zero))
        known = constant_value(self.tensor)
        self.ndims = self.tensor.shape.size(0)
        self.static = TensorShape([None] * self.ndims if known is None else [int(size) for size in known])


def _of_inverse(method):
    """A method that asks the untransformed distribution about the value that was mapped."""

    def ask(self, y, bijector_kwargs=None, distribution_kwargs=None):
        self._scalar_only(method)
        x = self.bijector.inverse(y, **(bijector_kwargs or {}))
        return getattr(self.distribution, method)(x, **(distribution_kwargs or {}))

    return ask


class TransformedDistribution(Distribution):
    """The distribution of `bijector.forward(x)` for draws x of another.

    `batch_shape` and `event_shape` make a batch, or vectors, of a scalar distribution's independent draws.

    >>> log_normal = TransformedDistribution(tf.distributions.Normal(0.0, 1.0), bijectors.Exp())
    """

    def __init__(self, distribution, bijector=None, batch_shape=None, event_shape=None, validate_args=False, name=None):
        parameters = dict(locals())
        name = name or (("" if bijector is None else bijector.name) + distribution.name)
        with name_scope(name, values=[event_shape, batch_shape]) as name:
            self._bijector = Identity(validate_args=validate_args) if bijector is None else bijector
            zero = constant(0, dtype=dtypes.int32, name="zero")
            self._empty = constant([], dtype=dtypes.int32, name="empty")
            self._batch_override = _Override(batch_shape, distribution.is_scalar_batch(), zero, "batch_shape")
            self._event_override = _Override(event_shape, distribution.is_scalar_event(), zero, "event_shape")
            # Independent draws come in front of the base's own batch, so events made of them have to go behind it.
            one_batch = _not(self._batch_override.given)
            rotation = _and(self._event_override.given, one_batch, _not(distribution.is_scalar_batch()))
            self._needs_rotation = _truth(rotation)
            event_ndims = _ndims(self._event_override.tensor)
            self._rotate_ndims = self._event_override.ndims if self._needs_rotation else 0
            rotated = event_ndims if self._needs_rotation else 0
            self._reduce_event_indices = math.range(rotated - event_ndims, rotated)
        self._distribution = distribution
        parents = list(distribution._graph_parents) + list(self._bijector.graph_parents)
        kind = distribution.reparameterization_type
        self._begin(parameters, distribution.dtype, kind, parents, name, distribution.allow_nan_stats)

    distribution = property(lambda self: self._distribution, doc="Where draws come from.")
    bijector = property(lambda self: self._bijector, doc="What maps them.")

    def _event_ndims(self):
        """The rank of the events that the bijector gives."""
        ndims = self.event_shape.ndims
        if ndims is None:
            raise NotImplementedError("The rank of events has to be known while the graph is drawn")
        return ndims

    def _batch_shape_tensor(self):
        own = self.distribution.batch_shape_tensor()  # TensorFlow's graphs have it, used or not
        return self._batch_override.tensor if self._batch_override.ndims else own

    def _batch_shape(self):
        return self._batch_override.static if self._batch_override.ndims else self.distribution.batch_shape

    def _event_shape_tensor(self):
        own = self.distribution.event_shape_tensor()
        override = self._event_override
        return self.bijector.forward_event_shape_tensor(override.tensor if override.ndims else own)

    def _event_shape(self):
        own, override = self.distribution.event_shape, self._event_override
        return self.bijector.forward_event_shape(override.static if override.ndims else own)

    def _sample_n(self, n, seed=None, **distribution_kwargs):
        if not isinstance(n, Tensor):
            constant([n], dtype=dtypes.int32)  # TensorFlow's graphs have it, used or not
        first, last = (self._empty, [n]) if self._needs_rotation else ([n], self._empty)
        shape = _joined([first, self._batch_override.tensor, self._event_override.tensor, last])
        x = self.distribution.sample(sample_shape=shape, seed=seed, **distribution_kwargs)
        return self._rotated(x, 1)

    def _call_sample_n(self, sample_shape, seed, name, bijector_kwargs=None, distribution_kwargs=None):
        with self._name_scope(name, values=[sample_shape]):
            sample_shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
            sample_shape, n = as_vector(sample_shape, "sample_shape")
            x = self._sample_n(n, seed, **(distribution_kwargs or {}))
            batch_event_shape = array.shape(x)[1:]
            x = array.reshape(x, array.concat([sample_shape, batch_event_shape], 0))
            # The bijector comes last, so that it knows the very tensor that is asked about later.
            y = self.bijector.forward(x, **(bijector_kwargs or {}))
            return self._set_sample_static_shape(y, sample_shape)

    def _rotated(self, x, sign):
        """Move the axes of events behind the batch (or back): by as many as events have."""
        if not self._needs_rotation:
            return x
        ndims = array.rank(x)
        shift = self._rotate_ndims * sign
        order = math.mod(math.range(0, ndims) + shift, ndims)
        return array.transpose(x, order)

    def _over_inverses(self, y, of_one, added, bijector_kwargs, distribution_kwargs):
        """What is computed of the value that is mapped to y; added up where there are several."""
        x = self.bijector.inverse(y, **(bijector_kwargs or {}))
        log_det = self.bijector.inverse_log_det_jacobian(y, event_ndims=self._event_ndims(), **(bijector_kwargs or {}))
        if isinstance(x, tuple):
            return added([of_one(part, det, distribution_kwargs) for part, det in zip(x, log_det, strict=True)])
        return of_one(x, log_det, distribution_kwargs)

    def _log_prob(self, y, bijector_kwargs=None, distribution_kwargs=None):
        def added(parts):
            return math.reduce_logsumexp(array.stack(parts), axis=0)

        return self._over_inverses(y, self._log_prob_of, added, bijector_kwargs, distribution_kwargs)

    def _log_prob_of(self, x, log_det, distribution_kwargs):
        log_prob = self.distribution.log_prob(self._rotated(x, -1), **(distribution_kwargs or {}))
        if self._event_override.ndims:
            log_prob = math.reduce_sum(log_prob, self._reduce_event_indices)
        return log_prob + log_det

    def _prob(self, y, bijector_kwargs=None, distribution_kwargs=None):
        return self._over_inverses(y, self._prob_of, math.add_n, bijector_kwargs, distribution_kwargs)

    def _prob_of(self, x, log_det, distribution_kwargs):
        prob = self.distribution.prob(self._rotated(x, -1), **(distribution_kwargs or {}))
        if self._event_override.ndims:
            prob = math.reduce_prod(prob, self._reduce_event_indices)
        return prob * math.exp(log_det)

    def _scalar_only(self, method):
        if self._event_override.ndims:
            raise NotImplementedError(f"{method} is not implemented when overriding event_shape")

    _log_cdf, _cdf, _log_survival_function, _survival_function = (
        _of_inverse(method) for method in ("log_cdf", "cdf", "log_survival_function", "survival_function")
    )

    def _quantile(self, value, bijector_kwargs=None, distribution_kwargs=None):
        self._scalar_only("quantile")
        x = self.distribution.quantile(value, **(distribution_kwargs or {}))
        return self.bijector.forward(x, **(bijector_kwargs or {}))

    def _entropy(self):
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        entropy = self.distribution.entropy()
        if self._event_override.ndims:
            # Components are independent, so their entropies add up.
            entropy *= math.cast(math.reduce_prod(self._event_override.tensor), dtype=entropy.dtype.base_dtype)
        if self._batch_override.ndims:
            # Each axis of the override is a new one, before those that the distribution itself has.
            new = array.ones([self._batch_override.ndims], dtype=dtypes.int32)
            entropy = array.reshape(entropy, array.concat([new, self.distribution.batch_shape_tensor()], 0))
            old = _ones_like(self.distribution.batch_shape_tensor())
            entropy = array.tile(entropy, array.concat([self._batch_override.tensor, old], 0))
        dummy = array.zeros(array.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), self.dtype)
        return entropy - self.bijector.inverse_log_det_jacobian(dummy, event_ndims=self._event_ndims())


def _ones_like(vector):
    known = vector.shape.is_fully_defined()
    return array.ones(vector.shape, vector.dtype) if known else array.ones_like(vector)


def _known(vector):
    if isinstance(vector, Tensor):
        return constant_value(vector)
    return None if isinstance(vector[0], Tensor) else np.array(vector)


def _joined(vectors):
    """Vectors as one, a constant where all of them are."""
    known = [_known(vector) for vector in vectors]
    if any(value is None for value in known):
        return array.concat(vectors, 0)
    return constant(np.concatenate(known).astype(np.int32))
