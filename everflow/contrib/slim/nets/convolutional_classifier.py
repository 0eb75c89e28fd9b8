"""What AlexNet, OverFeat and VGG share: convolutions with poolings, then three that are fully connected layers."""

from __future__ import annotations

from everflow import nn
from everflow.contrib import layers
from everflow.contrib.framework.arg_scope import arg_scope
from everflow.contrib.layers import outputs
from everflow.ops import array
from everflow.ops.variables import initializers
from everflow.ops.variables.scope import variable_scope


def trunc_normal(stddev):
    """Initial values from a cut normal distribution around 0."""
    return initializers.truncated_normal_initializer(0.0, stddev)


def classifier_arg_scope(weight_decay, biases_initializer):
    """Arguments of their layers: ReLU, weight decay, and convolutions that keep the size of images."""
    options = {"biases_initializer": biases_initializer, "weights_regularizer": layers.l2_regularizer(weight_decay)}
    with arg_scope([layers.conv2d, layers.fully_connected], activation_fn=nn.relu, **options):
        with arg_scope([layers.conv2d], padding="SAME") as scope:
            return scope


def unpadded_pooling(scope):
    """The same arguments, and poolings that take whole windows only."""
    with arg_scope(scope), arg_scope([layers.max_pool2d], padding="VALID") as with_pooling:
        return with_pooling


def convolution(channels, size, pooling=None, repeated=None, **arguments):
    """A function from (net, number) to the net after convolutions and a pooling with these arguments."""

    def build(net, number):
        window, scope = [size, size], f"conv{number}"
        if repeated is None:
            net = layers.conv2d(net, channels, window, **arguments, scope=scope)
        else:
            net = layers.repeat(net, repeated, layers.conv2d, channels, window, scope=scope)
        return net if pooling is None else layers.max_pool2d(net, *pooling, scope=f"pool{number}")

    return build


def network(name, convolutions, fc6, image_size=None, by_variable_scope=False, of_fc=dict, of_logits=dict):
    """The function that builds a network on images of `image_size` a side.

    `fc6` is (channels, size) of the first fully connected layer; `of_fc()` and `of_logits()` give further arguments of
    all three and of the last. `by_variable_scope`: end points are collected under the name of the variable scope, not
    of the name scope.
    """

    def build(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope=name):
        with variable_scope(scope, name, [inputs]) as sc:
            collection = (sc.name if by_variable_scope else sc.original_name_scope) + "_end_points"
            with arg_scope([layers.conv2d, layers.max_pool2d], outputs_collections=collection):
                net = inputs
                for number, layer in enumerate(convolutions, 1):
                    net = layer(net, number)
                # Fully connected layers as convolutions, so that images may be larger.
                with arg_scope([layers.conv2d], **of_fc()):
                    channels, size = fc6
                    net = layers.conv2d(net, channels, [size, size], padding="VALID", scope="fc6")
                    net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout6")
                    net = layers.conv2d(net, 4096, [1, 1], scope="fc7")
                    net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout7")
                    plain = {"activation_fn": None, "normalizer_fn": None, **of_logits()}
                    net = layers.conv2d(net, num_classes, [1, 1], **plain, scope="fc8")
                end_points = outputs.convert_collection_to_dict(collection)
                if spatial_squeeze:
                    net = array.squeeze(net, [1, 2], name="fc8/squeezed")
                    end_points[sc.name + "/fc8"] = net
                return net, end_points

    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"(logits, end points) of {name}."
    if image_size:
        build.default_image_size = image_size
    return build


def small_weights():
    """How the fully connected layers of AlexNet and OverFeat start."""
    return {"weights_initializer": trunc_normal(0.005), "biases_initializer": initializers.constant_initializer(0.1)}


def zero_biases():
    """How their last layer starts."""
    return {"biases_initializer": initializers.zeros_initializer()}
