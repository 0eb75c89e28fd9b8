"""tf.initializers: what makes the first values of variables."""

from __future__ import annotations

# ruff: noqa: F401  The re-exports are the purpose of this file.
from everflow.ops.initializers import Constant as constant
from everflow.ops.initializers import GlorotNormal as glorot_normal
from everflow.ops.initializers import GlorotUniform as glorot_uniform
from everflow.ops.initializers import Identity as identity
from everflow.ops.initializers import Ones as ones
from everflow.ops.initializers import Orthogonal as orthogonal
from everflow.ops.initializers import RandomNormal as random_normal
from everflow.ops.initializers import RandomUniform as random_uniform
from everflow.ops.initializers import TruncatedNormal as truncated_normal
from everflow.ops.initializers import UniformUnitScaling as uniform_unit_scaling
from everflow.ops.initializers import VarianceScaling as variance_scaling
from everflow.ops.initializers import Zeros as zeros
from everflow.ops.initializers import he_normal, he_uniform, lecun_normal, lecun_uniform
from everflow.ops.lookup import tables_initializer
from everflow.ops.variables import global_variables_initializer as global_variables
from everflow.ops.variables import local_variables_initializer as local_variables
from everflow.ops.variables import variables_initializer as variables
