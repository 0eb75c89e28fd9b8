"""What both versions of ResNet are built with: blocks, strides that padding does not depend on, and their arguments."""

from __future__ import annotations

import collections

from everflow import nn
from everflow.contrib import layers
from everflow.contrib.framework.arg_scope import add_arg_scope, arg_scope
from everflow.contrib.layers import outputs
from everflow.framework.graph_keys import GraphKeys
from everflow.ops import array
from everflow.ops.variables.scope import variable_scope


class Block(collections.namedtuple("Block", ["scope", "unit_fn", "args"])):
    """A part of a ResNet: `unit_fn` once for each entry of `args`, a dict of its arguments."""


def subsample(inputs, factor, scope=None):
    """Every `factor`-th row and column."""
    return inputs if factor == 1 else layers.max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(inputs, num_outputs, kernel_size, stride, rate=1, scope=None):
    """A convolution with "SAME" padding that does not depend on the size of the image, also with a stride."""
    if stride == 1:
        return layers.conv2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
    effective = kernel_size + (kernel_size - 1) * (rate - 1)
    before = (effective - 1) // 2
    after = effective - 1 - before
    inputs = array.pad(inputs, [[0, 0], [before, after], [before, after], [0, 0]])
    return layers.conv2d(inputs, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope)


@add_arg_scope
def stack_blocks_dense(net, blocks, output_stride=None, outputs_collections=None):
    """Blocks one after the other; beyond `output_stride`, rates take the place of strides."""
    units = iter(_with_rates([unit for block in blocks for unit in block.args], output_stride))
    for block in blocks:
        with variable_scope(block.scope, "block", [net]) as sc:
            for number in range(1, len(block.args) + 1):
                with variable_scope(f"unit_{number}", values=[net]):
                    net = block.unit_fn(net, **next(units))
            net = outputs.collect_named_outputs(outputs_collections, sc.name, net)
    return net


def _with_rates(units, output_stride):
    """Units' arguments with a rate: 1 until `output_stride` is reached; then it grows by the strides left out."""
    reached, rate, arguments = 1, 1, []
    for unit in units:
        stride = unit.get("stride", 1)
        if reached == output_stride:
            arguments.append({**unit, "stride": 1, "rate": rate})
            rate *= stride
        else:
            arguments.append({**unit, "rate": 1})
            reached *= stride
    if output_stride not in (None, reached):
        raise ValueError(f"The target output_stride cannot be reached: strides make {reached}, not {output_stride}")
    return arguments


def resnet_arg_scope(weight_decay=0.0001, batch_norm_decay=0.997, batch_norm_epsilon=1e-5, batch_norm_scale=True):
    """Arguments of ResNet's layers: batch normalization after each convolution, and weight decay."""
    batch_norm_params = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": GraphKeys.UPDATE_OPS,
    }
    with arg_scope(
        [layers.conv2d],
        weights_regularizer=layers.l2_regularizer(weight_decay),
        weights_initializer=layers.variance_scaling_initializer(),
        activation_fn=nn.relu,
        normalizer_fn=layers.batch_norm,
        normalizer_params=batch_norm_params,
    ):
        with arg_scope([layers.batch_norm], **batch_norm_params):
            # Pooling sees the image as a convolution with the same padding does.
            with arg_scope([layers.max_pool2d], padding="SAME") as scope:
                return scope
