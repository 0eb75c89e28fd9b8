"""tf.initializers: what makes the first values of variables."""

from __future__ import annotations

from everflow.ops.lookup.static import tables_initializer

# ruff: noqa: F401  The re-exports are the purpose of this file.
from everflow.ops.variables.initializers import Constant as constant
from everflow.ops.variables.initializers import GlorotNormal as glorot_normal
from everflow.ops.variables.initializers import GlorotUniform as glorot_uniform
from everflow.ops.variables.initializers import Identity as identity
from everflow.ops.variables.initializers import Ones as ones
from everflow.ops.variables.initializers import Orthogonal as orthogonal
from everflow.ops.variables.initializers import RandomNormal as random_normal
from everflow.ops.variables.initializers import RandomUniform as random_uniform
from everflow.ops.variables.initializers import TruncatedNormal as truncated_normal
from everflow.ops.variables.initializers import UniformUnitScaling as uniform_unit_scaling
from everflow.ops.variables.initializers import VarianceScaling as variance_scaling
from everflow.ops.variables.initializers import Zeros as zeros
from everflow.ops.variables.initializers import he_normal, he_uniform, lecun_normal, lecun_uniform
from everflow.ops.variables.variable import global_variables_initializer as global_variables
from everflow.ops.variables.variable import local_variables_initializer as local_variables
from everflow.ops.variables.variable import variables_initializer as variables
