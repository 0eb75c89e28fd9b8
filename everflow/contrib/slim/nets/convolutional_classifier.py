"""What AlexNet and OverFeat share: five convolutions with poolings, then three fully connected layers that are convolutions too."""

from __future__ import annotations

from everflow import nn
from everflow.contrib import layers
from everflow.contrib.framework.arg_scope import arg_scope
from everflow.contrib.layers import outputs
from everflow.ops import array, initializers


def trunc_normal(stddev):
    """Initial values from a cut normal distribution around 0."""
    return initializers.truncated_normal_initializer(0.0, stddev)


def classifier_arg_scope(weight_decay, biases_initializer):
    """Arguments of their layers: ReLU, weight decay, and where images are padded."""
    with arg_scope(
        [layers.conv2d, layers.fully_connected],
        activation_fn=nn.relu,
        biases_initializer=biases_initializer,
        weights_regularizer=layers.l2_regularizer(weight_decay),
    ):
        with arg_scope([layers.conv2d], padding="SAME"):
            with arg_scope([layers.max_pool2d], padding="VALID") as scope:
                return scope


def classifier(inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope, collection, convolutions, fc6):
    """(logits, end points), inside the network's variable scope.

    `convolutions` has a row for each: (channels, size, further arguments, arguments of the pooling behind it or None).
    `fc6` is (channels, size) of the first fully connected layer.
    """
    with arg_scope([layers.conv2d, layers.fully_connected, layers.max_pool2d], outputs_collections=[collection]):
        net = inputs
        for i, (channels, size, arguments, pooling) in enumerate(convolutions, 1):
            net = layers.conv2d(net, channels, [size, size], **arguments, scope=f"conv{i}")
            if pooling is not None:
                net = layers.max_pool2d(net, *pooling, scope=f"pool{i}")
        with arg_scope([layers.conv2d], weights_initializer=trunc_normal(0.005), biases_initializer=initializers.constant_initializer(0.1)):
            channels, size = fc6
            net = layers.conv2d(net, channels, [size, size], padding="VALID", scope="fc6")
            net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout6")
            net = layers.conv2d(net, 4096, [1, 1], scope="fc7")
            net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout7")
            biases = initializers.zeros_initializer()
            net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, biases_initializer=biases, scope="fc8")
        end_points = outputs.convert_collection_to_dict(collection)
        if spatial_squeeze:
            net = array.squeeze(net, [1, 2], name="fc8/squeezed")
            end_points[scope.name + "/fc8"] = net
        return net, end_points
