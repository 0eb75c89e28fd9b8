"""Layers that enlarge, pad and crop: upsampling, zero padding and cropping over one, two and three dimensions."""

from __future__ import annotations

from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.engine import arguments
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.layers.configured import ConfiguredLayer


class _Spatial(ConfiguredLayer):
    """A layer over `rank` spatial dimensions; subclasses say what becomes of the length of each."""

    rank = 0

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = arguments.data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _start(self):
        return 2 if self.data_format == "channels_first" else 1

    def _length(self, length, i):
        raise NotImplementedError

    def compute_output_shape(self, input_shape):
        sides = TensorShape(input_shape).as_list()
        for i in range(self.rank):
            if sides[self._start() + i] is not None:
                sides[self._start() + i] = self._length(sides[self._start() + i], i)
        return TensorShape(sides)


def _keep_with_format(layer, **arguments_):
    """Keep arguments, and the data format after them, as configs have it."""
    layer._keep(**arguments_, data_format=layer.data_format)


# --- upsampling ---------------------------------------------------------------------------------


class UpSampling1D(_Spatial):
    """Each time step `size` times."""

    rank = 1

    def __init__(self, size=2, **kwargs):
        super().__init__("channels_last", **kwargs)
        self._keep(size=int(size))

    def _length(self, length, i):
        return length * self.size

    def call(self, inputs):
        return K.repeat_elements(inputs, self.size, axis=1)


class UpSampling2D(_Spatial):
    """Images enlarged by whole factors, with "nearest" or "bilinear" interpolation."""

    rank = 2

    def __init__(self, size=(2, 2), data_format=None, interpolation="nearest", **kwargs):
        super().__init__(data_format, **kwargs)
        if interpolation not in {"nearest", "bilinear"}:
            raise ValueError(f'UpSampling2D knows "nearest" and "bilinear" interpolation, not {interpolation!r}.')
        _keep_with_format(self, size=arguments.sizes(size, 2, "size"))
        self._keep(interpolation=interpolation)

    def _length(self, length, i):
        return length * self.size[i]

    def call(self, inputs):
        return K.resize_images(inputs, self.size[0], self.size[1], self.data_format, interpolation=self.interpolation)


class UpSampling3D(_Spatial):
    """Volumes enlarged by whole factors."""

    rank = 3

    def __init__(self, size=(2, 2, 2), data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        _keep_with_format(self, size=arguments.sizes(size, 3, "size"))

    def _length(self, length, i):
        return length * self.size[i]

    def call(self, inputs):
        return K.resize_volumes(inputs, self.size[0], self.size[1], self.size[2], self.data_format)


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


class ZeroPadding1D(_Spatial):
    """Zeros before and after each sequence."""

    rank = 1

    def __init__(self, padding=1, **kwargs):
        super().__init__("channels_last", **kwargs)
        self._keep(padding=arguments.sizes(padding, 2, "padding"))

    def _length(self, length, i):
        return length + sum(self.padding)

    def call(self, inputs):
        return K.temporal_padding(inputs, padding=self.padding)


class ZeroPadding2D(_Spatial):
    """Zeros around images."""

    rank = 2

    def __init__(self, padding=(1, 1), data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        _keep_with_format(self, padding=_pairs(padding, 2, "padding"))

    def _length(self, length, i):
        return length + sum(self.padding[i])

    def call(self, inputs):
        return K.spatial_2d_padding(inputs, padding=self.padding, data_format=self.data_format)


class ZeroPadding3D(_Spatial):
    """Zeros around volumes."""

    rank = 3

    def __init__(self, padding=(1, 1, 1), data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        _keep_with_format(self, padding=_pairs(padding, 3, "padding"))

    def _length(self, length, i):
        return length + sum(self.padding[i])

    def call(self, inputs):
        return K.spatial_3d_padding(inputs, padding=self.padding, data_format=self.data_format)


class _Cropping(_Spatial):
    """Parts cut off at both ends of each dimension."""

    def _crops(self):
        return self.cropping

    def _length(self, length, i):
        return length - sum(self._crops()[i])

    def call(self, inputs):
        cuts = tuple(slice(before, -after if after else None) for before, after in self._crops())
        return inputs[(slice(None),) * self._start() + cuts + (slice(None),) * (2 - self._start())]


class Cropping1D(_Cropping):
    """Time steps cut off at the beginning and the end."""

    rank = 1

    def __init__(self, cropping=(1, 1), **kwargs):
        super().__init__("channels_last", **kwargs)
        self._keep(cropping=arguments.sizes(cropping, 2, "cropping"))

    def _crops(self):
        return (self.cropping,)


class Cropping2D(_Cropping):
    """Rows and columns cut off at the borders of images."""

    rank = 2

    def __init__(self, cropping=((0, 0), (0, 0)), data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        _keep_with_format(self, cropping=_pairs(cropping, 2, "cropping"))


class Cropping3D(_Cropping):
    """Planes cut off at the borders of volumes."""

    rank = 3

    def __init__(self, cropping=((1, 1), (1, 1), (1, 1)), data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        _keep_with_format(self, cropping=_pairs(cropping, 3, "cropping"))
