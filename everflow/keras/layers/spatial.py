"""Layers that enlarge, pad and crop: upsampling, zero padding and cropping over one, two and three dimensions."""

from __future__ import annotations

from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.engine import arguments
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.layers.configured import ConfiguredLayer
from everflow.platform.signatures import constructor, parameters


class _Spatial(ConfiguredLayer):
    """A layer over `rank` spatial dimensions, with an argument that says how far; `_length` says what becomes of each."""

    rank, argument = 0, ""

    def _start(self, far, data_format="channels_last", **kwargs):
        """Begin with the argument as it is kept and, where there is a choice, the data format after it, as in configs."""
        ConfiguredLayer.__init__(self, **kwargs)
        self.data_format = arguments.data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)
        self._keep(**{self.argument: far}, **({} if self.rank == 1 else {"data_format": self.data_format}))

    def _first(self):
        return 2 if self.data_format == "channels_first" else 1

    def _length(self, length, i):
        raise NotImplementedError

    def compute_output_shape(self, input_shape):
        sides = TensorShape(input_shape).as_list()
        for i in range(self.rank):
            if sides[self._first() + i] is not None:
                sides[self._first() + i] = self._length(sides[self._first() + i], i)
        return TensorShape(sides)


# --- upsampling ---------------------------------------------------------------------------------


class UpSampling1D(_Spatial):
    """Each time step `size` times.

    Args:
        size: How many times each step is repeated.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.UpSampling1D(2)(tf.ones([2, 8, 3])).shape.as_list()
        [2, 16, 3]
    """

    rank, argument = 1, "size"

    def __init__(self, size=2, **kwargs):
        self._start(int(size), **kwargs)

    def _length(self, length, i):
        return length * self.size

    def call(self, inputs):
        return K.repeat_elements(inputs, self.size, axis=1)


class _UpSampling(_Spatial):
    """Images or volumes enlarged by whole factors."""

    argument = "size"

    def _length(self, length, i):
        return length * self.size[i]


class UpSampling2D(_UpSampling):
    """Images enlarged by whole factors, with "nearest" or "bilinear" interpolation.

    Args:
        size: How many times each row and column is repeated.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        interpolation: `nearest` or `bilinear`.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.UpSampling2D(2)(tf.ones([2, 8, 8, 3])).shape.as_list()
        [2, 16, 16, 3]
    """

    rank = 2

    def __init__(self, size=(2, 2), data_format=None, interpolation="nearest", **kwargs):
        if interpolation not in {"nearest", "bilinear"}:
            raise ValueError(f'UpSampling2D knows "nearest" and "bilinear" interpolation, not {interpolation!r}.')
        self._start(arguments.sizes(size, 2, "size"), data_format, **kwargs)
        self._keep(interpolation=interpolation)

    def call(self, inputs):
        return K.resize_images(inputs, *self.size, self.data_format, interpolation=self.interpolation)


class UpSampling3D(_UpSampling):
    """Volumes enlarged by whole factors.

    Args:
        size: How many times each row and column is repeated.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.UpSampling3D(2)(tf.ones([2, 4, 4, 4, 3])).shape.as_list()
        [2, 8, 8, 8, 3]
    """

    rank = 3

    def __init__(self, size=(2, 2, 2), data_format=None, **kwargs):
        self._start(arguments.sizes(size, 3, "size"), data_format, **kwargs)

    def call(self, inputs):
        return K.resize_volumes(inputs, *self.size, self.data_format)


# --- padding and cropping -----------------------------------------------------------------------


def _pairs(value, rank, name):
    """(before, after) for each dimension, from one number, one for each dimension, or pairs."""
    if isinstance(value, int):
        return ((value, value),) * rank
    if not hasattr(value, "__len__"):
        forms = "an int, a tuple of ints, or a tuple of tuples of 2 ints"
        raise ValueError(f"`{name}` should be {forms}. Found: {value}")
    if len(value) != rank:
        raise ValueError(f"`{name}` should have {rank} elements. Found: {value}")
    names = ("1st", "2nd", "3rd")
    return tuple(arguments.sizes(part, 2, f"{names[i]} entry of {name}") for i, part in enumerate(value))


def _over(rank, listed):
    """Class decorator: a layer over so many dimensions, with these parameters; the first is a pair for each dimension."""

    def decorate(cls):
        def start(self, data_format, **given):
            far = _pairs(given.pop(cls.argument), rank, cls.argument)
            self._start(far, data_format, **given)

        cls.rank, cls.__init__ = rank, constructor(parameters(f"{listed}, **kwargs"), start)
        return cls

    return decorate


class ZeroPadding1D(_Spatial):
    """Zeros before and after each sequence.

    Args:
        padding: How many to add at the start and at the end, of each axis.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.ZeroPadding1D(1)(tf.ones([2, 8, 3])).shape.as_list()
        [2, 10, 3]
    """

    rank, argument = 1, "padding"

    def __init__(self, padding=1, **kwargs):
        self._start(arguments.sizes(padding, 2, "padding"), **kwargs)

    def _length(self, length, i):
        return length + sum(self.padding)

    def call(self, inputs):
        return K.temporal_padding(inputs, padding=self.padding)


class _ZeroPadding(_Spatial):
    """Zeros around images or volumes."""

    argument = "padding"

    def _length(self, length, i):
        return length + sum(self.padding[i])

    def call(self, inputs):
        pad = K.spatial_2d_padding if self.rank == 2 else K.spatial_3d_padding
        return pad(inputs, padding=self.padding, data_format=self.data_format)


@_over(2, "padding=(1, 1), data_format=None")
class ZeroPadding2D(_ZeroPadding):
    """Zeros around images.

    Args:
        padding: How many to add at the start and at the end, of each axis.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.ZeroPadding2D(1)(tf.ones([2, 8, 8, 3])).shape.as_list()
        [2, 10, 10, 3]
    """


@_over(3, "padding=(1, 1, 1), data_format=None")
class ZeroPadding3D(_ZeroPadding):
    """Zeros around volumes.

    Args:
        padding: How many to add at the start and at the end, of each axis.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.ZeroPadding3D(1)(tf.ones([2, 8, 8, 8, 3])).shape.as_list()
        [2, 10, 10, 10, 3]
    """


class _Cropping(_Spatial):
    """Parts cut off at both ends of each dimension."""

    argument = "cropping"

    def _crops(self):
        return (self.cropping,) if self.rank == 1 else self.cropping

    def _length(self, length, i):
        return length - sum(self._crops()[i])

    def call(self, inputs):
        cuts = tuple(slice(before, -after if after else None) for before, after in self._crops())
        return inputs[(slice(None),) * self._first() + cuts + (slice(None),) * (2 - self._first())]


class Cropping1D(_Cropping):
    """Time steps cut off at the beginning and the end.

    Args:
        cropping: How many to cut off at the start and at the end, of each axis.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.Cropping1D((1, 2))(tf.ones([2, 8, 3])).shape.as_list()
        [2, 5, 3]
    """

    rank = 1

    def __init__(self, cropping=(1, 1), **kwargs):
        self._start(arguments.sizes(cropping, 2, "cropping"), **kwargs)


@_over(2, "cropping=((0, 0), (0, 0)), data_format=None")
class Cropping2D(_Cropping):
    """Rows and columns cut off at the borders of images.

    Args:
        cropping: How many to cut off at the start and at the end, of each axis.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.Cropping2D(1)(tf.ones([2, 8, 8, 3])).shape.as_list()
        [2, 6, 6, 3]
    """


@_over(3, "cropping=((1, 1), (1, 1), (1, 1)), data_format=None")
class Cropping3D(_Cropping):
    """Planes cut off at the borders of volumes.

    Args:
        cropping: How many to cut off at the start and at the end, of each axis.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.Cropping3D(1)(tf.ones([2, 8, 8, 8, 3])).shape.as_list()
        [2, 6, 6, 6, 3]
    """
