"""Multivariate normal distributions: an affine map of independent standard normal draws."""

from __future__ import annotations

import math as pymath

from everflow.contrib.distributions.bijectors.affine import AffineLinearOperator, scale_operator
from everflow.contrib.distributions.transformed import TransformedDistribution
from everflow.distributions.kullback_leibler import RegisterKL
from everflow.distributions.location_scale import Normal
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, check, linalg, linear_operators, math, nn
from everflow.ops.grouping import with_dependencies


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
    """Base of the distributions of `loc + scale @ z` for vectors z of independent draws, with a LinearOperator as scale."""

    _base_variance = 1.0  # of one component of z

    loc = property(lambda self: self.bijector.shift, doc="The mean.")
    scale = property(lambda self: self.bijector.scale, doc="The LinearOperator.")

    def _mean(self):
        shape = self.batch_shape.concatenate(self.event_shape)
        if self.loc is None:
            return array.zeros(shape, self.dtype)
        return array.identity(self.loc) if shape == self.loc.shape else self.loc + array.zeros(shape, self.dtype)

    def _is_diag(self):
        return isinstance(
            self.scale,
            (
                linear_operators.LinearOperatorIdentity,
                linear_operators.LinearOperatorScaledIdentity,
                linear_operators.LinearOperatorDiag,
            ),
        )

    def _covariance(self):
        if self._is_diag():
            return self._times(self._base_variance, array.matrix_diag(math.square(self.scale.diag_part())))
        return self._times(self._base_variance, self.scale.matmul(self.scale.to_dense(), adjoint_arg=True))

    def _variance(self):
        if self._is_diag():
            return self._times(self._base_variance, math.square(self.scale.diag_part()))
        squared = self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)
        return self._times(self._base_variance, array.matrix_diag_part(squared))

    def _stddev(self):
        deviation = pymath.sqrt(self._base_variance)
        if self._is_diag():
            return self._times(deviation, math.abs(self.scale.diag_part()))
        squared = self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)
        return self._times(deviation, math.sqrt(array.matrix_diag_part(squared)))

    @staticmethod
    def _times(factor, x):
        return x if factor == 1.0 else factor * x

    def _mode(self):
        return self._mean()


class MultivariateNormalLinearOperator(AffineVector):
    """The multivariate normal distribution of `loc + scale @ z` for standard normal z, with a LinearOperator as scale."""

    def __init__(self, loc=None, scale=None, validate_args=False, allow_nan_stats=True, name="MultivariateNormalLinearOperator"):
        parameters = dict(locals())
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        with name_scope(name) as name:
            loc = None if loc is None else convert_to_tensor(loc, name="loc", dtype=scale.dtype)
            batch_shape, event_shape = shapes_of(loc, scale)
        super().__init__(
            distribution=Normal(loc=array.zeros([], dtype=scale.dtype), scale=array.ones([], dtype=scale.dtype)),
            bijector=AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args),
            batch_shape=batch_shape,
            event_shape=event_shape,
            validate_args=validate_args,
            name=name,
        )
        self._parameters = parameters
        self._allow_nan_stats = allow_nan_stats


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _kl_mvn(a, b, name=None):
    with name_scope(name, "kl_mvn", values=[a.loc, b.loc]):
        if a._is_diag() and b._is_diag():
            change = (a.stddev() / b.stddev())[..., None]
        else:
            change = b.scale.solve(a.scale.to_dense())
        log_dets = b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
        size = math.cast(a.scale.domain_dimension_tensor(), a.dtype)
        squared = -size + _squared_norm(change)
        return log_dets + 0.5 * (squared + _squared_norm(b.scale.solve((b.mean() - a.mean())[..., None])))


def _squared_norm(matrix):
    return math.reduce_sum(math.square(matrix), axis=[-2, -1])


class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """The multivariate normal distribution of independent components: `scale_diag` are their standard deviations.

    >>> MultivariateNormalDiag(loc=[1.0, -1.0], scale_diag=[1.0, 2.0]).log_prob([0.0, 0.0])
    """

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalDiag",
    ):
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[loc, scale_diag, scale_identity_multiplier]):
            scale = diag_scale(loc, scale_diag, scale_identity_multiplier, validate_args)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


def diag_scale(loc, diag, multiplier, validate_args, factor=None, factor_diag=None):
    """The LinearOperator of a diagonal, or of a multiple of the identity as large as the location."""
    with name_scope("make_diag_scale", values=[loc, diag, multiplier]):
        return _diag_scale(loc, diag, multiplier, validate_args, factor, factor_diag)


def _diag_scale(loc, diag, multiplier, validate_args, factor, factor_diag):
    loc = None if loc is None else convert_to_tensor(loc, name="loc")
    if diag is not None or factor is not None:
        diag = None if diag is None else convert_to_tensor(diag, name="scale_diag")
        return scale_operator(multiplier, diag, None, factor_diag, factor, assert_positive=validate_args)
    if loc is None:
        raise ValueError("Without a diagonal the location has to be given: it tells the number of components")
    size = loc.shape[-1].value
    if multiplier is None:
        return linear_operators.LinearOperatorIdentity(num_rows=size, dtype=loc.dtype, is_self_adjoint=True, is_positive_definite=True)
    return linear_operators.LinearOperatorScaledIdentity(
        num_rows=size,
        multiplier=convert_to_tensor(multiplier, dtype=loc.dtype, name="scale_identity_multiplier"),
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=validate_args or None,
    )


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """MultivariateNormalDiag with `softplus(scale_diag)`."""

    def __init__(self, loc, scale_diag, validate_args=False, allow_nan_stats=True, name="MultivariateNormalDiagWithSoftplusScale"):
        parameters = dict(locals())
        with name_scope(name, values=[scale_diag]) as name:
            super().__init__(loc, nn.softplus(scale_diag), None, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """The multivariate normal distribution with a scale of a diagonal and something of low rank."""

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        scale_perturb_factor=None,
        scale_perturb_diag=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalDiagPlusLowRank",
    ):
        parameters = dict(locals())
        values = [loc, scale_diag, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag]
        with name_scope(name) as name, name_scope("init", values=values):
            scale = diag_scale(loc, scale_diag, scale_identity_multiplier, validate_args, scale_perturb_factor, scale_perturb_diag)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


def tril_scale(tril, validate_args):
    """The LinearOperator of a lower triangular matrix."""
    if validate_args:
        nonzero = check.assert_none_equal(
            array.matrix_diag_part(tril), array.zeros([], tril.dtype), message="`scale_tril` must have non-zero diagonal"
        )
        tril = with_dependencies([nonzero], tril)
    return linear_operators.LinearOperatorLowerTriangular(tril, is_non_singular=True, is_self_adjoint=False, is_positive_definite=False)


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """The multivariate normal distribution with a lower triangular scale: the Cholesky factor of its covariance."""

    def __init__(self, loc=None, scale_tril=None, validate_args=False, allow_nan_stats=True, name="MultivariateNormalTriL"):
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[loc, scale_tril]):
            if scale_tril is None:
                if loc is None:
                    raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
                scale = diag_scale(loc, None, None, validate_args)
            else:
                loc = None if loc is None else convert_to_tensor(loc, name="loc")
                scale = tril_scale(convert_to_tensor(scale_tril, name="scale_tril"), validate_args)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The multivariate normal distribution with a given covariance matrix."""

    def __init__(
        self, loc=None, covariance_matrix=None, validate_args=False, allow_nan_stats=True, name="MultivariateNormalFullCovariance"
    ):
        parameters = dict(locals())
        with name_scope(name) as name:
            with name_scope("init", values=[loc, covariance_matrix]):
                tril = None
                if covariance_matrix is not None:
                    covariance_matrix = convert_to_tensor(covariance_matrix, name="covariance_matrix")
                    if validate_args:
                        covariance_matrix = with_dependencies(
                            [
                                check.assert_near(
                                    covariance_matrix, array.matrix_transpose(covariance_matrix), message="Matrix was not symmetric."
                                )
                            ],
                            covariance_matrix,
                        )
                    tril = linalg.cholesky(covariance_matrix)
                super().__init__(loc, tril, validate_args, allow_nan_stats, name)
        self._parameters = parameters
