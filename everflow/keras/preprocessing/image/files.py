"""Images in files, as PIL images and as arrays."""

from __future__ import annotations

import io
import warnings

import numpy as np

from everflow.keras.backend.config import floatx, image_data_format

# Modes of PIL by their names in Keras.
_COLOR_MODES = {"grayscale": "L", "rgba": "RGBA", "rgb": "RGB"}


def pil_image():
    """PIL's Image module; ImportError that names the package where it isn't there."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            "Could not import PIL.Image. Reading and writing images needs the package pillow (pip install pillow)."
        ) from error
    return Image


def _resampling(interpolation):
    image = pil_image()
    methods = {
        "nearest": "NEAREST",
        "bilinear": "BILINEAR",
        "bicubic": "BICUBIC",
        "hamming": "HAMMING",
        "box": "BOX",
        "lanczos": "LANCZOS",
    }
    if interpolation not in methods:
        raise ValueError(f"Invalid interpolation method {interpolation}: it is one of {', '.join(methods)}.")
    return getattr(image.Resampling, methods[interpolation])


def checked_format(data_format):
    """Where channels are, Keras's setting for None; ValueError for what is neither first nor last."""
    data_format = image_data_format() if data_format is None else data_format
    if data_format not in {"channels_first", "channels_last"}:
        raise ValueError(f'Unknown data_format: {data_format}; it is "channels_first" or "channels_last".')
    return data_format


def warn_of_channels(images, data_format):
    """Say where a batch looks as if it weren't one of images laid out so."""
    axis = 3 if data_format == "channels_last" else 1
    if images.shape[axis] not in {1, 3, 4}:
        warnings.warn(
            f"Images have 1, 3 or 4 channels; with {data_format!r}, an array of shape {images.shape} has {images.shape[axis]}.",
            stacklevel=3,
        )


def load_img(path, grayscale=False, color_mode="rgb", target_size=None, interpolation="nearest"):
    """An image of a file as a PIL image, in another size (height, width) where wanted.

    Args:
        path: The file.
        grayscale: Deprecated: the same as `color_mode="grayscale"`.
        color_mode: `grayscale`, `rgb` or `rgba`.
        target_size: The height and width; the file's own if None.
        interpolation: How images are resized: `nearest`, `bilinear` or `bicubic`.

    Returns:
        A PIL image.

    Raises:
        ImportError: If Pillow is not installed.
        ValueError: If colour mode or interpolation isn't known.

    Example:
        >>> tf.keras.preprocessing.image.save_img("a.png", np.zeros([4, 2, 3]))
        >>> tf.keras.preprocessing.image.load_img("a.png", target_size=(8, 8)).size
        (8, 8)
    """
    if grayscale is True:
        warnings.warn("`grayscale` is deprecated: it is color_mode='grayscale' now.", stacklevel=2)
        color_mode = "grayscale"
    if color_mode not in _COLOR_MODES:
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    with open(path, "rb") as file:
        image = pil_image().open(io.BytesIO(file.read()))
    if color_mode == "grayscale":
        # Images of 16 and 32 bits keep their depth.
        if image.mode not in ("L", "I;16", "I"):
            image = image.convert("L")
    elif image.mode != _COLOR_MODES[color_mode]:
        image = image.convert(_COLOR_MODES[color_mode])
    if target_size is not None and image.size != (target_size[1], target_size[0]):
        image = image.resize((target_size[1], target_size[0]), _resampling(interpolation))
    return image


def img_to_array(img, data_format=None, dtype=None):
    """A PIL image as an array with three axes.

    Args:
        img: The PIL image.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        dtype: The type of the array.

    Returns:
        An array.

    Raises:
        ValueError: If the data format isn't known.

    Example:
        >>> from PIL import Image
        >>> tf.keras.preprocessing.image.img_to_array(Image.new("RGB", (2, 4))).shape
        (4, 2, 3)
    """
    data_format = checked_format(data_format)
    x = np.asarray(img, dtype=floatx() if dtype is None else dtype)
    if x.ndim == 2:
        return x[None, :, :] if data_format == "channels_first" else x[:, :, None]
    if x.ndim != 3:
        raise ValueError(f"Unsupported image shape: {x.shape}")
    return x.transpose(2, 0, 1) if data_format == "channels_first" else x


def array_to_img(x, data_format=None, scale=True, dtype=None):
    """An array with three axes as a PIL image; with `scale`, its values are stretched to 0…255.

    Args:
        x: An image, an array with three axes.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        scale: Whether values are stretched to 0…255.
        dtype: The type the array is brought to first.

    Returns:
        A PIL image.

    Raises:
        ImportError: If Pillow is not installed.
        ValueError: If the array has another rank, or channels.

    Example:
        >>> tf.keras.preprocessing.image.array_to_img(np.zeros([4, 2, 3])).size
        (2, 4)
    """
    x = np.asarray(x, dtype=floatx() if dtype is None else dtype)
    if x.ndim != 3:
        raise ValueError(f"One image is an array of rank 3, not one of shape {x.shape}.")
    if checked_format(data_format) == "channels_first":
        x = x.transpose(1, 2, 0)
    if scale:
        x = x - np.min(x)
        largest = np.max(x)
        if largest != 0:
            x /= largest
        x *= 255
    channels, image = x.shape[2], pil_image()
    if channels == 4:
        return image.fromarray(x.astype("uint8"), "RGBA")
    if channels == 3:
        return image.fromarray(x.astype("uint8"), "RGB")
    if channels == 1:
        kind = ("int32", "I") if np.max(x) > 255 else ("uint8", "L")
        return image.fromarray(x[:, :, 0].astype(kind[0]), kind[1])
    raise ValueError(f"Unsupported channel number: {channels}")


def save_img(path, x, data_format=None, file_format=None, scale=True, **kwargs):
    """Write an array as an image file.

    Args:
        path: The file.
        x: An image, an array with three axes.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        file_format: The format; by the file's name if None.
        scale: Whether values are stretched to 0…255.
        **kwargs: What Pillow's `save` takes.

    Returns:
        None.

    Example:
        >>> tf.keras.preprocessing.image.save_img("a.png", np.zeros([4, 2, 3]))
        >>> tf.gfile.Exists("a.png")
        True
    """
    image = array_to_img(x, data_format=data_format, scale=scale)
    if image.mode == "RGBA" and file_format in ("jpg", "jpeg"):
        warnings.warn("JPEG files have no alpha channel: the image is saved as RGB.", stacklevel=2)
        image = image.convert("RGB")
    image.save(path, format=file_format, **kwargs)
