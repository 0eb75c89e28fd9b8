"""tf.keras.applications.mobilenet: convolutions of single channels, then ones that mix them; as wide as `alpha` says."""

from __future__ import annotations

import warnings

from everflow.keras import backend as K
from everflow.keras import layers
from everflow.keras.applications import building
from everflow.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from everflow.keras.applications.imagenet_utils import preprocessing

preprocess_input = preprocessing("tf")

# (filters, stride) of each block after the first convolution.
_BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *((512, 1),) * 5, (1024, 2), (1024, 1))
_SIZES = (128, 160, 192, 224)


def square_size(input_shape, sizes, default=224):
    """The side of images, where they are squares of a size that there are weights for."""
    rows, columns = (1, 2) if K.image_data_format() == "channels_first" else (0, 1)
    if input_shape is None or len(input_shape) != 3:
        return default
    side = input_shape[rows]
    return side if side == input_shape[columns] and side in sizes else default


def _normalized(x, name):
    x = layers.BatchNormalization(axis=building.channels_axis(), name=name + "_bn")(x)
    return layers.ReLU(6.0, name=name + "_relu")(x)


def _block(x, filters, alpha, depth_multiplier, stride, number):
    if stride != 1:
        x = layers.ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{number}")(x)
    padding, strides = "same" if stride == 1 else "valid", (stride, stride)
    x = layers.DepthwiseConv2D((3, 3), strides, padding, depth_multiplier, use_bias=False, name=f"conv_dw_{number}")(x)
    x = _normalized(x, f"conv_dw_{number}")
    x = layers.Conv2D(
        int(filters * alpha), (1, 1), padding="same", use_bias=False, strides=(1, 1), name=f"conv_pw_{number}"
    )(x)
    return _normalized(x, f"conv_pw_{number}")


def MobileNet(
    input_shape=None,
    alpha=1.0,
    depth_multiplier=1,
    dropout=1e-3,
    include_top=True,
    weights="imagenet",
    input_tensor=None,
    pooling=None,
    classes=1000,
    **kwargs,
):
    """MobileNet, for images of 224 by 224; `alpha` makes it narrower or wider.

    Args:
        input_shape: The shape of an image.
        alpha: How wide it is.
        depth_multiplier: How many outputs each channel has.
        dropout: The part that is dropped.
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
        >>> model = tf.keras.applications.MobileNet([128, 128, 3], alpha=0.25, weights=None, classes=10)
        >>> model.output_shape
        (None, 10)
    """
    building.check_weights(weights, include_top, classes)
    default_size = square_size(input_shape, _SIZES)
    input_shape = building.obtain_input_shape(input_shape, default_size, 32, include_top, weights)
    rows = input_shape[1 if K.image_data_format() == "channels_first" else 0]
    if weights == "imagenet":
        if depth_multiplier != 1:
            raise ValueError(f"There are weights of ImageNet for depth_multiplier=1 only, not for {depth_multiplier}.")
        if alpha not in [0.25, 0.50, 0.75, 1.0]:
            raise ValueError(f"There are weights of ImageNet for alpha 0.25, 0.5, 0.75 and 1.0, not for {alpha}.")
        if input_shape[0] != input_shape[1] or rows not in _SIZES:
            rows = 224
            warnings.warn(
                f"There are weights of ImageNet for squares of {_SIZES}; those for 224 are loaded for input_shape={input_shape}.",
                stacklevel=2,
            )
    images = building.image_input(input_tensor, input_shape)
    x = layers.ZeroPadding2D(padding=((0, 1), (0, 1)), name="conv1_pad")(images)
    x = layers.Conv2D(int(32 * alpha), (3, 3), padding="valid", use_bias=False, strides=(2, 2), name="conv1")(x)
    x = _normalized(x, "conv1")
    for number, (filters, stride) in enumerate(_BLOCKS, 1):
        x = _block(x, filters, alpha, depth_multiplier, stride, number)
    if include_top:
        channels = int(1024 * alpha)
        shape = (channels, 1, 1) if K.image_data_format() == "channels_first" else (1, 1, channels)
        x = layers.GlobalAveragePooling2D()(x)
        x = layers.Reshape(shape, name="reshape_1")(x)
        x = layers.Dropout(dropout, name="dropout")(x)
        x = layers.Conv2D(classes, (1, 1), padding="same", name="conv_preds")(x)
        x = layers.Reshape((classes,), name="reshape_2")(x)
        x = layers.Activation("softmax", name="act_softmax")(x)
    else:
        x = building.pooled(x, pooling)
    width = {1.0: "1_0", 0.75: "7_5", 0.5: "5_0"}.get(alpha, "2_5")
    file = f"mobilenet_{width}_{rows}_tf{'' if include_top else '_no_top'}.h5"
    return building.finished(
        x, images, input_tensor, f"mobilenet_{alpha:.2f}_{rows}", weights, file, folder="mobilenet"
    )
