"""ResNet with normalization before convolution: He et al., "Identity mappings in deep residual networks" (2016)."""

from __future__ import annotations

from everflow import nn
from everflow.contrib import layers
from everflow.contrib.framework.arg_scope import add_arg_scope
from everflow.contrib.layers import outputs
from everflow.contrib.slim.nets import resnet, resnet_utils
from everflow.framework.shapes import dimension_value
from everflow.ops.variable_scope import variable_scope

resnet_arg_scope = resnet_utils.resnet_arg_scope


@add_arg_scope
def bottleneck(inputs, depth, depth_bottleneck, stride, rate=1, outputs_collections=None, scope=None):
    """A residual unit: batch normalization and ReLU first, then 1x1, 3x3 and 1x1 convolutions beside a shortcut."""
    with variable_scope(scope, "bottleneck_v2", [inputs]) as sc:
        depth_in = dimension_value(inputs.get_shape()[-1])
        preact = layers.batch_norm(inputs, activation_fn=nn.relu, scope="preact")
        if depth == depth_in:
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = layers.conv2d(preact, depth, [1, 1], stride=stride, normalizer_fn=None, activation_fn=None, scope="shortcut")
        residual = layers.conv2d(preact, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = resnet_utils.conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = layers.conv2d(residual, depth, [1, 1], stride=1, normalizer_fn=None, activation_fn=None, scope="conv3")
        return outputs.collect_named_outputs(outputs_collections, sc.name, shortcut + residual)


def resnet_v2(inputs, blocks, num_classes=None, is_training=True, global_pool=True, output_stride=None, include_root_block=True,
              reuse=None, scope=None):  # fmt: skip
    """(net, end points) of a ResNet made of `blocks`."""
    return resnet.resnet(
        2, bottleneck, inputs, blocks, num_classes, is_training, global_pool, output_stride, include_root_block, reuse, scope
    )


resnet_v2_block = resnet.block_of(bottleneck)
resnet_v2_50 = resnet.of_depth(2, 50, resnet_v2, resnet_v2_block)
resnet_v2_101 = resnet.of_depth(2, 101, resnet_v2, resnet_v2_block)
resnet_v2_152 = resnet.of_depth(2, 152, resnet_v2, resnet_v2_block)
resnet_v2_200 = resnet.of_depth(2, 200, resnet_v2, resnet_v2_block)
