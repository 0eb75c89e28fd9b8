"""Vectors `loc + scale @ z` for vectors z of independent draws: the base of multivariate normals and others."""

from __future__ import annotations

import math as pymath

from everflow.contrib.distributions.bijectors.affine import AffineLinearOperator
from everflow.contrib.distributions.transformed import TransformedDistribution
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.linalg import operators as linear_operators


def checked(scale):
    """A scale that has to be given; TypeError for one of something else than floats."""
    if scale is None:
        raise ValueError("Missing required `scale` parameter.")
    if not scale.dtype.is_floating:
        raise TypeError("`scale` parameter must have floating-point dtype.")
    return scale


def placed(loc, scale):
    """(the location as a tensor, or None; the shapes of it and the scale)."""
    loc = None if loc is None else convert_to_tensor(loc, name="loc", dtype=scale.dtype)
    return loc, shapes_of(loc, scale)


def shapes_of(loc, scale):
    """(batch shape, event shape) of a location and a LinearOperator, static where they are known."""
    with name_scope("shapes_from_loc_and_scale", values=[loc]):
        event_size = scale.range_dimension_tensor()
        static_event_size = constant_value(event_size)
        event_shape = [event_size if static_event_size is None else int(static_event_size)]
        batch_shape = scale.batch_shape_tensor()
        if loc is not None:
            loc_batch = loc.shape.with_rank_at_least(1)[:-1]
            if loc_batch.is_fully_defined():
                loc_batch_shape = convert_to_tensor(loc_batch.as_list(), dtype=dtypes.int32, name="loc_batch_shape")
            else:
                loc_batch_shape = array.shape(loc)[:-1]
            batch_shape = _broadcast(batch_shape, loc_batch_shape)
        known = constant_value(batch_shape) if not isinstance(batch_shape, list) else batch_shape
        return batch_shape if known is None else [int(size) for size in known], event_shape


def _broadcast(a, b):
    with name_scope("prefer_static_broadcast_shape", values=[a, b]):
        known_a, known_b = constant_value(a), constant_value(b)
        if known_a is not None and known_b is not None:
            return array.broadcast_static_shape(TensorShape(known_a), TensorShape(known_b)).as_list()
        return array.broadcast_dynamic_shape(a, b)


class AffineVector(TransformedDistribution):
    """Base of distributions of `loc + scale @ z` for vectors z of independent draws; scale is a LinearOperator."""

    _base_variance = 1.0  # of one component of z

    def __init__(self, distribution, loc, scale, shapes, validate_args, name):
        batch_shape, event_shape = shapes
        bijector = AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args)
        super().__init__(distribution, bijector, batch_shape, event_shape, validate_args, name)

    loc = property(lambda self: self.bijector.shift, doc="The mean.")
    scale = property(lambda self: self.bijector.scale, doc="The LinearOperator.")

    def _mean(self):
        shape = self.batch_shape.concatenate(self.event_shape)
        known = shape.is_fully_defined()
        if not known:
            shape = array.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        if self.loc is None:
            return array.zeros(shape, self.dtype)
        loc = array.identity(self.loc)
        return loc if known and shape == self.loc.shape else loc + array.zeros(shape, self.dtype)

    def _is_diag(self):
        kinds = ("LinearOperatorIdentity", "LinearOperatorScaledIdentity", "LinearOperatorDiag")
        return isinstance(self.scale, tuple(getattr(linear_operators, kind) for kind in kinds))

    def _covariance(self):
        if self._is_diag():
            return self._times(self._base_variance, array.matrix_diag(math.square(self.scale.diag_part())))
        return self._times(self._base_variance, self.scale.matmul(self.scale.to_dense(), adjoint_arg=True))

    def _variance(self):
        if self._is_diag():
            return self._times(self._base_variance, math.square(self.scale.diag_part()))
        squared = self._squared_scale()
        return self._times(self._base_variance, array.matrix_diag_part(squared))

    def _stddev(self):
        deviation = pymath.sqrt(self._base_variance)
        if self._is_diag():
            return self._times(deviation, math.abs(self.scale.diag_part()))
        squared = self._squared_scale()
        return self._times(deviation, math.sqrt(array.matrix_diag_part(squared)))

    def _squared_scale(self):
        """The scale times its adjoint; one that is its own adjoint isn't turned."""
        perturbed = isinstance(self.scale, linear_operators.LinearOperatorLowRankUpdate)
        turned = not (perturbed and self.scale.is_self_adjoint)
        return self.scale.matmul(self.scale.to_dense(), adjoint_arg=turned)

    @staticmethod
    def _times(factor, x):
        return x if factor == 1.0 else factor * x

    def _mode(self):
        return self._mean()


def diag_scale(loc, diag, multiplier, positive=False, validate_args=False):
    """The LinearOperator of a diagonal, or of a multiple of the identity as large as the location. It is taken for
    positive definite where one says so, and checked where arguments are.
    """

    def checked(x, what):
        if not validate_args:
            return x
        return with_dependencies([check.assert_positive(x, message=f"{what} must be positive.")], x)

    with name_scope("make_diag_scale", values=[loc, diag, multiplier]):
        loc = None if loc is None else convert_to_tensor(loc, name="loc")
        facts = {"is_non_singular": True, "is_self_adjoint": True}
        if diag is not None:
            diag = convert_to_tensor(diag, name="scale_diag")
            if multiplier is not None:
                diag += convert_to_tensor(multiplier, name="scale_identity_multiplier")[..., None]
            diag = checked(diag, "The diagonal of a scale")
            return linear_operators.LinearOperatorDiag(diag, **facts, is_positive_definite=positive)
        if loc is None:
            raise ValueError("Without a diagonal the location has to be given: it tells the number of components")
        size = loc.shape.size(-1)
        if multiplier is None:
            facts = {"is_self_adjoint": True, "is_positive_definite": True}
            return linear_operators.LinearOperatorIdentity(num_rows=size, dtype=loc.dtype, **facts)
        multiplier = convert_to_tensor(multiplier, dtype=loc.dtype, name="scale_identity_multiplier")
        multiplier = checked(multiplier, "The multiplier of the identity")
        facts["is_positive_definite"] = positive or None
        return linear_operators.LinearOperatorScaledIdentity(num_rows=size, multiplier=multiplier, **facts)


def diag_scaled(scope_is_name):
    """Gives a class of `AffineVector`s a constructor with a diagonal scale, or a multiple of the identity.

    What is drawn later is in the constructor's own scope where `scope_is_name`, else in a new one of that name.
    """

    def decorate(cls):
        def __init__(
            self,
            loc=None,
            scale_diag=None,
            scale_identity_multiplier=None,
            validate_args=False,
            allow_nan_stats=True,
            name=cls.__name__,
        ):
            scales = {"scale_diag": scale_diag, "scale_identity_multiplier": scale_identity_multiplier}
            checked = {"validate_args": validate_args, "allow_nan_stats": allow_nan_stats}
            parameters = {"loc": loc, **scales, **checked, "name": name}
            with name_scope(name) as scope, name_scope("init", values=[loc, scale_diag, scale_identity_multiplier]):
                scale = diag_scale(loc, scale_diag, scale_identity_multiplier)
            super(cls, self).__init__(loc, scale, validate_args, allow_nan_stats, scope if scope_is_name else name)
            self._parameters = parameters

        cls.__init__ = __init__
        return cls

    return decorate
