"""ResNet with normalization before convolution: He et al., "Identity mappings in deep residual networks" (2016)."""

from __future__ import annotations

from everflow import nn
from everflow.contrib import layers
from everflow.contrib.framework.arg_scope import add_arg_scope
from everflow.contrib.layers import outputs
from everflow.contrib.slim.nets import resnet, resnet_utils
from everflow.ops.variables.scope import variable_scope

resnet_arg_scope = resnet_utils.resnet_arg_scope


@add_arg_scope
def bottleneck(inputs, depth, depth_bottleneck, stride, rate=1, outputs_collections=None, scope=None):
    """A residual unit: batch normalization and ReLU first, then 1x1, 3x3 and 1x1 convolutions beside a shortcut."""
    with variable_scope(scope, "bottleneck_v2", [inputs]) as sc:
        normalized = layers.batch_norm(inputs, activation_fn=nn.relu, scope="preact")
        output = resnet.residual(inputs, normalized, depth, depth_bottleneck, stride, rate, normalizer_fn=None)
        return outputs.collect_named_outputs(outputs_collections, sc.name, output)


resnet_v2 = resnet.network(2, bottleneck)
resnet_v2_block = resnet.block_of(bottleneck)
resnet_v2_50, resnet_v2_101, resnet_v2_152, resnet_v2_200 = resnet.of_depths(2, resnet_v2, resnet_v2_block)
