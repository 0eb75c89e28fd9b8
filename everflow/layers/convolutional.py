"""Convolutional layers over one, two and three dimensions, separable and transposed ones, and their functional forms."""

from __future__ import annotations

from everflow.keras.layers import convolutional as keras_convolutional
from everflow.layers.base import Layer
from everflow.ops import initializers

_ZEROS = initializers.zeros_initializer()

# `locals()` in a first line are the arguments: each constructor and function hands on all it was given, by name.


def _arguments(given):
    named = {name: value for name, value in given.items() if name not in ("self", "__class__", "kwargs")}
    return {**named, **given.get("kwargs", {})}


def _applied(layer, given):
    """What a layer makes of the inputs, in the variable scope of its name."""
    arguments = {name: value for name, value in given.items() if name not in ("inputs", "reuse", "layer")}
    return layer(**arguments, _scope=given["name"], _reuse=given["reuse"]).apply(given["inputs"])


class Conv1D(keras_convolutional.Conv1D, Layer):
    """Convolution over one dimension, such as time.

    >>> y = tf.layers.Conv1D(32, 5, activation=tf.nn.relu)(x)
    """

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1, activation=None,
                 use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, **kwargs):  # fmt: skip
        super().__init__(**_arguments(locals()))


class Conv2D(keras_convolutional.Conv2D, Layer):
    """Convolution over images.

    >>> y = tf.layers.Conv2D(32, 3, padding="same", activation=tf.nn.relu)(images)
    """

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last", dilation_rate=(1, 1), activation=None,
                 use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, **kwargs):  # fmt: skip
        super().__init__(**_arguments(locals()))


class Conv3D(keras_convolutional.Conv3D, Layer):
    """Convolution over volumes."""

    def __init__(self, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last", dilation_rate=(1, 1, 1), activation=None,
                 use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, **kwargs):  # fmt: skip
        super().__init__(**_arguments(locals()))


class Conv2DTranspose(keras_convolutional.Conv2DTranspose, Layer):
    """Transposed convolution over images, sometimes called deconvolution."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last", activation=None, use_bias=True,
                 kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, **kwargs):  # fmt: skip
        super().__init__(**_arguments(locals()))


class Conv3DTranspose(keras_convolutional.Conv3DTranspose, Layer):
    """Transposed convolution over volumes."""

    def __init__(self, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last", activation=None, use_bias=True,
                 kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, **kwargs):  # fmt: skip
        super().__init__(**_arguments(locals()))


class SeparableConv1D(keras_convolutional.SeparableConv1D, Layer):
    """Depthwise separable convolution over one dimension."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
                 depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer=None, pointwise_initializer=None,
                 bias_initializer=_ZEROS, depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True,
                 name=None, **kwargs):  # fmt: skip
        super().__init__(**_arguments(locals()))


class SeparableConv2D(keras_convolutional.SeparableConv2D, Layer):
    """Depthwise separable convolution over images."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last", dilation_rate=(1, 1),
                 depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer=None, pointwise_initializer=None,
                 bias_initializer=_ZEROS, depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True,
                 name=None, **kwargs):  # fmt: skip
        super().__init__(**_arguments(locals()))


def conv1d(inputs, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1, activation=None,
           use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
           activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None):  # fmt: skip
    """Convolution over one dimension, with variables `name/kernel` and `name/bias`."""
    return _applied(Conv1D, locals())


def conv2d(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last", dilation_rate=(1, 1), activation=None,
           use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
           activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None):  # fmt: skip
    """Convolution over images, with variables `name/kernel` and `name/bias`.

    >>> y = tf.layers.conv2d(images, 32, 3, padding="same", activation=tf.nn.relu)
    """
    return _applied(Conv2D, locals())


def conv3d(inputs, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last", dilation_rate=(1, 1, 1),
           activation=None, use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
           activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None):  # fmt: skip
    """Convolution over volumes, with variables `name/kernel` and `name/bias`."""
    return _applied(Conv3D, locals())


def conv2d_transpose(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last", activation=None, use_bias=True,
                     kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
                     activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None):  # fmt: skip
    """Transposed convolution over images, sometimes called deconvolution."""
    return _applied(Conv2DTranspose, locals())


def conv3d_transpose(inputs, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last", activation=None,
                     use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS, kernel_regularizer=None, bias_regularizer=None,
                     activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None):  # fmt: skip
    """Transposed convolution over volumes."""
    return _applied(Conv3DTranspose, locals())


def _separable(layer, one):
    def separable(inputs, filters, kernel_size, strides=one, padding="valid", data_format="channels_last", dilation_rate=one,
                  depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer=None, pointwise_initializer=None,
                  bias_initializer=_ZEROS, depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None,
                  activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True,
                  name=None, reuse=None):  # fmt: skip
        return _applied(layer, locals())

    separable.__doc__ = layer.__doc__
    return separable


separable_conv1d = _separable(SeparableConv1D, 1)
separable_conv2d = _separable(SeparableConv2D, (1, 1))

# Older names.
Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
Convolution2DTranspose, Deconvolution2D, Deconv2D = Conv2DTranspose, Conv2DTranspose, Conv2DTranspose
Convolution3DTranspose, Deconvolution3D, Deconv3D = Conv3DTranspose, Conv3DTranspose, Conv3DTranspose
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
convolution1d, convolution2d, convolution3d = conv1d, conv2d, conv3d
convolution2d_transpose, deconvolution2d, deconv2d = conv2d_transpose, conv2d_transpose, conv2d_transpose
convolution3d_transpose, deconvolution3d, deconv3d = conv3d_transpose, conv3d_transpose, conv3d_transpose
separable_convolution2d = separable_conv2d
