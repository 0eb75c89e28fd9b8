"""tf.keras.applications.inception_v3: blocks of parallel convolutions of several sizes."""

from __future__ import annotations

from everflow.keras import layers
from everflow.keras.applications.building import application, channels_axis
from everflow.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from everflow.keras.applications.imagenet_utils import preprocessing

preprocess_input = preprocessing("tf")


def _convolve(x, filters, rows, columns, padding="same", strides=(1, 1)):
    x = layers.Conv2D(filters, (rows, columns), strides=strides, padding=padding, use_bias=False)(x)
    x = layers.BatchNormalization(axis=channels_axis(), scale=False)(x)
    return layers.Activation("relu")(x)


def _path(x, *steps, padding="same", strides=(1, 1)):
    """Convolutions in a row, each (filters, rows, columns); the last one with this padding and these strides."""
    for step in steps[:-1]:
        x = _convolve(x, *step)
    return _convolve(x, *steps[-1], padding=padding, strides=strides)


def _averaged(x, filters):
    x = layers.AveragePooling2D((3, 3), strides=(1, 1), padding="same")(x)
    return _convolve(x, filters, 1, 1)


def _join(parts, name=None):
    return layers.concatenate(parts, axis=channels_axis(), name=name)


def _mixed(x, name, paths, averaged):
    """Paths side by side, and the average of each place and its neighbours."""
    return _join([*(_path(x, *steps) for steps in paths), _averaged(x, averaged)], name=name)


def _reduced(x, name, *paths):
    """Paths that halve the size side by side, and the largest values."""
    halved = [_path(x, *steps, padding="valid", strides=(2, 2)) for steps in paths]
    return _join([*halved, layers.MaxPooling2D((3, 3), strides=(2, 2))(x)], name=name)


@application("inception_v3", 299, 75)
def InceptionV3(images):
    """Inception version 3, for images of 299 by 299."""
    x = _convolve(images, 32, 3, 3, strides=(2, 2), padding="valid")
    x = _convolve(x, 32, 3, 3, padding="valid")
    x = _convolve(x, 64, 3, 3)
    x = layers.MaxPooling2D((3, 3), strides=(2, 2))(x)
    x = _convolve(x, 80, 1, 1, padding="valid")
    x = _convolve(x, 192, 3, 3, padding="valid")
    x = layers.MaxPooling2D((3, 3), strides=(2, 2))(x)
    for i, filters in enumerate((32, 64, 64)):
        paths = [(64, 1, 1)], [(48, 1, 1), (64, 5, 5)], [(64, 1, 1), (96, 3, 3), (96, 3, 3)]
        x = _mixed(x, f"mixed{i}", paths, filters)
    x = _reduced(x, "mixed3", [(384, 3, 3)], [(64, 1, 1), (96, 3, 3), (96, 3, 3)])
    for i, n in ((4, 128), (5, 160), (6, 160), (7, 192)):
        long = [(n, 1, 1), (n, 7, 1), (n, 1, 7), (n, 7, 1), (192, 1, 7)]
        x = _mixed(x, f"mixed{i}", ([(192, 1, 1)], [(n, 1, 1), (n, 1, 7), (192, 7, 1)], long), 192)
    long = [(192, 1, 1), (192, 1, 7), (192, 7, 1), (192, 3, 3)]
    x = _reduced(x, "mixed8", [(192, 1, 1), (320, 3, 3)], long)
    for i in range(2):
        first = _convolve(x, 320, 1, 1)
        second = _convolve(x, 384, 1, 1)
        second = _join([_convolve(second, 384, 1, 3), _convolve(second, 384, 3, 1)], name=f"mixed9_{i}")
        third = _path(x, (448, 1, 1), (384, 3, 3))
        third = _join([_convolve(third, 384, 1, 3), _convolve(third, 384, 3, 1)])
        x = _join([first, second, third, _averaged(x, 192)], name=f"mixed{9 + i}")
    return x
