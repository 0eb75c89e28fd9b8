# Made by `make stubs`.
from everflow import global_variables_initializer as _global_variables_initializer
from everflow import glorot_normal_initializer as _glorot_normal_initializer
from everflow import glorot_uniform_initializer as _glorot_uniform_initializer
from everflow import local_variables_initializer as _local_variables_initializer
from everflow import random_normal_initializer as _random_normal_initializer
from everflow import random_uniform_initializer as _random_uniform_initializer
from everflow import truncated_normal_initializer as _truncated_normal_initializer
from everflow import uniform_unit_scaling_initializer as _uniform_unit_scaling_initializer
from everflow import variables_initializer as _variables_initializer
from everflow.keras.initializers import Constant as _Constant
from everflow.keras.initializers import Identity as _Identity
from everflow.keras.initializers import Ones as _Ones
from everflow.keras.initializers import Orthogonal as _Orthogonal
from everflow.keras.initializers import VarianceScaling as _VarianceScaling
from everflow.keras.initializers import Zeros as _Zeros
import everflow as _tf
from everflow._typing import TensorLike

constant = _Constant
global_variables = _global_variables_initializer
glorot_normal = _glorot_normal_initializer
glorot_uniform = _glorot_uniform_initializer
def he_normal(seed: TensorLike | None = None) -> _tf.keras.initializers.VarianceScaling: ...
def he_uniform(seed: TensorLike | None = None) -> _tf.keras.initializers.VarianceScaling: ...
identity = _Identity
def lecun_normal(seed: TensorLike | None = None) -> _tf.keras.initializers.VarianceScaling: ...
def lecun_uniform(seed: TensorLike | None = None) -> _tf.keras.initializers.VarianceScaling: ...
local_variables = _local_variables_initializer
ones = _Ones
orthogonal = _Orthogonal
random_normal = _random_normal_initializer
random_uniform = _random_uniform_initializer
from everflow import tables_initializer as tables_initializer
truncated_normal = _truncated_normal_initializer
uniform_unit_scaling = _uniform_unit_scaling_initializer
variables = _variables_initializer
variance_scaling = _VarianceScaling
zeros = _Zeros
