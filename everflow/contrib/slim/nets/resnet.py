"""The frame that both versions of ResNet share; they differ in their units and in what comes before and after."""

from __future__ import annotations

from everflow.contrib import layers
from everflow.contrib.framework.arg_scope import arg_scope
from everflow.contrib.layers import outputs
from everflow.contrib.slim.nets import resnet_utils
from everflow.ops import math
from everflow.ops.variable_scope import variable_scope

# How many units the four blocks of a ResNet have.
UNITS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}


def block_of(bottleneck):
    """A function that makes a block of so many units, the last of which has the stride."""

    def block(scope, base_depth, num_units, stride):
        unit = {"depth": base_depth * 4, "depth_bottleneck": base_depth, "stride": 1}
        return resnet_utils.Block(scope, bottleneck, [unit] * (num_units - 1) + [{**unit, "stride": stride}])

    return block


def resnet(version, bottleneck, inputs, blocks, num_classes, is_training, global_pool, output_stride, include_root_block, reuse, scope):
    """(net, end points) of a ResNet of these blocks; version 2 normalizes before convolving, so the root has neither."""
    from everflow import nn

    name = f"resnet_v{version}"
    with variable_scope(scope, name, [inputs], reuse=reuse) as sc:
        end_points_collection = sc.original_name_scope + "_end_points"
        with (
            arg_scope([layers.conv2d, bottleneck, resnet_utils.stack_blocks_dense], outputs_collections=end_points_collection),
            arg_scope([layers.batch_norm], is_training=is_training),
        ):
            net = inputs
            if include_root_block:
                if output_stride is not None:
                    if output_stride % 4 != 0:
                        raise ValueError("The output_stride needs to be a multiple of 4.")
                    output_stride /= 4
                bare = {"activation_fn": None, "normalizer_fn": None} if version == 2 else {}
                with arg_scope([layers.conv2d], **bare):
                    net = resnet_utils.conv2d_same(net, 64, 7, stride=2, scope="conv1")
                net = layers.max_pool2d(net, [3, 3], stride=2, scope="pool1")
            net = resnet_utils.stack_blocks_dense(net, blocks, output_stride)
            if version == 2:
                net = layers.batch_norm(net, activation_fn=nn.relu, scope="postnorm")
            if global_pool:
                net = math.reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
            end_points = outputs.convert_collection_to_dict(end_points_collection)
            if num_classes is not None:
                end_points["predictions"] = layers.softmax(net, scope="predictions")
            return net, end_points


def of_depth(version, depth, build, block):
    """`resnet_v1_50` and its kin."""
    name = f"resnet_v{version}_{depth}"

    def network(inputs, num_classes=None, is_training=True, global_pool=True, output_stride=None, reuse=None, scope=name):
        strides = (2, 2, 2, 1)
        blocks = [block(f"block{i + 1}", base_depth=64 * 2**i, num_units=units, stride=strides[i]) for i, units in enumerate(UNITS[depth])]
        return build(
            inputs, blocks, num_classes, is_training, global_pool, output_stride, include_root_block=True, reuse=reuse, scope=scope
        )

    network.__name__ = network.__qualname__ = name
    network.__doc__ = f"(net, end points) of ResNet-{depth}, version {version}."
    return network
