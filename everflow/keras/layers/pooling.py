"""Pooling layers: the maximum or average of windows over one, two and three dimensions, or of everything."""

from __future__ import annotations

from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.engine import arguments
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.layers.configured import ConfiguredLayer
from everflow.ops import array, math
from everflow.ops.nn import pooling as nn_pooling
from everflow.platform.signatures import constructor, parameters_of

_POOLS = {
    ("max", 2): nn_pooling.max_pool,
    ("average", 2): nn_pooling.avg_pool,
    ("max", 3): nn_pooling.max_pool3d,
    ("average", 3): nn_pooling.avg_pool3d,
}


class Pooling(ConfiguredLayer):
    """The maximum or average of each window; `kind` and `rank` are those of the class."""

    kind, rank = "", 0

    def __init__(self, pool_size, strides=None, padding="valid", data_format=None, **kwargs):
        super().__init__(**kwargs)
        strides = pool_size if strides is None else strides
        self._keep(
            strides=arguments.sizes(strides, self.rank, "strides"),
            pool_size=arguments.sizes(pool_size, self.rank, "pool_size"),
            padding=arguments.padding(padding),
            data_format=arguments.data_format(data_format),
        )
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs):
        if self.rank == 1:
            # Pools are of two dimensions at least; the second has one element.
            axis = 2 if self.data_format == "channels_last" else 3
            return array.squeeze(
                self._pooled(array.expand_dims(inputs, axis), (*self.pool_size, 1), (*self.strides, 1)), axis
            )
        return self._pooled(inputs, self.pool_size, self.strides)

    def _pooled(self, inputs, size, strides):
        if self.rank != 2 and self.data_format == "channels_first":
            pool = K.pool2d if len(size) == 2 else K.pool3d
            mode = "max" if self.kind == "max" else "avg"
            return pool(inputs, size, strides, self.padding, self.data_format, pool_mode=mode)
        first = self.data_format == "channels_first"
        windows = [(1, 1, *sides) if first else (1, *sides, 1) for sides in (size, strides)]
        how = {"padding": self.padding.upper(), "data_format": arguments.op_format(self.data_format, len(size))}
        return _POOLS[self.kind, len(size)](inputs, *windows, **how)

    def compute_output_shape(self, input_shape):
        sides = TensorShape(input_shape).as_list()
        start = 2 if self.data_format == "channels_first" else 1
        for i in range(self.rank):
            sides[start + i] = arguments.output_length(
                sides[start + i], self.pool_size[i], self.strides[i], self.padding
            )
        return TensorShape(sides)


_OVER = {1: "sequences", 2: "images", 3: "volumes"}
_DOCUMENT = """The {word} of each window over {over}.

Args:
    pool_size: The extent of the window: a whole number for all axes, or one for each.
    strides: How far the window moves from one place to the next: a whole number, or one for each; `pool_size` if None.
    padding: `same` pads with zeros so that all inputs are covered; `valid` takes only places where the window fits.
    data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
    **kwargs: What every layer takes: `name`, `dtype`, `input_shape` and the like.

Example:
    >>> tf.keras.layers.{name}(2){example}
"""
_GLOBAL_DOCUMENT = """The {word} over all places of {over}.

Args:
    data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
    **kwargs: What every layer takes: `name`, `dtype`, `input_shape` and the like.

Example:
    >>> tf.keras.layers.{name}(){example}
"""


def _example(rank, side=None):
    """The layer called on a batch of ones, and the shape it gives: with `side`, the extent that windows leave."""
    shape = [1, *[side] * rank, 3] if side else [1, 3]
    return f"(tf.ones({[1, *[4] * rank, 3]})).shape.as_list()\n    {shape}"


def _layer(kind, rank):
    defaults = {"pool_size": 2, "data_format": "channels_last"} if rank == 1 else {"pool_size": (2,) * rank}
    word = "maximum" if kind == "max" else "average"
    name = f"{kind.capitalize()}Pooling{rank}D"
    members = {
        "kind": kind,
        "rank": rank,
        "__init__": constructor(parameters_of(Pooling.__init__, **defaults), Pooling.__init__),
        "__doc__": _DOCUMENT.format(word=word, over=_OVER[rank], name=name, example=_example(rank, side=2)),
        "__module__": __name__,
    }
    return type(name, (Pooling,), members)


MaxPooling1D, MaxPooling2D, MaxPooling3D = (_layer("max", rank) for rank in (1, 2, 3))
AveragePooling1D, AveragePooling2D, AveragePooling3D = (_layer("average", rank) for rank in (1, 2, 3))


class _GlobalPooling(ConfiguredLayer):
    """The maximum or average over all places."""

    rank, reduce = 0, None

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self._keep(data_format=arguments.data_format(data_format))
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _axes(self):
        start = 2 if self.data_format == "channels_first" else 1
        axes = list(range(start, start + self.rank))
        return axes[0] if self.rank == 1 else axes

    def call(self, inputs):
        return type(self).reduce(inputs, axis=self._axes())

    def compute_output_shape(self, input_shape):
        sides = TensorShape(input_shape).as_list()
        return TensorShape([sides[0], sides[1 if self.data_format == "channels_first" else -1]])


class _Global1D(_GlobalPooling):
    rank = 1

    def __init__(self, data_format="channels_last", **kwargs):
        super().__init__(data_format, **kwargs)


def _global_layer(kind, rank, reduce):
    word = "maximum" if kind == "Max" else "average"
    name = f"Global{kind}Pooling{rank}D"
    members = {
        "rank": rank,
        "reduce": staticmethod(reduce),
        "__doc__": _GLOBAL_DOCUMENT.format(word=word, over=_OVER[rank], name=name, example=_example(rank)),
        "__module__": __name__,
    }
    return type(name, (_Global1D if rank == 1 else _GlobalPooling,), members)


GlobalMaxPooling1D = _global_layer("Max", 1, math.reduce_max)
GlobalMaxPooling2D, GlobalMaxPooling3D = (_global_layer("Max", rank, K.max) for rank in (2, 3))
GlobalAveragePooling2D, GlobalAveragePooling3D = (_global_layer("Average", rank, K.mean) for rank in (2, 3))


class GlobalAveragePooling1D(_Global1D):
    """The average over all time steps, without those that a mask leaves out.

    Args:
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.GlobalAveragePooling1D()(tf.ones([2, 4, 3])).shape.as_list()
        [2, 3]
    """

    reduce = staticmethod(K.mean)

    def __init__(self, data_format="channels_last", **kwargs):
        super().__init__(data_format, **kwargs)
        self.supports_masking = True

    def call(self, inputs, mask=None):
        axis = self._axes()
        if mask is None:
            return K.mean(inputs, axis=axis)
        mask = math.cast(mask, inputs.dtype)
        steps = inputs.shape.as_list()[axis]
        mask = array.reshape(mask, [-1, steps, 1] if self.data_format == "channels_last" else [-1, 1, steps])
        inputs *= mask
        return K.sum(inputs, axis=axis) / math.reduce_sum(mask, axis=axis)

    def compute_mask(self, inputs, mask=None):
        return None


MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
GlobalMaxPool1D, GlobalMaxPool2D, GlobalMaxPool3D = GlobalMaxPooling1D, GlobalMaxPooling2D, GlobalMaxPooling3D
GlobalAvgPool1D, GlobalAvgPool2D, GlobalAvgPool3D = (
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
)
