"""Pooling layers over one, two and three dimensions, and their functional forms."""

from __future__ import annotations

import re

from everflow.keras.layers import pooling as keras_pooling
from everflow.layers.base import Layer

_NAME = "name: The layer's name."
_INPUTS = "inputs: The tensor to pool."
_RETURNS = "A tensor with the same batch and channels."


def _layer(name):
    base = getattr(keras_pooling, name)

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs):
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super(made, self).__init__(
            pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name, **kwargs
        )

    about = base.__doc__.replace("    **kwargs", f"    {_NAME}\n    **kwargs").replace(
        f"keras.layers.{name}(2)", f"layers.{name}(2, 2)"
    )
    made = type(name, (base, Layer), {"__init__": __init__, "__doc__": about, "__module__": __name__})
    return made


MaxPooling1D, MaxPooling2D, MaxPooling3D = (_layer(f"MaxPooling{n}D") for n in (1, 2, 3))
AveragePooling1D, AveragePooling2D, AveragePooling3D = (_layer(f"AveragePooling{n}D") for n in (1, 2, 3))


def _function(layer, name):
    def pool(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
        return layer(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name).apply(
            inputs
        )

    pool.__name__ = pool.__qualname__ = name
    before, _, example = layer.__doc__.partition("Example:")
    before = re.sub(r"    \*\*kwargs.*\n", "", before).replace("Args:", f"Args:\n    {_INPUTS}")
    example = re.sub(r"tf\.layers\.\w+\(2, 2\)\((.*)\)\.shape", rf"tf.layers.{name}(\1, 2, 2).shape", example)
    pool.__doc__ = f"{before}Returns:\n    {_RETURNS}\n\nExample:{example}"
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
