"""tf.contrib.distributions.bijectors: maps of values that can be undone, to make distributions of others."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

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
from everflow.contrib.distributions.bijectors.flows import (
    BatchNormalization,
    MaskedAutoregressiveFlow,
    RealNVP,
    masked_autoregressive_default_template,
    masked_dense,
    real_nvp_default_template,
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
from everflow.framework.lazy_names import imported_names as _imported_names

__all__ = [name for name in _imported_names(__file__) if not name.startswith("_")]
