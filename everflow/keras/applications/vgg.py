"""VGG: five blocks of small convolutions, then three dense layers."""

from __future__ import annotations

from everflow.keras import layers
from everflow.keras.applications.building import application

_FILTERS = (64, 128, 256, 512, 512)


def _features(x, convolutions):
    for block, (filters, count) in enumerate(zip(_FILTERS, convolutions), 1):
        for i in range(1, count + 1):
            x = layers.Conv2D(filters, (3, 3), activation="relu", padding="same", name=f"block{block}_conv{i}")(x)
        x = layers.MaxPooling2D((2, 2), strides=(2, 2), name=f"block{block}_pool")(x)
    return x


def _head(x, classes):
    x = layers.Flatten(name="flatten")(x)
    x = layers.Dense(4096, activation="relu", name="fc1")(x)
    x = layers.Dense(4096, activation="relu", name="fc2")(x)
    return layers.Dense(classes, activation="softmax", name="predictions")(x)


@application("vgg16", 224, 32, head=_head)
def VGG16(images):
    """VGG with 16 layers that have weights."""
    return _features(images, (2, 2, 3, 3, 3))


@application("vgg19", 224, 32, head=_head)
def VGG19(images):
    """VGG with 19 layers that have weights."""
    return _features(images, (2, 2, 4, 4, 4))
