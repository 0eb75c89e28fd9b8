"""Vectors of independent components, stretched and moved: exponential, Laplace and sinh-arcsinh ones."""

from __future__ import annotations

import numpy as np

from everflow.contrib.distributions.affine_vectors import (
    AffineVector,
    checked,
    diag_scale,
    diag_scaled,
    placed,
    shapes_of,
)
from everflow.contrib.distributions.bijectors.affine import Affine
from everflow.contrib.distributions.bijectors.composed import Chain
from everflow.contrib.distributions.bijectors.elementwise import SinhArcsinh
from everflow.contrib.distributions.transformed import TransformedDistribution
from everflow.distributions.gamma import Exponential
from everflow.distributions.location_scale import Laplace, Normal
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array
from everflow.ops.linalg import operators as linear_operators


class VectorExponentialLinearOperator(AffineVector):
    """`loc + scale @ z` for vectors z of independent exponential draws, with a LinearOperator as scale."""

    def __init__(
        self, loc=None, scale=None, validate_args=False, allow_nan_stats=True, name="VectorExponentialLinearOperator"
    ):
        parameters = dict(locals())
        dtype = checked(scale).dtype
        with name_scope(name, values=[loc, *scale.graph_parents]) as name:
            loc, shapes = placed(loc, scale)
            standard = Exponential(rate=array.ones([], dtype=dtype), allow_nan_stats=allow_nan_stats)
            super().__init__(standard, loc, scale, shapes, validate_args, name)
        self._parameters = parameters

    def _moved(self, z):
        """`loc + scale @ z`."""
        x = self.scale.matvec(z)
        return x if self.loc is None else array.identity(self.loc) + x

    def _draw_shape(self):
        event_shape = self.event_shape.as_list() if self.event_shape.is_fully_defined() else self.event_shape_tensor()
        batch_shape = self.batch_shape.as_list() if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        if isinstance(batch_shape, list) and isinstance(event_shape, list):
            return batch_shape + event_shape
        return array.concat([batch_shape, event_shape], 0)

    def _mean(self):
        return self._moved(array.ones(self._draw_shape(), self.dtype))

    def _mode(self):
        return self._moved(array.zeros(self._draw_shape(), self.dtype))


class VectorLaplaceLinearOperator(AffineVector):
    """The distribution of `loc + scale @ z` for vectors z of independent Laplace draws, with a LinearOperator as scale."""

    _base_variance = 2.0

    def __init__(
        self, loc=None, scale=None, validate_args=False, allow_nan_stats=True, name="VectorLaplaceLinearOperator"
    ):
        parameters = dict(locals())
        dtype = checked(scale).dtype
        # The name isn't the scope's: TensorFlow's graphs have the distribution in an inner scope of its name.
        with name_scope(name, values=[loc, *scale.graph_parents]):
            loc, shapes = placed(loc, scale)
            standard = Laplace(loc=array.zeros([], dtype=dtype), scale=array.ones([], dtype=dtype))
            super().__init__(standard, loc, scale, shapes, validate_args, name)
        self._parameters = parameters


@diag_scaled(scope_is_name=True)
class VectorExponentialDiag(VectorExponentialLinearOperator):
    """Vectors of independent exponential draws, stretched by `scale_diag` and moved by `loc`.

    >>> VectorExponentialDiag(loc=[1.0, 2.0], scale_diag=[3.0, 4.0]).mean()  # [4.0, 6.0]
    """


@diag_scaled(scope_is_name=False)
class VectorLaplaceDiag(VectorLaplaceLinearOperator):
    """Vectors of independent Laplace draws, stretched by `scale_diag` and moved by `loc`."""


class VectorSinhArcsinhDiag(TransformedDistribution):
    """Vectors as MultivariateNormalDiag's, that lean by `skewness`, with tails as heavy as `tailweight` says."""

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        skewness=None,
        tailweight=None,
        distribution=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalLinearOperator",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier, skewness, tailweight]) as name:
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            skewed = skewness is not None
            scale = diag_scale(loc, scale_diag, scale_identity_multiplier)
            batch_shape, event_shape = shapes_of(loc, scale)
            # The bijectors want a diagonal, whatever it was made of.
            diag = scale.diag if isinstance(scale, linear_operators.LinearOperatorDiag) else scale.diag_part()
            dtype = diag.dtype
            if distribution is None:
                zero, one = array.zeros([], dtype=dtype), array.ones([], dtype=dtype)
                distribution = Normal(loc=zero, scale=one, allow_nan_stats=allow_nan_stats)
            else:
                # What is overridden below has to be scalar.
                distribution.is_scalar_event()
                distribution.is_scalar_batch()
            skewness = convert_to_tensor(skewness if skewed else 0.0, dtype=dtype, name="skewness")
            tailweight = convert_to_tensor(1.0 if tailweight is None else tailweight, dtype=dtype, name="tailweight")
            bent = SinhArcsinh(skewness=skewness, tailweight=tailweight)
            # Scaled so that a standard deviation of 2 stays where it was: tails change, the middle doesn't.
            zero = np.zeros([], dtype.as_numpy_dtype)
            unskewed = SinhArcsinh(skewness=zero, tailweight=tailweight) if skewed else bent
            stretch = 2.0 * diag / unskewed.forward(convert_to_tensor(2, dtype=dtype))
            affine = Affine(shift=loc, scale_diag=stretch, validate_args=validate_args)
            super().__init__(distribution, Chain([affine, bent]), batch_shape, event_shape, validate_args, name)
        self._parameters = parameters
        self._loc, self._scale, self._tailweight, self._skewness = loc, scale, tailweight, skewness

    loc = property(lambda self: self._loc, doc="The location.")
    scale = property(lambda self: self._scale, doc="The LinearOperator of the scale.")
    tailweight = property(lambda self: self._tailweight, doc="How heavy the tails are.")
    skewness = property(lambda self: self._skewness, doc="To which side components lean.")
