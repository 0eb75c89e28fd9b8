"""tf.contrib.distributions.bijectors: maps of values that can be undone, to make distributions of others."""

from everflow.contrib.distributions.bijectors.affine import Affine, AffineLinearOperator
from everflow.contrib.distributions.bijectors.bijector import Bijector
from everflow.contrib.distributions.bijectors.composed import Chain, ConditionalBijector, Inline, Invert
from everflow.contrib.distributions.bijectors.elementwise import (
    AbsoluteValue,
    AffineScalar,
    Exp,
    Gumbel,
    Identity,
    Kumaraswamy,
    PowerTransform,
    Sigmoid,
    SinhArcsinh,
    Softplus,
    Softsign,
    Square,
)
from everflow.contrib.distributions.bijectors.shapes import (
    CholeskyOuterProduct,
    FillTriangular,
    MatrixInverseTriL,
    Ordered,
    Permute,
    Reshape,
    ScaleTriL,
    SoftmaxCentered,
    TransformDiagonal,
)

__all__ = [
    "AbsoluteValue",
    "Affine",
    "AffineLinearOperator",
    "AffineScalar",
    "Bijector",
    "Chain",
    "CholeskyOuterProduct",
    "ConditionalBijector",
    "Exp",
    "FillTriangular",
    "Gumbel",
    "Identity",
    "Inline",
    "Invert",
    "Kumaraswamy",
    "MatrixInverseTriL",
    "Ordered",
    "Permute",
    "PowerTransform",
    "Reshape",
    "ScaleTriL",
    "Sigmoid",
    "SinhArcsinh",
    "SoftmaxCentered",
    "Softplus",
    "Softsign",
    "Square",
    "TransformDiagonal",
]
