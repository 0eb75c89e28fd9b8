"""Pooling layers over one, two and three dimensions: one class with a table of the six public ones."""

from __future__ import annotations

from everflow.framework.shapes import TensorShape
from everflow.keras.engine import arguments
from everflow.keras.engine.input_spec import InputSpec
from everflow.layers.base import Layer
from everflow.ops import array, nn_pooling

_POOLS = {
    ("max", 2): nn_pooling.max_pool,
    ("average", 2): nn_pooling.avg_pool,
    ("max", 3): nn_pooling.max_pool3d,
    ("average", 3): nn_pooling.avg_pool3d,
}


class _Pooling(Layer):
    """The maximum or average of each window."""

    kind = spatial = None

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs):
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(name=name, **kwargs)
        self.pool_size = arguments.sizes(pool_size, self.spatial, "pool_size")
        self.strides = arguments.sizes(strides, self.spatial, "strides")
        self.padding = arguments.padding(padding)
        self.data_format = arguments.data_format(data_format)
        self.input_spec = InputSpec(ndim=self.spatial + 2)

    def call(self, inputs):
        if self.spatial == 1:
            return self._over_one(inputs)
        first = self.data_format == "channels_first"
        size = (1, 1, *self.pool_size) if first else (1, *self.pool_size, 1)
        strides = (1, 1, *self.strides) if first else (1, *self.strides, 1)
        form = arguments.op_format(self.data_format, self.spatial)
        return _POOLS[self.kind, self.spatial](inputs, size, strides, padding=self.padding.upper(), data_format=form)

    def _over_one(self, inputs):
        # Pools are of two dimensions at least; the second has one element.
        axis = 2 if self.data_format == "channels_last" else 3
        inputs = array.expand_dims(inputs, axis)
        size, strides = (*self.pool_size, 1), (*self.strides, 1)
        first = self.data_format == "channels_first"
        outputs = _POOLS[self.kind, 2](
            inputs,
            (1, 1, *size) if first else (1, *size, 1),
            (1, 1, *strides) if first else (1, *strides, 1),
            padding=self.padding.upper(),
            data_format=arguments.op_format(self.data_format, 2),
        )
        return array.squeeze(outputs, axis)

    def compute_output_shape(self, input_shape):
        sides = TensorShape(input_shape).as_list()
        start = 2 if self.data_format == "channels_first" else 1
        for i in range(self.spatial):
            sides[start + i] = arguments.output_length(sides[start + i], self.pool_size[i], self.strides[i], self.padding)
        return TensorShape(sides)

    def get_config(self):
        return {
            "pool_size": self.pool_size,
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.data_format,
            "name": self.name,
            "trainable": self.trainable,
            "dtype": self.dtype,
        }


def _layer(kind, spatial):
    word = kind.capitalize()
    return type(
        f"{word}Pooling{spatial}D",
        (_Pooling,),
        {
            "kind": kind,
            "spatial": spatial,
            "__doc__": f"The {'maximum' if kind == 'max' else 'average'} of each window over {spatial} dimension(s).",
        },
    )


MaxPooling1D, MaxPooling2D, MaxPooling3D = (_layer("max", n) for n in (1, 2, 3))
AveragePooling1D, AveragePooling2D, AveragePooling3D = (_layer("average", n) for n in (1, 2, 3))


def _function(layer, name):
    def pool(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
        return layer(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name).apply(inputs)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = layer.__doc__
    return pool


max_pooling1d, max_pooling2d, max_pooling3d = (
    _function(layer, f"max_pooling{n}d") for n, layer in ((1, MaxPooling1D), (2, MaxPooling2D), (3, MaxPooling3D))
)
average_pooling1d, average_pooling2d, average_pooling3d = (
    _function(layer, f"average_pooling{n}d") for n, layer in ((1, AveragePooling1D), (2, AveragePooling2D), (3, AveragePooling3D))
)
