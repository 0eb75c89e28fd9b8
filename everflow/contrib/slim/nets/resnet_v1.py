"""ResNet as first described: He et al., "Deep residual learning for image recognition" (2015)."""

from __future__ import annotations

from everflow import nn
from everflow.contrib.framework.arg_scope import add_arg_scope
from everflow.contrib.layers import outputs
from everflow.contrib.slim.nets import resnet, resnet_utils
from everflow.ops.variables.scope import variable_scope

resnet_arg_scope = resnet_utils.resnet_arg_scope


@add_arg_scope
def bottleneck(inputs, depth, depth_bottleneck, stride, rate=1, outputs_collections=None, scope=None):
    """A residual unit: 1x1, 3x3 and 1x1 convolutions beside a shortcut, added and then through a ReLU."""
    with variable_scope(scope, "bottleneck_v1", [inputs]) as sc:
        added = resnet.residual(inputs, inputs, depth, depth_bottleneck, stride, rate)
        output = nn.relu(added)
        return outputs.collect_named_outputs(outputs_collections, sc.name, output)


resnet_v1 = resnet.network(1, bottleneck)
resnet_v1_block = resnet.block_of(bottleneck)
resnet_v1_50, resnet_v1_101, resnet_v1_152, resnet_v1_200 = resnet.of_depths(1, resnet_v1, resnet_v1_block)
