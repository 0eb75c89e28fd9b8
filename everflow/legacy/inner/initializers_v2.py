"""The longer names that TensorFlow's `init_ops_v2` has for the initializers of version 2."""

from everflow.keras.initializers_v2 import (
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
)

zeros_initializer, ones_initializer, constant_initializer = Zeros, Ones, Constant
identity_initializer, orthogonal_initializer = Identity, Orthogonal
glorot_uniform_initializer, glorot_normal_initializer = GlorotUniform, GlorotNormal
random_uniform_initializer, random_normal_initializer = RandomUniform, RandomNormal
truncated_normal_initializer, variance_scaling_initializer = TruncatedNormal, VarianceScaling
