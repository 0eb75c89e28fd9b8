"""tensorflow.python.ops.init_ops_v2: the initializers of tf.compat.v2 under all their older names."""

from __future__ import annotations

from everflow.keras.initializers_v2 import (  # noqa: F401  the names of there
    Constant,
    GlorotNormal,
    GlorotUniform,
    Identity,
    Ones,
    Orthogonal,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    VarianceScaling,
    Zeros,
    deserialize,
    get,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
    serialize,
)
from everflow.legacy.inner.nn import _assert_float_dtype  # noqa: F401
from everflow.ops.variables.initializers import Initializer  # noqa: F401
from everflow.ops.variables.initializers import compute_fans as _compute_fans  # noqa: F401

zero = zeros = zeros_initializer = Zeros
one = ones = ones_initializer = Ones
constant = constant_initializer = Constant
uniform = random_uniform = random_uniform_initializer = RandomUniform
normal = random_normal = random_normal_initializer = RandomNormal
truncated_normal = truncated_normal_initializer = TruncatedNormal
identity = identity_initializer = Identity
orthogonal = orthogonal_initializer = Orthogonal
glorot_normal = glorot_normal_initializer = GlorotNormal
glorot_uniform = glorot_uniform_initializer = GlorotUniform
variance_scaling_initializer = VarianceScaling
