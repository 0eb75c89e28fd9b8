"""Convolutional layers over one, two and three dimensions, separable and transposed ones, and their functional forms."""

from __future__ import annotations

from everflow.keras.layers import convolutional as keras_convolutional
from everflow.layers.base import Layer
from everflow.layers.derived import functional, start


class Conv1D(keras_convolutional.Conv1D, Layer):
    """Convolution over one dimension, such as time.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        data_format: `channels_last` or `channels_first`.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        trainable: Whether the variables are among those that optimizers train.
        name: The layer's name, and that of its variable scope.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.layers.Conv1D(32, 5, activation=tf.nn.relu)(tf.ones([2, 10, 3])).shape.as_list()
        [2, 6, 32]
    """

    __init__ = start(keras_convolutional.Conv1D)


class Conv2D(keras_convolutional.Conv2D, Layer):
    """Convolution over images.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        data_format: `channels_last` or `channels_first`.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        trainable: Whether the variables are among those that optimizers train.
        name: The layer's name, and that of its variable scope.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.layers.Conv2D(32, 3, padding="same", activation=tf.nn.relu)(tf.ones([2, 8, 8, 3])).shape.as_list()
        [2, 8, 8, 32]
    """

    __init__ = start(keras_convolutional.Conv2D)


class Conv3D(keras_convolutional.Conv3D, Layer):
    """Convolution over volumes.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        data_format: `channels_last` or `channels_first`.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        trainable: Whether the variables are among those that optimizers train.
        name: The layer's name, and that of its variable scope.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.layers.Conv3D(4, 3)(tf.ones([2, 5, 5, 5, 1])).shape.as_list()
        [2, 3, 3, 3, 4]
    """

    __init__ = start(keras_convolutional.Conv3D)


class Conv2DTranspose(keras_convolutional.Conv2DTranspose, Layer):
    """Transposed convolution over images, sometimes called deconvolution.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        data_format: `channels_last` or `channels_first`.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        trainable: Whether the variables are among those that optimizers train.
        name: The layer's name, and that of its variable scope.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.layers.Conv2DTranspose(16, 3, strides=2, padding="same")(tf.ones([2, 8, 8, 3])).shape.as_list()
        [2, 16, 16, 16]
    """

    __init__ = start(keras_convolutional.Conv2DTranspose, without=("output_padding", "dilation_rate"))


class Conv3DTranspose(keras_convolutional.Conv3DTranspose, Layer):
    """Transposed convolution over volumes.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        data_format: `channels_last` or `channels_first`.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        trainable: Whether the variables are among those that optimizers train.
        name: The layer's name, and that of its variable scope.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.layers.Conv3DTranspose(4, 3, strides=2, padding="same")(tf.ones([2, 5, 5, 5, 1])).shape.as_list()
        [2, 10, 10, 10, 4]
    """

    __init__ = start(keras_convolutional.Conv3DTranspose, without=("output_padding",))


class SeparableConv1D(keras_convolutional.SeparableConv1D, Layer):
    """Depthwise separable convolution over one dimension.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        data_format: `channels_last` or `channels_first`.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
        depth_multiplier: How many outputs each input channel gets.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        depthwise_initializer: What the depthwise kernel starts as.
        pointwise_initializer: What the pointwise kernel starts as.
        bias_initializer: What the bias starts as.
        depthwise_regularizer: A function of the depthwise kernel whose result is added to the losses.
        pointwise_regularizer: A function of the pointwise kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        depthwise_constraint: A function that gives the depthwise kernel back as it may be.
        pointwise_constraint: A function that gives the pointwise kernel back as it may be.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        trainable: Whether the variables are among those that optimizers train.
        name: The layer's name, and that of its variable scope.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.layers.SeparableConv1D(8, 3)(tf.ones([2, 10, 3])).shape.as_list()
        [2, 8, 8]
    """

    __init__ = start(keras_convolutional.SeparableConv1D)


class SeparableConv2D(keras_convolutional.SeparableConv2D, Layer):
    """Depthwise separable convolution over images.

    Args:
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        data_format: `channels_last` or `channels_first`.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
        depth_multiplier: How many outputs each input channel gets.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        depthwise_initializer: What the depthwise kernel starts as.
        pointwise_initializer: What the pointwise kernel starts as.
        bias_initializer: What the bias starts as.
        depthwise_regularizer: A function of the depthwise kernel whose result is added to the losses.
        pointwise_regularizer: A function of the pointwise kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        depthwise_constraint: A function that gives the depthwise kernel back as it may be.
        pointwise_constraint: A function that gives the pointwise kernel back as it may be.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        trainable: Whether the variables are among those that optimizers train.
        name: The layer's name, and that of its variable scope.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.layers.SeparableConv2D(8, 3)(tf.ones([2, 8, 8, 3])).shape.as_list()
        [2, 6, 6, 8]
    """

    __init__ = start(keras_convolutional.SeparableConv2D)


conv1d = functional(
    Conv1D,
    "conv1d",
    """Convolution over one dimension, with variables `name/kernel` and `name/bias`.

Args:
    inputs: The tensor to work on.
    filters: How many filters, and so how many channels the result has.
    kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
    strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
    padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
    data_format: `channels_last` or `channels_first`.
    dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
    activation: The function applied to the result, or its name; None leaves it as it is.
    use_bias: Whether a bias is added.
    kernel_initializer: What the kernel starts as.
    bias_initializer: What the bias starts as.
    kernel_regularizer: A function of the kernel whose result is added to the losses.
    bias_regularizer: A function of the bias whose result is added to the losses.
    activity_regularizer: A function of the output whose result is added to the losses.
    kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
    bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
    trainable: Whether the variables are among those that optimizers train.
    name: The layer's name, and that of its variable scope.
    reuse: Whether variables that are there under this name are used again.

Returns:
    A tensor [batch, width, filters].

Example:
    >>> tf.layers.conv1d(tf.ones([2, 10, 3]), 32, 5).shape.as_list()
    [2, 6, 32]
""",
)
conv2d = functional(
    Conv2D,
    "conv2d",
    """Convolution over images, with variables `name/kernel` and `name/bias`.

    Args:
        inputs: The tensor to work on.
        filters: How many filters, and so how many channels the result has.
        kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
        strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
        padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
        data_format: `channels_last` or `channels_first`.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        trainable: Whether the variables are among those that optimizers train.
        name: The layer's name, and that of its variable scope.
        reuse: Whether variables that are there under this name are used again.

    Returns:
        A tensor [batch, height, width, filters].

    Example:
        >>> tf.layers.conv2d(tf.ones([2, 8, 8, 3]), 32, 3, padding="same", activation=tf.nn.relu).shape.as_list()
        [2, 8, 8, 32]
    """,
)
conv3d = functional(
    Conv3D,
    "conv3d",
    """Convolution over volumes, with variables `name/kernel` and `name/bias`.

Args:
    inputs: The tensor to work on.
    filters: How many filters, and so how many channels the result has.
    kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
    strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
    padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
    data_format: `channels_last` or `channels_first`.
    dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
    activation: The function applied to the result, or its name; None leaves it as it is.
    use_bias: Whether a bias is added.
    kernel_initializer: What the kernel starts as.
    bias_initializer: What the bias starts as.
    kernel_regularizer: A function of the kernel whose result is added to the losses.
    bias_regularizer: A function of the bias whose result is added to the losses.
    activity_regularizer: A function of the output whose result is added to the losses.
    kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
    bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
    trainable: Whether the variables are among those that optimizers train.
    name: The layer's name, and that of its variable scope.
    reuse: Whether variables that are there under this name are used again.

Returns:
    A tensor [batch, depth, height, width, filters].

Example:
    >>> tf.layers.conv3d(tf.ones([2, 5, 5, 5, 1]), 4, 3).shape.as_list()
    [2, 3, 3, 3, 4]
""",
)
conv2d_transpose = functional(
    Conv2DTranspose,
    "conv2d_transpose",
    """Transposed convolution over images, with variables `name/kernel` and `name/bias`.

Args:
    inputs: The tensor to work on.
    filters: How many filters, and so how many channels the result has.
    kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
    strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
    padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
    data_format: `channels_last` or `channels_first`.
    activation: The function applied to the result, or its name; None leaves it as it is.
    use_bias: Whether a bias is added.
    kernel_initializer: What the kernel starts as.
    bias_initializer: What the bias starts as.
    kernel_regularizer: A function of the kernel whose result is added to the losses.
    bias_regularizer: A function of the bias whose result is added to the losses.
    activity_regularizer: A function of the output whose result is added to the losses.
    kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
    bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
    trainable: Whether the variables are among those that optimizers train.
    name: The layer's name, and that of its variable scope.
    reuse: Whether variables that are there under this name are used again.

Returns:
    A tensor [batch, height, width, filters].

Example:
    >>> tf.layers.conv2d_transpose(tf.ones([2, 8, 8, 3]), 16, 3, strides=2, padding="same").shape.as_list()
    [2, 16, 16, 16]
""",
)
conv3d_transpose = functional(
    Conv3DTranspose,
    "conv3d_transpose",
    """Transposed convolution over volumes, with variables `name/kernel` and `name/bias`.

Args:
    inputs: The tensor to work on.
    filters: How many filters, and so how many channels the result has.
    kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
    strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
    padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
    data_format: `channels_last` or `channels_first`.
    activation: The function applied to the result, or its name; None leaves it as it is.
    use_bias: Whether a bias is added.
    kernel_initializer: What the kernel starts as.
    bias_initializer: What the bias starts as.
    kernel_regularizer: A function of the kernel whose result is added to the losses.
    bias_regularizer: A function of the bias whose result is added to the losses.
    activity_regularizer: A function of the output whose result is added to the losses.
    kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
    bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
    trainable: Whether the variables are among those that optimizers train.
    name: The layer's name, and that of its variable scope.
    reuse: Whether variables that are there under this name are used again.

Returns:
    A tensor [batch, depth, height, width, filters].

Example:
    >>> tf.layers.conv3d_transpose(tf.ones([2, 5, 5, 5, 1]), 4, 3, strides=2, padding="same").shape.as_list()
    [2, 10, 10, 10, 4]
""",
)
separable_conv1d = functional(
    SeparableConv1D,
    "separable_conv1d",
    """Depthwise separable convolution over one dimension, with its variables under `name`.

Args:
    inputs: The tensor to work on.
    filters: How many filters, and so how many channels the result has.
    kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
    strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
    padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
    data_format: `channels_last` or `channels_first`.
    dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
    depth_multiplier: How many outputs each input channel gets.
    activation: The function applied to the result, or its name; None leaves it as it is.
    use_bias: Whether a bias is added.
    depthwise_initializer: What the depthwise kernel starts as.
    pointwise_initializer: What the pointwise kernel starts as.
    bias_initializer: What the bias starts as.
    depthwise_regularizer: A function of the depthwise kernel whose result is added to the losses.
    pointwise_regularizer: A function of the pointwise kernel whose result is added to the losses.
    bias_regularizer: A function of the bias whose result is added to the losses.
    activity_regularizer: A function of the output whose result is added to the losses.
    depthwise_constraint: A function that gives the depthwise kernel back as it may be.
    pointwise_constraint: A function that gives the pointwise kernel back as it may be.
    bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
    trainable: Whether the variables are among those that optimizers train.
    name: The layer's name, and that of its variable scope.
    reuse: Whether variables that are there under this name are used again.

Returns:
    A tensor [batch, width, filters].

Example:
    >>> tf.layers.separable_conv1d(tf.ones([2, 10, 3]), 8, 3).shape.as_list()
    [2, 8, 8]
""",
)
separable_conv2d = functional(
    SeparableConv2D,
    "separable_conv2d",
    """Depthwise separable convolution over images, with its variables under `name`.

Args:
    inputs: The tensor to work on.
    filters: How many filters, and so how many channels the result has.
    kernel_size: The extent of the kernel: a whole number for all axes, or one for each.
    strides: How far the window moves from one place to the next: a whole number for all axes, or one for each.
    padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the kernel fits.
    data_format: `channels_last` or `channels_first`.
    dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
    depth_multiplier: How many outputs each input channel gets.
    activation: The function applied to the result, or its name; None leaves it as it is.
    use_bias: Whether a bias is added.
    depthwise_initializer: What the depthwise kernel starts as.
    pointwise_initializer: What the pointwise kernel starts as.
    bias_initializer: What the bias starts as.
    depthwise_regularizer: A function of the depthwise kernel whose result is added to the losses.
    pointwise_regularizer: A function of the pointwise kernel whose result is added to the losses.
    bias_regularizer: A function of the bias whose result is added to the losses.
    activity_regularizer: A function of the output whose result is added to the losses.
    depthwise_constraint: A function that gives the depthwise kernel back as it may be.
    pointwise_constraint: A function that gives the pointwise kernel back as it may be.
    bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
    trainable: Whether the variables are among those that optimizers train.
    name: The layer's name, and that of its variable scope.
    reuse: Whether variables that are there under this name are used again.

Returns:
    A tensor [batch, height, width, filters].

Example:
    >>> tf.layers.separable_conv2d(tf.ones([2, 8, 8, 3]), 8, 3).shape.as_list()
    [2, 6, 6, 8]
""",
)

# Older names.
Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
Convolution2DTranspose, Deconvolution2D, Deconv2D = Conv2DTranspose, Conv2DTranspose, Conv2DTranspose
Convolution3DTranspose, Deconvolution3D, Deconv3D = Conv3DTranspose, Conv3DTranspose, Conv3DTranspose
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
convolution1d, convolution2d, convolution3d = conv1d, conv2d, conv3d
convolution2d_transpose, deconvolution2d, deconv2d = conv2d_transpose, conv2d_transpose, conv2d_transpose
convolution3d_transpose, deconvolution3d, deconv3d = conv3d_transpose, conv3d_transpose, conv3d_transpose
separable_convolution2d = separable_conv2d
