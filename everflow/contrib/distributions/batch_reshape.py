"""A distribution whose batch has another shape."""

from __future__ import annotations

import numpy as np

from everflow.distributions.distribution import Distribution
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value_as_shape
from everflow.ops import array, math
from everflow.ops.array.indexing import where_v2
from everflow.ops.checks import values as check
from everflow.ops.checks.shapes import assert_rank


def _through(way, method):
    """A method that hands the distribution's own to another, which brings it to the new shape."""
    return lambda self, *value: getattr(self, way)(getattr(self.distribution, method), *value)


class BatchReshape(Distribution):
    """A distribution with its batch reshaped; one size may be -1.

    >>> BatchReshape(tf.distributions.Normal(loc=[1.0, 2.0, 3.0, 4.0], scale=1.0), [2, 2]).sample().shape.as_list()
    [2, 2]
    """

    def __init__(self, distribution, batch_shape, validate_args=False, allow_nan_stats=True, name=None):
        parameters = dict(locals())
        name = name or "BatchReshape" + distribution.name
        with name_scope(name, values=[batch_shape, *distribution._graph_parents]) as name:
            # As it was given: with its -1 if it has one.
            self._given_shape = convert_to_tensor(batch_shape, dtype=dtypes.int32, name="batch_shape")
            _check_known(distribution, self._given_shape)
            expanded = _calculate_reshape(distribution.batch_shape_tensor(), self._given_shape, validate_args)
            self._shape, self._static_shape, self._assertions = expanded
        self._distribution = distribution
        parents = [self._given_shape, *distribution._graph_parents]
        kind = distribution.reparameterization_type
        self._begin(parameters, distribution.dtype, kind, parents, name)

    distribution = property(lambda self: self._distribution, doc="The distribution whose batch this is.")

    def _batch_shape_tensor(self):
        with control_dependencies(self._assertions):
            return array.identity(self._shape)

    def _batch_shape(self):
        return self._static_shape

    def _event_shape_tensor(self):
        with control_dependencies(self._assertions):
            return array.identity(self.distribution.event_shape_tensor())

    def _event_shape(self):
        return self.distribution.event_shape

    def _sample_n(self, n, seed=None):
        with control_dependencies(self._assertions):
            x = self.distribution.sample(sample_shape=n, seed=seed)
            return array.reshape(x, array.concat([[n], self._given_shape, self.event_shape_tensor()], 0))

    _log_prob, _prob, _log_cdf, _cdf, _log_survival_function, _survival_function = (
        _through("_of_value", method)
        for method in ("log_prob", "prob", "log_cdf", "cdf", "log_survival_function", "survival_function")
    )
    _mean, _mode, _stddev, _variance = (_through("_statistic", name) for name in ("mean", "mode", "stddev", "variance"))

    def _entropy(self):
        return self._statistic(self.distribution.entropy, [], TensorShape([]))

    def _covariance(self):
        event = self.event_shape_tensor()
        static = self.event_shape.concatenate(self.event_shape)
        return self._statistic(self.distribution.covariance, [event, event], static)

    def _statistic(self, compute, event_shapes=None, static_event_shape=None):
        """A statistic of the distribution, its batch reshaped."""
        with control_dependencies(self._assertions):
            event_shapes = [self._event_shape_tensor()] if event_shapes is None else event_shapes
            static = self.event_shape if static_event_shape is None else static_event_shape
            new_shape = array.concat([self._given_shape, *event_shapes], 0)
            result = array.reshape(compute(), new_shape)
            if static.ndims is not None and self.batch_shape.ndims is not None:
                result.set_shape(self.batch_shape.concatenate(static))
            return result

    def _of_value(self, compute, x):
        """What the distribution makes of a value that is reshaped as its own batch is, reshaped back."""
        with control_dependencies(self._check_sample(x)):
            drawn, static = self._sample_shape(x)
            old_shape = array.concat([drawn, self.distribution.batch_shape_tensor(), self.event_shape_tensor()], 0)
            result = compute(array.reshape(x, old_shape))
            result = array.reshape(result, array.concat([drawn, self._given_shape], 0))
            if static.ndims is not None and self.batch_shape.ndims is not None:
                result.set_shape(static.concatenate(self.batch_shape))
            return result

    def _ndims_of(self, x):
        """The ranks of a value, of the batch and of events: numbers where they are known, else tensors."""
        x_ndims = array.rank(x) if x.shape.ndims is None else x.shape.ndims
        event = self.event_shape
        event_ndims = array.size(self.event_shape_tensor()) if event.ndims is None else event.ndims
        batch_ndims = array.size(self._given_shape) if self.batch_shape.ndims is None else self.batch_shape.ndims
        return x_ndims, batch_ndims, event_ndims

    def _sample_shape(self, x):
        """The part of a value's shape before batch and event, as a tensor or numbers, and as a TensorShape."""
        x_ndims, batch_ndims, event_ndims = self._ndims_of(x)
        drawn = x_ndims - batch_ndims - event_ndims
        static = x.shape[:drawn] if isinstance(drawn, int) else TensorShape(None)
        return np.int32(static.as_list()) if static.is_fully_defined() else array.shape(x)[:drawn], static

    def _check_sample(self, x):
        """Checks that a value has all axes of batch and event: it isn't broadcast against them."""
        with name_scope("validate_sample_arg", values=[x]):
            assertions = []
            x_ndims, batch_ndims, event_ndims = self._ndims_of(x)
            expected_ndims = batch_ndims + event_ndims
            if isinstance(x_ndims, int) and isinstance(expected_ndims, int):
                if x_ndims < expected_ndims:
                    raise _broadcasts(x, f"{expected_ndims} dimensions or more")
            elif self.validate_args:
                name = "assert_batch_and_event_ndims_large_enough"
                message = "Broadcasting is not supported: the value has fewer dimensions than a batch of events."
                assertions.append(check.assert_greater_equal(x_ndims, expected_ndims, message=message, name=name))
            wanted = self.batch_shape.concatenate(self.event_shape)
            if not wanted.is_fully_defined():
                wanted = array.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
            rest = x_ndims - expected_ndims
            found = x.shape[rest:] if isinstance(rest, int) else TensorShape(None)
            if not found.is_fully_defined():
                begin = math.maximum(rest, 0)
                found = array.shape(x)[begin:]
            if isinstance(wanted, TensorShape) and isinstance(found, TensorShape):
                if wanted != found:
                    raise _broadcasts(x, f"a shape that ends in {wanted}")
            elif self.validate_args:
                wanted, found = (t.as_list() if isinstance(t, TensorShape) else t for t in (wanted, found))
                with control_dependencies(assertions):
                    name = "assert_batch_and_event_shape_same"
                    message = "Broadcasting is not supported: the value does not have the shape of a batch of events."
                    assertions.append(check.assert_equal(wanted, found, message=message, name=name))
            return [*self._assertions, *assertions]


def _broadcasts(x, wanted):
    return NotImplementedError(f"Broadcasting is not supported: values need {wanted}, {x.name} is of shape {x.shape}.")


def _check_known(distribution, batch_shape):
    """Raise for what is known to be wrong already."""
    if batch_shape.shape.ndims is not None and batch_shape.shape.ndims != 1:
        raise ValueError(f"batch_shape must be a vector, its own shape is {batch_shape.shape}.")
    known, own = constant_value_as_shape(batch_shape), distribution.batch_shape
    if known.is_fully_defined() and own.is_fully_defined() and known.num_elements() != own.num_elements():
        raise ValueError(f"The sizes of the batch must match: {distribution.name} has {own}, batch_shape is {known}.")


def _calculate_reshape(original_shape, new_shape, validate):
    """(the new shape with the size that -1 stands for, what is known of it, assertions)."""
    static = constant_value_as_shape(new_shape)
    if static.is_fully_defined():
        return np.int32(static.as_list()), static, []
    with name_scope("calculate_reshape", values=[original_shape, new_shape]):
        original_size = math.reduce_prod(original_shape)
        implicit = math.equal(new_shape, -1)
        implicit_size = original_size // math.maximum(1, -math.reduce_prod(new_shape))
        expanded = where_v2(implicit, array.fill(array.shape(new_shape), implicit_size), new_shape)
        if not validate:
            return expanded, static, []
        return (
            expanded,
            static,
            [
                assert_rank(original_shape, 1, message="Original shape must be a vector."),
                assert_rank(new_shape, 1, message="New shape must be a vector."),
                check.assert_less_equal(
                    math.count_nonzero(implicit, dtype=dtypes.int32), 1, message="At most one dimension can be unknown."
                ),
                check.assert_positive(expanded, message="Shape elements must be >=-1."),
                check.assert_equal(math.reduce_prod(expanded), original_size, message="Shape sizes do not match."),
            ],
        )
