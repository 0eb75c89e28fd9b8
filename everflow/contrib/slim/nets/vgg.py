"""VGG: Simonyan and Zisserman, "Very deep convolutional networks for large-scale image recognition" (2014)."""

from __future__ import annotations

from everflow import nn
from everflow.contrib import layers
from everflow.contrib.framework.arg_scope import arg_scope
from everflow.contrib.layers import outputs
from everflow.ops import array, initializers
from everflow.ops.variable_scope import variable_scope

# How many convolutions before each of the five poolings, which end with 64, 128, 256, 512 and 512 channels.
_DEPTHS = {"vgg_a": (1, 1, 2, 2, 2), "vgg_16": (2, 2, 3, 3, 3), "vgg_19": (2, 2, 4, 4, 4)}
_CHANNELS = (64, 128, 256, 512, 512)


def vgg_arg_scope(weight_decay=0.0005):
    """Arguments of VGG's layers: ReLU, and weight decay."""
    with arg_scope(
        [layers.conv2d, layers.fully_connected],
        activation_fn=nn.relu,
        weights_regularizer=layers.l2_regularizer(weight_decay),
        biases_initializer=initializers.zeros_initializer(),
    ):
        with arg_scope([layers.conv2d], padding="SAME") as scope:
            return scope


def _vgg(name):
    def build(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope=name):
        with variable_scope(scope, name, [inputs]) as sc:
            # TensorFlow's vgg_19 names the collection after the variable scope, the others after the name scope.
            end_points_collection = (sc.name if name == "vgg_19" else sc.original_name_scope) + "_end_points"
            with arg_scope([layers.conv2d, layers.max_pool2d], outputs_collections=end_points_collection):
                net = inputs
                for i, (count, channels) in enumerate(zip(_DEPTHS[name], _CHANNELS), 1):
                    net = layers.repeat(net, count, layers.conv2d, channels, [3, 3], scope=f"conv{i}")
                    net = layers.max_pool2d(net, [2, 2], scope=f"pool{i}")
                # Fully connected layers as convolutions, so that images may be larger.
                net = layers.conv2d(net, 4096, [7, 7], padding="VALID", scope="fc6")
                net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout6")
                net = layers.conv2d(net, 4096, [1, 1], scope="fc7")
                net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout7")
                net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8")
                end_points = outputs.convert_collection_to_dict(end_points_collection)
                if spatial_squeeze:
                    net = array.squeeze(net, [1, 2], name="fc8/squeezed")
                    end_points[sc.name + "/fc8"] = net
                return net, end_points

    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"(logits, end points) of {name} on images of 224 by 224."
    build.default_image_size = 224
    return build


vgg_a, vgg_16, vgg_19 = _vgg("vgg_a"), _vgg("vgg_16"), _vgg("vgg_19")
vgg_d, vgg_e = vgg_16, vgg_19
