"""AlexNet, in the form of Krizhevsky, "One weird trick for parallelizing convolutional neural networks" (2014)."""

from __future__ import annotations

from everflow import nn
from everflow.contrib import layers
from everflow.contrib.framework.arg_scope import arg_scope
from everflow.contrib.layers import outputs
from everflow.ops import array, initializers
from everflow.ops.variable_scope import variable_scope


def trunc_normal(stddev):
    """Initial values from a cut normal distribution around 0."""
    return initializers.truncated_normal_initializer(0.0, stddev)


def alexnet_v2_arg_scope(weight_decay=0.0005):
    """Arguments of AlexNet's layers."""
    with arg_scope(
        [layers.conv2d, layers.fully_connected],
        activation_fn=nn.relu,
        biases_initializer=initializers.constant_initializer(0.1),
        weights_regularizer=layers.l2_regularizer(weight_decay),
    ):
        with arg_scope([layers.conv2d], padding="SAME"):
            with arg_scope([layers.max_pool2d], padding="VALID") as scope:
                return scope


def alexnet_v2(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="alexnet_v2"):
    """(logits, end points) of AlexNet on images of 224 by 224."""
    with variable_scope(scope, "alexnet_v2", [inputs]) as sc:
        end_points_collection = sc.original_name_scope + "_end_points"
        with arg_scope([layers.conv2d, layers.fully_connected, layers.max_pool2d], outputs_collections=[end_points_collection]):
            net = layers.conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = layers.max_pool2d(net, [3, 3], 2, scope="pool1")
            net = layers.conv2d(net, 192, [5, 5], scope="conv2")
            net = layers.max_pool2d(net, [3, 3], 2, scope="pool2")
            net = layers.conv2d(net, 384, [3, 3], scope="conv3")
            net = layers.conv2d(net, 384, [3, 3], scope="conv4")
            net = layers.conv2d(net, 256, [3, 3], scope="conv5")
            net = layers.max_pool2d(net, [3, 3], 2, scope="pool5")
            with arg_scope(
                [layers.conv2d], weights_initializer=trunc_normal(0.005), biases_initializer=initializers.constant_initializer(0.1)
            ):
                net = layers.conv2d(net, 4096, [5, 5], padding="VALID", scope="fc6")
                net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout6")
                net = layers.conv2d(net, 4096, [1, 1], scope="fc7")
                net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout7")
                net = layers.conv2d(
                    net,
                    num_classes,
                    [1, 1],
                    activation_fn=None,
                    normalizer_fn=None,
                    biases_initializer=initializers.zeros_initializer(),
                    scope="fc8",
                )
            end_points = outputs.convert_collection_to_dict(end_points_collection)
            if spatial_squeeze:
                net = array.squeeze(net, [1, 2], name="fc8/squeezed")
                end_points[sc.name + "/fc8"] = net
            return net, end_points


alexnet_v2.default_image_size = 224
