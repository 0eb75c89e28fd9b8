"""tf.keras.preprocessing.image: images from files, changed at random, in batches."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.keras.preprocessing.image.affine import (
    apply_affine_transform,
    apply_brightness_shift,
    apply_channel_shift,
    random_brightness,
    random_channel_shift,
    random_rotation,
    random_shear,
    random_shift,
    random_zoom,
)
from everflow.keras.preprocessing.image.files import array_to_img, img_to_array, load_img, save_img
from everflow.keras.preprocessing.image.generator import ImageDataGenerator
from everflow.keras.preprocessing.image.iterators import (
    DataFrameIterator,
    DirectoryIterator,
    Iterator,
    NumpyArrayIterator,
)
