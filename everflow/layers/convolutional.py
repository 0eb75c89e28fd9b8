"""Convolutional layers over one, two and three dimensions, separable and transposed ones, and their functional forms."""

from __future__ import annotations

from everflow.keras.layers import convolutional as keras_convolutional
from everflow.layers.base import Layer
from everflow.layers.derived import functional, start


class Conv1D(keras_convolutional.Conv1D, Layer):
    """Convolution over one dimension, such as time.

    >>> y = tf.layers.Conv1D(32, 5, activation=tf.nn.relu)(x)
    """

    __init__ = start(keras_convolutional.Conv1D)


class Conv2D(keras_convolutional.Conv2D, Layer):
    """Convolution over images.

    >>> y = tf.layers.Conv2D(32, 3, padding="same", activation=tf.nn.relu)(images)
    """

    __init__ = start(keras_convolutional.Conv2D)


class Conv3D(keras_convolutional.Conv3D, Layer):
    """Convolution over volumes."""

    __init__ = start(keras_convolutional.Conv3D)


class Conv2DTranspose(keras_convolutional.Conv2DTranspose, Layer):
    """Transposed convolution over images, sometimes called deconvolution."""

    __init__ = start(keras_convolutional.Conv2DTranspose, without=("output_padding", "dilation_rate"))


class Conv3DTranspose(keras_convolutional.Conv3DTranspose, Layer):
    """Transposed convolution over volumes."""

    __init__ = start(keras_convolutional.Conv3DTranspose, without=("output_padding",))


class SeparableConv1D(keras_convolutional.SeparableConv1D, Layer):
    """Depthwise separable convolution over one dimension."""

    __init__ = start(keras_convolutional.SeparableConv1D)


class SeparableConv2D(keras_convolutional.SeparableConv2D, Layer):
    """Depthwise separable convolution over images."""

    __init__ = start(keras_convolutional.SeparableConv2D)


conv1d = functional(Conv1D, "conv1d", "Convolution over one dimension, with variables `name/kernel` and `name/bias`.")
conv2d = functional(
    Conv2D,
    "conv2d",
    """Convolution over images, with variables `name/kernel` and `name/bias`.

    >>> y = tf.layers.conv2d(images, 32, 3, padding="same", activation=tf.nn.relu)
    """,
)
conv3d = functional(Conv3D, "conv3d", "Convolution over volumes, with variables `name/kernel` and `name/bias`.")
conv2d_transpose = functional(Conv2DTranspose, "conv2d_transpose", Conv2DTranspose.__doc__)
conv3d_transpose = functional(Conv3DTranspose, "conv3d_transpose", Conv3DTranspose.__doc__)
separable_conv1d = functional(SeparableConv1D, "separable_conv1d", SeparableConv1D.__doc__)
separable_conv2d = functional(SeparableConv2D, "separable_conv2d", SeparableConv2D.__doc__)

# Older names.
Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
Convolution2DTranspose, Deconvolution2D, Deconv2D = Conv2DTranspose, Conv2DTranspose, Conv2DTranspose
Convolution3DTranspose, Deconvolution3D, Deconv3D = Conv3DTranspose, Conv3DTranspose, Conv3DTranspose
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
convolution1d, convolution2d, convolution3d = conv1d, conv2d, conv3d
convolution2d_transpose, deconvolution2d, deconv2d = conv2d_transpose, conv2d_transpose, conv2d_transpose
convolution3d_transpose, deconvolution3d, deconv3d = conv3d_transpose, conv3d_transpose, conv3d_transpose
separable_convolution2d = separable_conv2d
