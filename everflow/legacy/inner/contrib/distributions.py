"""What tf.contrib.distributions has inside of its modules: shapes and scales from arguments that may be missing, and
distributions that it doesn't show.
"""

from __future__ import annotations

import functools

import numpy as np

from everflow.contrib.distributions.affine_vectors import placed
from everflow.contrib.distributions.affine_vectors import shapes_of as shapes_from_loc_and_scale
from everflow.contrib.distributions.bijectors.affine import Affine
from everflow.contrib.distributions.counts import _Certain as _BaseDeterministic
from everflow.contrib.distributions.distribution_head import DistributionHead as _DistributionRegressionHead
from everflow.contrib.distributions.mixtures import _padded
from everflow.contrib.distributions.percentile import _static_ndims
from everflow.contrib.distributions.transformed import TransformedDistribution
from everflow.contrib.distributions.vector_diffeomixture import _is_diagonal
from everflow.distributions.location_scale import LocationScale, StudentT
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.checks import values as checks
from everflow.ops.control_flow import with_dependencies
from everflow.ops.linalg import operators
from everflow.ops.random import distributions as random

__all__ = [
    "_BaseDeterministic",
    "_DistributionRegressionHead",
    "_Gumbel",
    "_VectorStudentT",
    "get_broadcast_shape",
    "is_diagonal_scale",
    "make_diag_scale",
    "make_tril_scale",
    "maybe_check_scalar_distribution",
    "mixture_stddev",
    "move_dimension",
    "pad_mixture_dimensions",
    "shapes_from_loc_and_scale",
    "static_value",
]


def static_value(x):
    """A value as it is known while the graph is drawn; None where it is not."""
    if x is None:
        return None
    return constant_value(convert_to_tensor(x))


def is_diagonal_scale(scale):
    """Whether a LinearOperator has nothing but a diagonal, by its class."""
    if not isinstance(scale, operators.LinearOperator):
        raise TypeError(f"A scale must be a LinearOperator, not {scale!r}")
    return _is_diagonal(scale)


def pad_mixture_dimensions(x, mixture_distribution, categorical_distribution, event_ndims):
    """`x`, which has a value for each mixture, with axes for the batch of the mixture and for its events."""
    return _padded(x, mixture_distribution.batch_shape.ndims, categorical_distribution, event_ndims)


def get_broadcast_shape(*tensors):
    """The shape that tensors have together: a list where it is known, else a tensor."""
    shapes = [TensorShape(tensor.shape) for tensor in tensors]
    joint = functools.reduce(array.broadcast_static_shape, shapes)
    if joint.is_fully_defined():
        return joint.as_list()
    return functools.reduce(array.broadcast_dynamic_shape, [array.shape(tensor) for tensor in tensors])


def _checked(x, validate_args, assert_positive):
    """A diagonal, once it is known to be invertible or positive."""
    if not validate_args:
        return x
    if assert_positive:
        fact = checks.assert_positive(x, message="The diagonal of the scale must be positive")
    else:
        fact = checks.assert_none_equal(x, array.zeros([], x.dtype), message="The diagonal of the scale has a zero")
    return with_dependencies([fact], x)


def make_tril_scale(
    loc=None,
    scale_tril=None,
    scale_diag=None,
    scale_identity_multiplier=None,
    shape_hint=None,
    validate_args=False,
    assert_positive=False,
    name=None,
):
    """The LinearOperator of a lower triangle, a diagonal and a multiple of the identity together."""
    common = scale_diag, scale_identity_multiplier, shape_hint, validate_args, assert_positive
    if scale_tril is None:
        return make_diag_scale(loc, *common, name)
    with name_scope(name, "make_tril_scale", [loc, scale_diag, scale_identity_multiplier]):
        tril = array.matrix_band_part(convert_to_tensor(scale_tril, name="scale_tril"), -1, 0)
        diagonal = array.matrix_diag_part(tril)
        if scale_diag is not None:
            diagonal += convert_to_tensor(scale_diag, name="scale_diag")
        if scale_identity_multiplier is not None:
            diagonal += convert_to_tensor(scale_identity_multiplier, name="scale_identity_multiplier")[..., None]
        tril = array.matrix_set_diag(tril, _checked(diagonal, validate_args, assert_positive))
        facts = {"is_non_singular": True, "is_self_adjoint": False, "is_positive_definite": assert_positive}
        return operators.LinearOperatorLowerTriangular(tril, **facts)


def make_diag_scale(
    loc=None,
    scale_diag=None,
    scale_identity_multiplier=None,
    shape_hint=None,
    validate_args=False,
    assert_positive=False,
    name=None,
):
    """The LinearOperator of a diagonal, or of a multiple of the identity as large as the location or the hint."""
    with name_scope(name, "make_diag_scale", [loc, scale_diag, scale_identity_multiplier]):
        loc = None if loc is None else convert_to_tensor(loc, name="loc")
        facts = {"is_non_singular": True, "is_self_adjoint": True, "is_positive_definite": assert_positive}
        multiplier = scale_identity_multiplier
        if multiplier is not None:
            multiplier = convert_to_tensor(multiplier, name="scale_identity_multiplier")
        if scale_diag is not None:
            diagonal = convert_to_tensor(scale_diag, name="scale_diag")
            if multiplier is not None:
                diagonal += multiplier[..., None]
            return operators.LinearOperatorDiag(_checked(diagonal, validate_args, assert_positive), **facts)
        if loc is None and shape_hint is None:
            raise ValueError("The size of a multiple of the identity is not known: give loc, or shape_hint")
        size = shape_hint
        if size is None:
            size = loc.shape.size(-1)
            size = array.shape(loc)[-1] if size is None else size
        if multiplier is None:
            dtype = dtypes.float32 if loc is None else loc.dtype.base_dtype
            return operators.LinearOperatorIdentity(
                num_rows=size, dtype=dtype, is_self_adjoint=True, is_positive_definite=True
            )
        multiplier = _checked(multiplier, validate_args, assert_positive)
        return operators.LinearOperatorScaledIdentity(
            num_rows=size, multiplier=multiplier, assert_proper_shapes=validate_args, **facts
        )


def maybe_check_scalar_distribution(distribution, expected_base_dtype, validate_args):
    """Assertions that draws are scalars, where that isn't known yet; ValueError where it is known not to be so."""
    if distribution.dtype != expected_base_dtype:
        raise TypeError(f"Draws must be of type {expected_base_dtype}, those of {distribution.name} are not")
    if validate_args and distribution.reparameterization_type is None:
        raise ValueError(f"{distribution.name} doesn't say how it is parameterized")
    assertions = []
    for what, fact in (("event", distribution.is_scalar_event()), ("batch", distribution.is_scalar_batch())):
        known = static_value(fact)
        if known is not None and not known:
            raise ValueError(f"{distribution.name} must have a scalar {what}")
        if known is None and validate_args:
            assertions.append(checks.assert_equal(fact, True, message=f"The {what} must be a scalar"))
    return assertions


def mixture_stddev(mixture_weight_vector, mean_vector, stddev_vector):
    """The standard deviations of mixtures, one a row, by weights, means and deviations of what is mixed."""
    for vector in (mixture_weight_vector, mean_vector, stddev_vector):
        vector.shape.assert_has_rank(2)
    for vector in (mean_vector, stddev_vector):
        mixture_weight_vector.shape.assert_is_compatible_with(vector.shape)
    weights = array.expand_dims(mixture_weight_vector, axis=1)

    def mean_of(values):
        return array.squeeze(math.matmul(weights, array.expand_dims(values, axis=2)), axis=[1, 2])

    squares = mean_of(math.square(mean_vector)) + mean_of(math.square(stddev_vector))
    return math.sqrt(squares - math.square(mean_of(mean_vector)))


def move_dimension(x, source_idx, dest_idx):
    """`x` with one of its axes in another place."""
    ndims = _static_ndims(x)
    known = [static_value(i) for i in (source_idx, dest_idx)]
    if ndims is not None and None not in known:
        source, dest = (int(i) % ndims for i in known)
        axes = [axis for axis in range(ndims) if axis != source]
        return array.transpose(x, [*axes[:dest], source, *axes[dest:]])
    ndims = array.rank(x)
    source, dest = (math.mod(convert_to_tensor(i, dtypes.int32), ndims) for i in (source_idx, dest_idx))
    axes = math.range(ndims)
    others = array.boolean_mask(axes, math.not_equal(axes, source))
    return array.transpose(x, array.concat([others[:dest], source[None], others[dest:]], axis=0))


class _Gumbel(LocationScale):
    """The Gumbel distribution: of the largest of many draws."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Gumbel"):
        super().__init__(loc, scale, validate_args, dict(locals()), name)

    def _sample_n(self, n, seed=None):
        shape = array.concat([[n], self.batch_shape_tensor()], 0)
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = random.random_uniform(shape=shape, minval=tiny, maxval=1.0, dtype=self.dtype, seed=seed)
        return -math.log(-math.log(uniform)) * self.scale + self.loc

    def _log_prob(self, x):
        z = self._z(x)
        return -(z + math.exp(-z)) - math.log(self.scale)

    def _log_cdf(self, x):
        return -math.exp(-self._z(x))

    def _cdf(self, x):
        return math.exp(self._log_cdf(x))

    def _entropy(self):
        return 1 + math.log(self.scale * array.ones_like(self.loc)) + np.euler_gamma

    def _mean(self):
        return self.loc + self.scale * np.euler_gamma

    def _stddev(self):
        return self.scale * array.ones_like(self.loc) * np.pi / np.sqrt(6)

    def _mode(self):
        return self.loc * array.ones_like(self.scale)


class _VectorStudentT(TransformedDistribution):
    """`loc + scale @ z` for vectors z of independent draws from Student's t distribution."""

    def __init__(
        self,
        df,
        loc=None,
        scale_identity_multiplier=None,
        scale_diag=None,
        scale_tril=None,
        scale_perturb_factor=None,
        scale_perturb_diag=None,
        validate_args=False,
        allow_nan_stats=True,
        name="VectorStudentT",
    ):
        parameters = dict(locals())
        parts = scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_factor, scale_perturb_diag
        with name_scope(name, values=[df, loc, *parts]) as name:
            map_ = Affine(loc, *parts, validate_args=validate_args)
            _, (batch, event) = placed(map_.shift, map_.scale)
            df = convert_to_tensor(df, name="df", dtype=map_.dtype)
            standard = StudentT(
                df, array.zeros([], df.dtype), array.ones([], df.dtype), validate_args, allow_nan_stats=allow_nan_stats
            )
            # Degrees of freedom that make a batch of their own have it already.
            batch = None if df.shape.ndims else batch
            super().__init__(standard, map_, batch, event, validate_args, name)
        self._parameters = parameters

    df = property(lambda self: self.distribution.df, doc="Degrees of freedom.")
    loc = property(lambda self: self.bijector.shift, doc="The location.")
    scale = property(lambda self: self.bijector.scale, doc="The LinearOperator.")
