# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any, NamedTuple, ScalarLike, Sequence, SizeLike

class Block(NamedTuple):
    scope: Any
    unit_fn: Any
    args: Any

from everflow import GraphKeys as GraphKeys
from everflow.contrib.framework import add_arg_scope as add_arg_scope
from everflow.contrib.framework import arg_scope as arg_scope
def conv2d_same(inputs: Any, num_outputs: SizeLike | None, kernel_size: SizeLike | Sequence[Any], stride: Any, rate: Any = 1, scope: str | _tf.VariableScope | None = None) -> Any: ...
from everflow.contrib import layers as layers
from everflow import nn as nn
from everflow.contrib.layers import outputs as outputs
def resnet_arg_scope(weight_decay: ScalarLike | None = 0.0001, batch_norm_decay: ScalarLike | None = 0.997, batch_norm_epsilon: ScalarLike | None = 1e-05, batch_norm_scale: Any = True) -> Any: ...
def stack_blocks_dense(net: Any, blocks: Any, output_stride: Any = None, outputs_collections: Any = None) -> Any: ...
def subsample(inputs: Any, factor: Any, scope: str | _tf.VariableScope | None = None) -> Any: ...
from everflow import variable_scope as variable_scope
