"""tf.keras.applications.inception_resnet_v2: Inception's parallel convolutions, added to their input."""

from __future__ import annotations

from everflow.keras import backend as K
from everflow.keras import layers
from everflow.keras.applications.building import application, channels_axis
from everflow.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from everflow.keras.applications.imagenet_utils import preprocessing

preprocess_input = preprocessing("tf")

# The paths of each kind of block, each a list of (filters, kernel size).
_PATHS = {
    "block35": [[(32, 1)], [(32, 1), (32, 3)], [(32, 1), (48, 3), (64, 3)]],
    "block17": [[(192, 1)], [(128, 1), (160, [1, 7]), (192, [7, 1])]],
    "block8": [[(192, 1)], [(192, 1), (224, [1, 3]), (256, [3, 1])]],
}
# Paths that halve the size: the last step of each has stride 2.
_REDUCTIONS = {
    "mixed_6a": [[(384, 3)], [(256, 1), (256, 3), (384, 3)]],
    "mixed_7a": [[(256, 1), (384, 3)], [(256, 1), (288, 3)], [(256, 1), (288, 3), (320, 3)]],
}


def _convolve(x, filters, size, strides=1, padding="same", name=None):
    x = layers.Conv2D(filters, size, strides=strides, padding=padding, use_bias=False, name=name)(x)
    x = layers.BatchNormalization(axis=channels_axis(), scale=False, name=name and name + "_bn")(x)
    return layers.Activation("relu", name=name and name + "_ac")(x)


def _path(x, steps):
    for filters, size in steps:
        x = _convolve(x, filters, size)
    return x


def _block(x, kind, number, scale, active=True):
    name = f"{kind}_{number}"
    mixed = layers.Concatenate(axis=channels_axis(), name=name + "_mixed")([_path(x, steps) for steps in _PATHS[kind]])
    up = layers.Conv2D(K.int_shape(x)[channels_axis()], 1, padding="same", use_bias=True, name=name + "_conv")(mixed)
    settings = {"output_shape": K.int_shape(x)[1:], "arguments": {"scale": scale}, "name": name}
    x = layers.Lambda(lambda inputs, scale: inputs[0] + inputs[1] * scale, **settings)([x, up])
    return layers.Activation("relu", name=name + "_ac")(x) if active else x


def _reduction(x, name):
    parts = []
    for steps in _REDUCTIONS[name]:
        part = _path(x, steps[:-1])
        parts.append(_convolve(part, *steps[-1], strides=2, padding="valid"))
    parts.append(layers.MaxPooling2D(3, strides=2, padding="valid")(x))
    return layers.Concatenate(axis=channels_axis(), name=name)(parts)


@application("inception_resnet_v2", 299, 75)
def InceptionResNetV2(images):
    """Inception-ResNet version 2, for images of 299 by 299."""
    x = _convolve(images, 32, 3, strides=2, padding="valid")
    x = _convolve(x, 32, 3, padding="valid")
    x = _convolve(x, 64, 3)
    x = layers.MaxPooling2D(3, strides=2)(x)
    x = _convolve(x, 80, 1, padding="valid")
    x = _convolve(x, 192, 3, padding="valid")
    x = layers.MaxPooling2D(3, strides=2)(x)
    parts = [_path(x, steps) for steps in ([(96, 1)], [(48, 1), (64, 5)], [(64, 1), (96, 3), (96, 3)])]
    average = layers.AveragePooling2D(3, strides=1, padding="same")(x)
    parts.append(_convolve(average, 64, 1))
    x = layers.Concatenate(axis=channels_axis(), name="mixed_5b")(parts)
    for number in range(1, 11):
        x = _block(x, "block35", number, scale=0.17)
    x = _reduction(x, "mixed_6a")
    for number in range(1, 21):
        x = _block(x, "block17", number, scale=0.1)
    x = _reduction(x, "mixed_7a")
    for number in range(1, 10):
        x = _block(x, "block8", number, scale=0.2)
    x = _block(x, "block8", 10, scale=1.0, active=False)
    return _convolve(x, 1536, 1, name="conv_7b")
