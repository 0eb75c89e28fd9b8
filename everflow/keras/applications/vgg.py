"""VGG: five blocks of small convolutions, then three dense layers."""

from __future__ import annotations

from everflow.keras import layers
from everflow.keras.applications.building import check_weights, finished, image_input, obtain_input_shape, pooled, usual_file

_FILTERS = (64, 128, 256, 512, 512)


def _vgg(name, convolutions, include_top, weights, input_tensor, input_shape, pooling, classes):
    check_weights(weights, include_top, classes)
    input_shape = obtain_input_shape(input_shape, 224, 32, include_top, weights)
    images = x = image_input(input_tensor, input_shape)
    for block, (filters, count) in enumerate(zip(_FILTERS, convolutions), 1):
        for i in range(1, count + 1):
            x = layers.Conv2D(filters, (3, 3), activation="relu", padding="same", name=f"block{block}_conv{i}")(x)
        x = layers.MaxPooling2D((2, 2), strides=(2, 2), name=f"block{block}_pool")(x)
    if include_top:
        x = layers.Flatten(name="flatten")(x)
        x = layers.Dense(4096, activation="relu", name="fc1")(x)
        x = layers.Dense(4096, activation="relu", name="fc2")(x)
        x = layers.Dense(classes, activation="softmax", name="predictions")(x)
    else:
        x = pooled(x, pooling)
    return finished(x, images, input_tensor, name, weights, usual_file(name, include_top))


def VGG16(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000, **kwargs):
    """VGG with 16 layers that have weights."""
    return _vgg("vgg16", (2, 2, 3, 3, 3), include_top, weights, input_tensor, input_shape, pooling, classes)


def VGG19(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000, **kwargs):
    """VGG with 19 layers that have weights."""
    return _vgg("vgg19", (2, 2, 4, 4, 4), include_top, weights, input_tensor, input_shape, pooling, classes)
