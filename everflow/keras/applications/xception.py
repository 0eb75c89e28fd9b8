"""tf.keras.applications.xception: convolutions of single channels, with a path beside them."""

from __future__ import annotations

from everflow.keras import layers
from everflow.keras.applications.building import application, channels_axis
from everflow.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from everflow.keras.applications.imagenet_utils import preprocessing

preprocess_input = preprocessing("tf")


def _separable(x, filters, name, active_first=True):
    if active_first:
        x = layers.Activation("relu", name=name + "_act")(x)
    x = layers.SeparableConv2D(filters, (3, 3), padding="same", use_bias=False, name=name)(x)
    return layers.BatchNormalization(axis=channels_axis(), name=name + "_bn")(x)


def _beside(x, filters):
    x = layers.Conv2D(filters, (1, 1), strides=(2, 2), padding="same", use_bias=False)(x)
    return layers.BatchNormalization(axis=channels_axis())(x)


@application("xception", 299, 71)
def Xception(x):
    """Xception, for images of 299 by 299."""
    for i, (filters, stride) in enumerate(((32, 2), (64, 1)), 1):
        x = layers.Conv2D(filters, (3, 3), strides=(stride, stride), use_bias=False, name=f"block1_conv{i}")(x)
        x = layers.BatchNormalization(axis=channels_axis(), name=f"block1_conv{i}_bn")(x)
        x = layers.Activation("relu", name=f"block1_conv{i}_act")(x)
    for block, filters in ((2, 128), (3, 256), (4, 728)):
        beside = _beside(x, filters)
        x = _separable(x, filters, f"block{block}_sepconv1", active_first=block > 2)
        x = _separable(x, filters, f"block{block}_sepconv2")
        x = layers.MaxPooling2D((3, 3), strides=(2, 2), padding="same", name=f"block{block}_pool")(x)
        x = layers.add([x, beside])
    for block in range(5, 13):
        beside = x
        for i in (1, 2, 3):
            x = _separable(x, 728, f"block{block}_sepconv{i}")
        x = layers.add([x, beside])
    beside = _beside(x, 1024)
    x = _separable(x, 728, "block13_sepconv1")
    x = _separable(x, 1024, "block13_sepconv2")
    x = layers.MaxPooling2D((3, 3), strides=(2, 2), padding="same", name="block13_pool")(x)
    x = layers.add([x, beside])
    for i, filters in ((1, 1536), (2, 2048)):
        x = _separable(x, filters, f"block14_sepconv{i}", active_first=False)
        x = layers.Activation("relu", name=f"block14_sepconv{i}_act")(x)
    return x
