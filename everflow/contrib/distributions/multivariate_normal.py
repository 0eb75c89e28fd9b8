"""Multivariate normal distributions: an affine map of independent standard normal draws."""

from __future__ import annotations

from everflow.contrib.distributions.affine_vectors import AffineVector, checked, diag_scale, diag_scaled, placed
from everflow.distributions.kullback_leibler import RegisterKL
from everflow.distributions.location_scale import Normal
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.linalg import operators as linear_operators
from everflow.ops.nn import activations as nn


class MultivariateNormalLinearOperator(AffineVector):
    """The multivariate normal distribution of `loc + scale @ z` for standard normal z, with a LinearOperator as scale."""

    def __init__(
        self, loc=None, scale=None, validate_args=False, allow_nan_stats=True, name="MultivariateNormalLinearOperator"
    ):
        parameters = dict(locals())
        dtype = checked(scale).dtype
        with name_scope(name) as name:
            loc, shapes = placed(loc, scale)
        standard = Normal(loc=array.zeros([], dtype=dtype), scale=array.ones([], dtype=dtype))
        super().__init__(standard, loc, scale, shapes, validate_args, name)
        self._parameters = parameters


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


@diag_scaled(scope_is_name=True)
class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """The multivariate normal distribution of independent components: `scale_diag` are their standard deviations.

    >>> MultivariateNormalDiag(loc=[1.0, -1.0], scale_diag=[1.0, 2.0]).log_prob([0.0, 0.0])
    """


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """MultivariateNormalDiag with `softplus(scale_diag)`."""

    def __init__(
        self, loc, scale_diag, validate_args=False, allow_nan_stats=True, name="MultivariateNormalDiagWithSoftplusScale"
    ):
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
            scale = diag_scale(loc, scale_diag, scale_identity_multiplier, positive=True, validate_args=validate_args)
            factor, factor_diag = (
                None if given is None else convert_to_tensor(given, name=kind)
                for kind, given in (
                    ("scale_perturb_factor", scale_perturb_factor),
                    ("scale_perturb_diag", scale_perturb_diag),
                )
            )
            if factor is not None:
                facts = {"is_non_singular": True, "is_self_adjoint": True, "is_positive_definite": True}
                facts["is_diag_update_positive"] = factor_diag is None
                scale = linear_operators.LinearOperatorLowRankUpdate(
                    scale, u=factor, diag_update=factor_diag, is_square=True, **facts
                )
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """The multivariate normal distribution with a lower triangular scale: the Cholesky factor of its covariance."""

    def __init__(
        self, loc=None, scale_tril=None, validate_args=False, allow_nan_stats=True, name="MultivariateNormalTriL"
    ):
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[loc, scale_tril]):
            if scale_tril is None:
                if loc is None:
                    raise ValueError("Neither loc nor scale_tril is given: one has to tell the number of components")
                scale = diag_scale(loc, None, None)
            else:
                loc = None if loc is None else convert_to_tensor(loc, name="loc")
                facts = {"is_non_singular": True, "is_self_adjoint": False, "is_positive_definite": False}
                scale_tril = convert_to_tensor(scale_tril, name="scale_tril")
                scale = linear_operators.LinearOperatorLowerTriangular(scale_tril, **facts)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The multivariate normal distribution with a given covariance matrix."""

    def __init__(
        self,
        loc=None,
        covariance_matrix=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalFullCovariance",
    ):
        parameters = dict(locals())
        with name_scope(name) as name:
            with name_scope("init", values=[loc, covariance_matrix]):
                tril = None
                if covariance_matrix is not None:
                    covariance_matrix = convert_to_tensor(covariance_matrix, name="covariance_matrix")
                    if validate_args:
                        mirrored = array.matrix_transpose(covariance_matrix)
                        same = check.assert_near(covariance_matrix, mirrored, message="Matrix was not symmetric.")
                        covariance_matrix = with_dependencies([same], covariance_matrix)
                    tril = linalg.cholesky(covariance_matrix)
                super().__init__(loc, tril, validate_args, allow_nan_stats, name)
        self._parameters = parameters
