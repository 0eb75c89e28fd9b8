"""tf.compat.v2.initializers: those without a type of their own, and how they are found by name."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.keras.initializers import deserialize, get, serialize
from everflow.keras.untyped_initializers import (
    Constant,
    GlorotNormal,
    GlorotUniform,
    Identity,
    Initializer,
    Ones,
    Orthogonal,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    VarianceScaling,
    Zeros,
    constant,
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
    identity,
    lecun_normal,
    lecun_uniform,
    ones,
    orthogonal,
    zeros,
)
