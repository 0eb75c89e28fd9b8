# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any

from everflow import convert_to_tensor as convert_to_tensor
from everflow.contrib.periodic_resample import gradient as gradient
from everflow import name_scope as name_scope
from everflow.contrib.libsvm import not_differentiable as not_differentiable
def resampler(data: Any, warp: Any, name: str | None = 'resampler') -> _tf.Tensor: ...
from everflow.contrib.libsvm import shape_rule as shape_rule
from everflow.contrib.reduce_slice_ops import unknown_shape as unknown_shape
