"""The frame that both versions of ResNet share; they differ in their units and in what comes before and after."""

from __future__ import annotations

from everflow import nn
from everflow.contrib import layers
from everflow.contrib.framework.arg_scope import arg_scope
from everflow.contrib.layers import outputs
from everflow.contrib.slim.nets import resnet_utils
from everflow.framework.shapes import dimension_value
from everflow.ops import math
from everflow.ops.variables.scope import variable_scope

# How many units the four blocks of a ResNet have, and their strides.
_UNITS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}
_STRIDES = (2, 2, 2, 1)


def residual(inputs, net, depth, depth_bottleneck, stride, rate, **options):
    """1x1, 3x3 and 1x1 convolutions of `net`, added to a shortcut. `options` are for those not activated."""
    bare = {"activation_fn": None, **options}
    if depth == dimension_value(inputs.get_shape()[-1]):
        shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
    else:
        shortcut = layers.conv2d(net, depth, [1, 1], stride=stride, **bare, scope="shortcut")
    net = layers.conv2d(net, depth_bottleneck, [1, 1], stride=1, scope="conv1")
    net = resnet_utils.conv2d_same(net, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
    return shortcut + layers.conv2d(net, depth, [1, 1], stride=1, **bare, scope="conv3")


def block_of(bottleneck):
    """A function that makes a block of so many units, the last of which has the stride."""

    def block(scope, base_depth, num_units, stride):
        unit = {"depth": base_depth * 4, "depth_bottleneck": base_depth, "stride": 1}
        return resnet_utils.Block(scope, bottleneck, [unit] * (num_units - 1) + [{**unit, "stride": stride}])

    return block


def _root(net, version):
    """Version 2 normalizes before convolving, so its root does neither that nor activate."""
    bare = {"activation_fn": None, "normalizer_fn": None} if version == 2 else {}
    with arg_scope([layers.conv2d], **bare):
        net = resnet_utils.conv2d_same(net, 64, 7, stride=2, scope="conv1")
    return layers.max_pool2d(net, [3, 3], stride=2, scope="pool1")


def network(version, bottleneck):
    """`resnet_v1` or `resnet_v2`."""
    name = f"resnet_v{version}"

    def build(inputs, blocks, num_classes=None, is_training=True, global_pool=True, output_stride=None,
              include_root_block=True, reuse=None, scope=None):  # fmt: skip
        with variable_scope(scope, name, [inputs], reuse=reuse) as sc:
            collection = sc.original_name_scope + "_end_points"
            collecting = [layers.conv2d, bottleneck, resnet_utils.stack_blocks_dense]
            training = arg_scope([layers.batch_norm], is_training=is_training)
            with arg_scope(collecting, outputs_collections=collection), training:
                net = inputs
                if include_root_block:
                    if output_stride is not None:
                        if output_stride % 4 != 0:
                            raise ValueError(f"output_stride={output_stride} is not a multiple of 4, the root's")
                        output_stride /= 4
                    net = _root(net, version)
                net = resnet_utils.stack_blocks_dense(net, blocks, output_stride)
                if version == 2:
                    net = layers.batch_norm(net, activation_fn=nn.relu, scope="postnorm")
                if global_pool:
                    net = math.reduce_mean(net, [1, 2], name="pool5", keepdims=True)
                if num_classes is not None:
                    bare = {"activation_fn": None, "normalizer_fn": None}
                    net = layers.conv2d(net, num_classes, [1, 1], **bare, scope="logits")
                end_points = outputs.convert_collection_to_dict(collection)
                if num_classes is not None:
                    end_points["predictions"] = layers.softmax(net, scope="predictions")
                return net, end_points

    return _named(build, name, "(net, end points) of a ResNet made of `blocks`.")


def of_depths(version, build, block):
    """`resnet_v1_50` and the deeper ones, the shallowest first."""
    return [_of_depth(f"resnet_v{version}_{depth}", depth, units, build, block) for depth, units in _UNITS.items()]


def _of_depth(name, depth, units, build, block):
    def deep(inputs, num_classes=None, is_training=True, global_pool=True, output_stride=None, reuse=None, scope=name):
        blocks = [block(f"block{i + 1}", 64 << i, *sizes) for i, sizes in enumerate(zip(units, _STRIDES))]
        return build(inputs, blocks, num_classes, is_training, global_pool, output_stride, reuse=reuse, scope=scope)

    return _named(deep, name, f"(net, end points) of ResNet-{depth}, {build.__name__}.")


def _named(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function
