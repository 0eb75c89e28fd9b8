"""tf.keras.applications.mobilenet_v2: narrow blocks that are widened inside and added to their inputs."""

from __future__ import annotations

from everflow.keras import backend as K
from everflow.keras import layers
from everflow.keras.applications import building
from everflow.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from everflow.keras.applications.imagenet_utils import preprocessing
from everflow.keras.applications.mobilenet import square_size

preprocess_input = preprocessing("tf")

_SIZES = (96, 128, 160, 192, 224)
# (filters, stride of the first block, number of blocks, how much wider inside)
_GROUPS = ((16, 1, 1, 1), (24, 2, 2, 6), (32, 2, 3, 6), (64, 2, 4, 6), (96, 1, 3, 6), (160, 2, 3, 6), (320, 1, 1, 6))


def _divisible(value, divisor=8):
    """The multiple of a number that is closest to a value, and not more than a tenth below it."""
    rounded = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * value else rounded


def _normalized(x, name):
    return layers.BatchNormalization(axis=building.channels_axis(), epsilon=1e-3, momentum=0.999, name=name)(x)


def _block(inputs, expansion, stride, alpha, filters, number):
    x, prefix = inputs, f"block_{number}_" if number else "expanded_conv_"
    channels = K.int_shape(inputs)[building.channels_axis()]
    out = _divisible(int(filters * alpha))
    if number:
        x = layers.Conv2D(
            expansion * channels, 1, padding="same", use_bias=False, activation=None, name=prefix + "expand"
        )(x)
        x = _normalized(x, prefix + "expand_BN")
        x = layers.ReLU(6.0, name=prefix + "expand_relu")(x)
    if stride == 2:
        x = layers.ZeroPadding2D(padding=building.correct_padding(x, 3), name=prefix + "pad")(x)
    padding = "same" if stride == 1 else "valid"
    x = layers.DepthwiseConv2D(
        3, strides=stride, activation=None, use_bias=False, padding=padding, name=prefix + "depthwise"
    )(x)
    x = _normalized(x, prefix + "depthwise_BN")
    x = layers.ReLU(6.0, name=prefix + "depthwise_relu")(x)
    x = layers.Conv2D(out, 1, padding="same", use_bias=False, activation=None, name=prefix + "project")(x)
    x = _normalized(x, prefix + "project_BN")
    return layers.Add(name=prefix + "add")([inputs, x]) if channels == out and stride == 1 else x


def MobileNetV2(
    input_shape=None,
    alpha=1.0,
    include_top=True,
    weights="imagenet",
    input_tensor=None,
    pooling=None,
    classes=1000,
    **kwargs,
):
    """MobileNet version 2, for images of 224 by 224; `alpha` makes it narrower or wider.

    Args:
        input_shape: The shape of an image.
        alpha: How wide it is.
        include_top: Whether the layers that tell ImageNet's classes apart are there.
        weights: `imagenet` for trained weights, a file, or None for random ones.
        input_tensor: A tensor to use as the images.
        pooling: `avg` or `max` over the last feature map, where `include_top` is False.
        classes: How many classes the top tells apart.
        **kwargs: Modules that code outside of Keras hands on.

    Returns:
        A model.

    Raises:
        ValueError: If an argument isn't possible.

    Example:
        >>> model = tf.keras.applications.MobileNetV2([96, 96, 3], alpha=0.35, weights=None, classes=10)
        >>> model.output_shape
        (None, 10)
    """
    building.check_weights(weights, include_top, classes)
    if input_shape is None and input_tensor is not None:
        input_shape = K.int_shape(input_tensor)[1:]
    default_size = square_size(input_shape, _SIZES)
    input_shape = building.obtain_input_shape(input_shape, default_size, 32, include_top, weights)
    rows = input_shape[1 if K.image_data_format() == "channels_first" else 0]
    if weights == "imagenet":
        if alpha not in [0.35, 0.50, 0.75, 1.0, 1.3, 1.4]:
            raise ValueError(
                f"There are weights of ImageNet for alpha 0.35, 0.5, 0.75, 1.0, 1.3 and 1.4, not for {alpha}."
            )
        if rows not in _SIZES:
            rows = 224
    images = building.image_input(input_tensor, input_shape)
    x = layers.ZeroPadding2D(padding=building.correct_padding(images, 3), name="Conv1_pad")(images)
    x = layers.Conv2D(_divisible(32 * alpha), 3, strides=(2, 2), padding="valid", use_bias=False, name="Conv1")(x)
    x = _normalized(x, "bn_Conv1")
    x = layers.ReLU(6.0, name="Conv1_relu")(x)
    number = 0
    for filters, stride, count, expansion in _GROUPS:
        for i in range(count):
            x = _block(x, expansion, stride if i == 0 else 1, alpha, filters, number)
            number += 1
    # The last convolution gets wider with alpha, never narrower.
    last = _divisible(1280 * alpha) if alpha > 1.0 else 1280
    x = layers.Conv2D(last, 1, use_bias=False, name="Conv_1")(x)
    x = _normalized(x, "Conv_1_bn")
    x = layers.ReLU(6.0, name="out_relu")(x)
    if include_top:
        x = layers.GlobalAveragePooling2D()(x)
        x = layers.Dense(classes, activation="softmax", use_bias=True, name="Logits")(x)
    else:
        x = building.pooled(x, pooling)
    top = "" if include_top else "_no_top"
    file = f"mobilenet_v2_weights_tf_dim_ordering_tf_kernels_{alpha}_{rows}{top}.h5"
    return building.finished(
        x, images, input_tensor, f"mobilenetv2_{alpha:.2f}_{rows}", weights, file, folder="mobilenet_v2"
    )
