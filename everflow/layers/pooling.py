"""Pooling layers over one, two and three dimensions, and their functional forms."""

from __future__ import annotations

from everflow.keras.layers import pooling as keras_pooling
from everflow.layers.base import Layer


def _layer(name):
    base = getattr(keras_pooling, name)

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs):
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super(made, self).__init__(
            pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name, **kwargs
        )

    made = type(name, (base, Layer), {"__init__": __init__, "__doc__": base.__doc__, "__module__": __name__})
    return made


MaxPooling1D, MaxPooling2D, MaxPooling3D = (_layer(f"MaxPooling{n}D") for n in (1, 2, 3))
AveragePooling1D, AveragePooling2D, AveragePooling3D = (_layer(f"AveragePooling{n}D") for n in (1, 2, 3))


def _function(layer, name):
    def pool(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
        return layer(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name).apply(
            inputs
        )

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = layer.__doc__
    return pool


max_pooling1d, max_pooling2d, max_pooling3d = (
    _function(layer, f"max_pooling{n}d") for n, layer in ((1, MaxPooling1D), (2, MaxPooling2D), (3, MaxPooling3D))
)
average_pooling1d, average_pooling2d, average_pooling3d = (
    _function(layer, f"average_pooling{n}d")
    for n, layer in ((1, AveragePooling1D), (2, AveragePooling2D), (3, AveragePooling3D))
)

# Names from the days of tf.contrib.layers.
MaxPool2D, max_pool2d, AvgPool2D, avg_pool2d = MaxPooling2D, max_pooling2d, AveragePooling2D, average_pooling2d
