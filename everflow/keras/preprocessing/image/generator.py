"""`ImageDataGenerator`: images changed at random and brought to a common scale, batch by batch."""

from __future__ import annotations

import warnings

import numpy as np

from everflow.keras.backend.config import floatx
from everflow.keras.preprocessing.image.affine import (
    apply_affine_transform,
    apply_brightness_shift,
    apply_channel_shift,
    check_pair,
    flip_axis,
)
from everflow.keras.preprocessing.image.files import checked_format, warn_of_channels
from everflow.keras.preprocessing.image.iterators import DataFrameIterator, DirectoryIterator, NumpyArrayIterator
from everflow.platform.signatures import REQUIRED, parameters, parameters_of, takes, taking

# (a wish, what it decides, how)
_DECIDED = (
    ("zca_whitening", "featurewise_center", True),
    ("zca_whitening", "featurewise_std_normalization", False),
    ("featurewise_std_normalization", "featurewise_center", True),
    ("samplewise_std_normalization", "samplewise_center", True),
)

_NO_MOVES = {"theta": 0, "tx": 0, "ty": 0, "shear": 0, "zx": 1, "zy": 1}
_PARAMETERS = parameters(
    """featurewise_center=False, samplewise_center=False, featurewise_std_normalization=False,
    samplewise_std_normalization=False, zca_whitening=False, zca_epsilon=1e-6, rotation_range=0, width_shift_range=0.0,
    height_shift_range=0.0, brightness_range=None, shear_range=0.0, zoom_range=0.0, channel_shift_range=0.0,
    fill_mode="nearest", cval=0.0, horizontal_flip=False, vertical_flip=False, rescale=None,
    preprocessing_function=None, data_format=None, validation_split=0.0, dtype=None"""
)


def _flow(name, kind, doc, adapted=dict, **defaults):
    """A method that makes an iterator over images that the generator changes: it takes what the iterator takes."""

    def iterate(self, **arguments):
        return kind(image_data_generator=self, data_format=self.data_format, dtype=self.dtype, **adapted(arguments))

    taken = parameters_of(kind.__init__, ("image_data_generator", "data_format", "dtype"), **defaults)
    method = taking(taken if adapted is dict else {**taken, "**kwargs": REQUIRED}, iterate, "self")
    method.__name__, method.__qualname__, method.__doc__ = name, f"ImageDataGenerator.{name}", doc
    return method


def _of_today(arguments):
    """What `flow_from_dataframe` was given, without what older programs say and nobody needs any more."""
    if "has_ext" in arguments:
        warnings.warn(
            "`has_ext` is deprecated: names in the table are those of the files, with their endings.",
            DeprecationWarning,
            stacklevel=4,
        )
    if arguments["class_mode"] == "other":
        warnings.warn('class_mode="other" is deprecated: it is called "raw" now.', DeprecationWarning, stacklevel=4)
        arguments["class_mode"] = "raw"
    known = parameters_of(DataFrameIterator.__init__)
    return {name: value for name, value in arguments.items() if name in known}


class ImageDataGenerator:
    """Makes batches of images with random changes.

    Args:
        featurewise_center: Whether the mean of the data is subtracted; `fit` finds it.
        samplewise_center: Whether each image's mean is subtracted.
        featurewise_std_normalization: Whether the data's deviation is divided by; `fit` finds it.
        samplewise_std_normalization: Whether each image's deviation is divided by.
        zca_whitening: Whether pixels are decorrelated; `fit` finds how.
        zca_epsilon: A small number for that.
        rotation_range: The most degrees to turn by.
        width_shift_range: The most to move sideways: a part of the width, or pixels.
        height_shift_range: The most to move up or down: a part of the height, or pixels.
        brightness_range: The bounds of the brightness factor.
        shear_range: The most degrees to shear by.
        zoom_range: The bounds of the zoom, or its distance from 1.
        channel_shift_range: The most to shift channels by.
        fill_mode: What comes in from outside: `constant`, `nearest`, `reflect` or `wrap`.
        cval: The value for `constant`.
        horizontal_flip: Whether images may be mirrored sideways.
        vertical_flip: Whether images may be mirrored up and down.
        rescale: A factor for all values.
        preprocessing_function: A function of each image.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        validation_split: The part of the images that is for validation.
        dtype: The type of the images.

    Example:
        >>> generator = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255, horizontal_flip=True)
        >>> batches = generator.flow(np.full([10, 8, 8, 3], 255.0), batch_size=4)
        >>> next(batches).shape, float(next(batches).max())
        ((4, 8, 8, 3), 1.0)
    """

    @takes(_PARAMETERS)
    def __init__(self, zoom_range, data_format, validation_split, dtype, **kept):
        self.data_format = data_format = checked_format(data_format)
        if validation_split and not 0 < validation_split < 1:
            raise ValueError(f"`validation_split` is a fraction between 0 and 1, not {validation_split}.")
        self.__dict__.update(kept)
        self.dtype = floatx() if dtype is None else dtype
        self.interpolation_order = 1
        # Axes of a batch.
        self.channel_axis, self.row_axis, self.col_axis = (3, 1, 2) if data_format == "channels_last" else (1, 2, 3)
        self._validation_split = validation_split
        self.mean = self.std = self.principal_components = None
        self.zoom_range = self._zoom_bounds(zoom_range)
        self._settle_normalisation()

    @staticmethod
    def _zoom_bounds(zoom_range):
        if isinstance(zoom_range, (float, int)):
            return [1 - zoom_range, 1 + zoom_range]
        if len(zoom_range) == 2 and all(isinstance(value, (float, int)) for value in zoom_range):
            return [zoom_range[0], zoom_range[1]]
        raise ValueError(f"`zoom_range` is how far to zoom either way, or a pair of floats, not {zoom_range!r}.")

    def _settle_normalisation(self):
        """Some wishes decide on others."""
        for wish, other, value in _DECIDED:
            if getattr(self, wish) and bool(getattr(self, other)) is not value:
                setattr(self, other, value)
                warnings.warn(
                    f"`{wish}` of an ImageDataGenerator decides on `{other}`, which is {value} now.", stacklevel=4
                )

    # --- batches ----------------------------------------------------------------------------

    flow = _flow("flow", NumpyArrayIterator, "Batches of images of an array.", y=None, shuffle=True)
    flow_from_directory = _flow(
        "flow_from_directory", DirectoryIterator, "Batches of images of a folder that has a subfolder for each class."
    )
    flow_from_dataframe = _flow(
        "flow_from_dataframe",
        DataFrameIterator,
        "Batches of images whose names, and labels, are columns of a pandas DataFrame.",
        adapted=_of_today,
    )

    # --- one image --------------------------------------------------------------------------

    def standardize(self, x):
        """An image, or a batch of them, on the common scale; the array may be changed in place."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x *= self.rescale
        if self.samplewise_center:
            x -= np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x /= np.std(x, keepdims=True) + 1e-6
        if self.featurewise_center:
            x = self._with_statistics("featurewise_center", self.mean, x, lambda: np.subtract(x, self.mean, out=x))
        if self.featurewise_std_normalization:
            x = self._with_statistics(
                "featurewise_std_normalization", self.std, x, lambda: np.divide(x, self.std + 1e-6, out=x)
            )
        if self.zca_whitening:
            x = self._with_statistics("zca_whitening", self.principal_components, x, lambda: self._whitened(x))
        return x

    @staticmethod
    def _with_statistics(name, statistics, x, compute):
        if statistics is not None:
            return compute()
        warnings.warn(
            f"`{name}` needs statistics of images that the generator hasn't seen: call its `fit` on an array of them first.",
            stacklevel=4,
        )
        return x

    def _whitened(self, x):
        flat = np.reshape(x, (-1, np.prod(x.shape[-3:])))
        return np.reshape(np.dot(flat, self.principal_components), x.shape)

    def _shift(self, how_far, size):
        """How far to move: one of several distances, a whole number of pixels, or a fraction of the size."""
        if not how_far and not np.ndim(how_far):
            return 0
        try:
            distance = np.random.choice(how_far) * np.random.choice([-1, 1])
        except ValueError:
            # A number below one: choice takes whole numbers and lists only.
            distance = np.random.uniform(-how_far, how_far)
        return distance * size if np.max(how_far) < 1 else distance

    def get_random_transform(self, img_shape, seed=None):
        """The changes to make to an image of this shape, drawn at random."""
        if seed is not None:
            np.random.seed(seed)
        theta = np.random.uniform(-self.rotation_range, self.rotation_range) if self.rotation_range else 0
        tx = self._shift(self.height_shift_range, img_shape[self.row_axis - 1])
        ty = self._shift(self.width_shift_range, img_shape[self.col_axis - 1])
        shear = np.random.uniform(-self.shear_range, self.shear_range) if self.shear_range else 0
        if self.zoom_range[0] == 1 and self.zoom_range[1] == 1:
            zx, zy = 1, 1
        else:
            zx, zy = np.random.uniform(self.zoom_range[0], self.zoom_range[1], 2)
        # Drawn even if not wanted, so that other numbers don't depend on it.
        flip_horizontal = (np.random.random() < 0.5) * self.horizontal_flip
        flip_vertical = (np.random.random() < 0.5) * self.vertical_flip
        channel_shift, brightness = None, None
        if self.channel_shift_range != 0:
            channel_shift = np.random.uniform(-self.channel_shift_range, self.channel_shift_range)
        if self.brightness_range is not None:
            check_pair("brightness_range", self.brightness_range)
            brightness = np.random.uniform(self.brightness_range[0], self.brightness_range[1])
        moves = dict(zip(_NO_MOVES, (theta, tx, ty, shear, zx, zy)))
        flips = {"flip_horizontal": flip_horizontal, "flip_vertical": flip_vertical}
        return {**moves, **flips, "channel_shift_intensity": channel_shift, "brightness": brightness}

    def apply_transform(self, x, transform_parameters):
        """An image with the changes that `get_random_transform` drew."""
        row_axis, col_axis, channel_axis = self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1
        p = transform_parameters
        moves = {name: p.get(name, default) for name, default in _NO_MOVES.items()}
        if moves != _NO_MOVES:
            axes = {"row_axis": row_axis, "col_axis": col_axis, "channel_axis": channel_axis}
            filled = {"fill_mode": self.fill_mode, "cval": self.cval, "order": self.interpolation_order}
            x = apply_affine_transform(x, **moves, **axes, **filled)
        if p.get("channel_shift_intensity") is not None:
            x = apply_channel_shift(x, p["channel_shift_intensity"], channel_axis)
        if p.get("flip_horizontal", False):
            x = flip_axis(x, col_axis)
        if p.get("flip_vertical", False):
            x = flip_axis(x, row_axis)
        if p.get("brightness") is not None:
            x = apply_brightness_shift(x, p["brightness"])
        return x

    def random_transform(self, x, seed=None):
        """An image with random changes."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def fit(self, x, augment=False, rounds=1, seed=None):
        """Learn the mean, the deviation and the whitening from images, also from changed ones with `augment`."""
        x = np.asarray(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError(f"`fit` takes a batch of images, of rank 4, not an array of shape {x.shape}.")
        warn_of_channels(x, self.data_format)
        if seed is not None:
            np.random.seed(seed)
        x = np.copy(x)
        if augment:
            x = np.concatenate([np.stack([self.random_transform(image) for image in x]) for _ in range(rounds)]).astype(
                self.dtype
            )
        shape = [1, 1, 1]
        shape[self.channel_axis - 1] = x.shape[self.channel_axis]
        if self.featurewise_center:
            self.mean = np.mean(x, axis=(0, self.row_axis, self.col_axis)).reshape(shape)
            x -= self.mean
        if self.featurewise_std_normalization:
            self.std = np.std(x, axis=(0, self.row_axis, self.col_axis)).reshape(shape)
            x /= self.std + 1e-6
        if self.zca_whitening:
            flat = np.reshape(x, (x.shape[0], -1))
            u, s, _ = np.linalg.svd(np.dot(flat.T, flat) / flat.shape[0])
            self.principal_components = (u * (1.0 / np.sqrt(s[np.newaxis] + self.zca_epsilon))).dot(u.T)
