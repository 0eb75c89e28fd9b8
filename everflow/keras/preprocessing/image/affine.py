"""Turning, moving, shearing, zooming and recolouring images; the `random_` functions draw how much from numpy."""

from __future__ import annotations

import numpy as np

from everflow.keras.preprocessing.image.files import array_to_img, img_to_array
from everflow.platform.signatures import takes


def _ndimage():
    try:
        from scipy import ndimage
    except ImportError as error:
        raise ImportError("Turning, moving and zooming images needs the package SciPy (pip install scipy).") from error
    return ndimage


def check_pair(name, bounds):
    """ValueError where a range isn't given as two numbers."""
    if len(bounds) != 2:
        raise ValueError(f"`{name}` is a pair of floats, the lowest and the highest, not {bounds}.")


def _matrix(theta, tx, ty, shear, zx, zy):
    """The transformation of all of these in turn; None where nothing changes."""
    parts = []
    if theta != 0:
        theta = np.deg2rad(theta)
        parts.append([[np.cos(theta), -np.sin(theta), 0], [np.sin(theta), np.cos(theta), 0], [0, 0, 1]])
    if tx != 0 or ty != 0:
        parts.append([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
    if shear != 0:
        shear = np.deg2rad(shear)
        parts.append([[1, -np.sin(shear), 0], [0, np.cos(shear), 0], [0, 0, 1]])
    if zx != 1 or zy != 1:
        parts.append([[zx, 0, 0], [0, zy, 0], [0, 0, 1]])
    if not parts:
        return None
    matrix = np.array(parts[0])
    for part in parts[1:]:
        matrix = np.dot(matrix, np.array(part))
    return matrix


def _around_middle(matrix, height, width):
    """A transformation that leaves the middle of the image where it is."""
    y, x = float(height) / 2 + 0.5, float(width) / 2 + 0.5
    there = np.array([[1, 0, y], [0, 1, x], [0, 0, 1]])
    back = np.array([[1, 0, -y], [0, 1, -x], [0, 0, 1]])
    return np.dot(np.dot(there, matrix), back)


@takes(
    """x, theta=0, tx=0, ty=0, shear=0, zx=1, zy=1, row_axis=0, col_axis=1, channel_axis=2, fill_mode="nearest",
    cval=0.0, order=1"""
)
def apply_affine_transform(x, row_axis, col_axis, channel_axis, fill_mode, cval, order, **moves):
    """An image turned by `theta` degrees, moved, sheared and zoomed; what comes in from outside is as `fill_mode` says.

    Args:
        x: An image, an array with three axes.
        theta: Degrees to turn by.
        tx: How far to move along the rows' axis.
        ty: How far to move along the columns' axis.
        shear: Degrees to shear by.
        zx: The zoom of rows.
        zy: The zoom of columns.
        row_axis: The axis of rows.
        col_axis: The axis of columns.
        channel_axis: The axis of channels.
        fill_mode: What comes in from outside: `constant`, `nearest`, `reflect` or `wrap`.
        cval: The value for `constant`.
        order: The order of the interpolation.

    Returns:
        An image.

    Example:
        >>> tf.keras.preprocessing.image.apply_affine_transform(np.arange(4.0).reshape(2, 2, 1), theta=180)[:, :, 0]
        array([[3., 3.],
               [3., 3.]])
    """
    ndimage = _ndimage()
    matrix = _matrix(**moves)
    if matrix is None:
        return x
    matrix = _around_middle(matrix, x.shape[row_axis], x.shape[col_axis])
    channels = [
        ndimage.affine_transform(channel, matrix[:2, :2], matrix[:2, 2], order=order, mode=fill_mode, cval=cval)
        for channel in np.moveaxis(x, channel_axis, 0)
    ]
    return np.moveaxis(np.stack(channels, axis=0), 0, channel_axis)


# How the functions below, but for those of colours, fill and interpolate.
_HOW = 'row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0, interpolation_order=1'


def _moved(x, interpolation_order, **how_and_moves):
    return apply_affine_transform(x, order=interpolation_order, **how_and_moves)


def flip_axis(x, axis):
    """An image mirrored along an axis."""
    return np.flip(x, axis)


@takes(f"x, rg, {_HOW}")
def random_rotation(x, rg, **how):
    """An image turned by up to `rg` degrees either way.

    Args:
        x: An image, an array with three axes.
        rg: The most degrees.
        row_axis: The axis of rows.
        col_axis: The axis of columns.
        channel_axis: The axis of channels.
        fill_mode: What comes in from outside: `constant`, `nearest`, `reflect` or `wrap`.
        cval: The value for `constant`.
        interpolation_order: The order of the interpolation.

    Returns:
        An image.

    Example:
        >>> tf.keras.preprocessing.image.random_rotation(np.zeros([3, 4, 4]), 30).shape
        (3, 4, 4)
    """
    theta = np.random.uniform(-rg, rg)
    return _moved(x, **how, theta=theta)


@takes(f"x, wrg, hrg, {_HOW}")
def random_shift(x, wrg, hrg, **how):
    """An image moved by up to fractions of its width and height.

    Args:
        x: An image, an array with three axes.
        wrg: The greatest part of the width.
        hrg: The greatest part of the height.
        row_axis: The axis of rows.
        col_axis: The axis of columns.
        channel_axis: The axis of channels.
        fill_mode: What comes in from outside: `constant`, `nearest`, `reflect` or `wrap`.
        cval: The value for `constant`.
        interpolation_order: The order of the interpolation.

    Returns:
        An image.

    Example:
        >>> tf.keras.preprocessing.image.random_shift(np.zeros([3, 4, 4]), 0.5, 0.5).shape
        (3, 4, 4)
    """
    tx = np.random.uniform(-hrg, hrg) * x.shape[how["row_axis"]]
    ty = np.random.uniform(-wrg, wrg) * x.shape[how["col_axis"]]
    return _moved(x, **how, tx=tx, ty=ty)


@takes(f"x, intensity, {_HOW}")
def random_shear(x, intensity, **how):
    """An image sheared by up to `intensity` degrees either way.

    Args:
        x: An image, an array with three axes.
        intensity: The most degrees.
        row_axis: The axis of rows.
        col_axis: The axis of columns.
        channel_axis: The axis of channels.
        fill_mode: What comes in from outside: `constant`, `nearest`, `reflect` or `wrap`.
        cval: The value for `constant`.
        interpolation_order: The order of the interpolation.

    Returns:
        An image.

    Example:
        >>> tf.keras.preprocessing.image.random_shear(np.zeros([3, 4, 4]), 30).shape
        (3, 4, 4)
    """
    shear = np.random.uniform(-intensity, intensity)
    return _moved(x, **how, shear=shear)


@takes(f"x, zoom_range, {_HOW}")
def random_zoom(x, zoom_range, **how):
    """An image zoomed by factors within a range, for rows and columns each.

    Args:
        x: An image, an array with three axes.
        zoom_range: The bounds of the factors.
        row_axis: The axis of rows.
        col_axis: The axis of columns.
        channel_axis: The axis of channels.
        fill_mode: What comes in from outside: `constant`, `nearest`, `reflect` or `wrap`.
        cval: The value for `constant`.
        interpolation_order: The order of the interpolation.

    Returns:
        An image.

    Raises:
        ValueError: If it isn't a pair.

    Example:
        >>> tf.keras.preprocessing.image.random_zoom(np.zeros([3, 4, 4]), (0.5, 1.5)).shape
        (3, 4, 4)
    """
    check_pair("zoom_range", zoom_range)
    zx, zy = (1, 1) if zoom_range[0] == 1 and zoom_range[1] == 1 else np.random.uniform(zoom_range[0], zoom_range[1], 2)
    return _moved(x, **how, zx=zx, zy=zy)


def apply_channel_shift(x, intensity, channel_axis=0):
    """All channels made brighter or darker by a value, within what was there.

    Args:
        x: An image, an array with three axes.
        intensity: The value.
        channel_axis: The axis of channels.

    Returns:
        An image.

    Example:
        >>> tf.keras.preprocessing.image.apply_channel_shift(np.array([[[0.0, 4.0]]]), 1.0)
        array([[[1., 4.]]])
    """
    return np.clip(np.asarray(x) + intensity, np.min(x), np.max(x))


def random_channel_shift(x, intensity_range, channel_axis=0):
    """All channels made brighter or darker by up to a value.

    Args:
        x: An image, an array with three axes.
        intensity_range: The greatest value.
        channel_axis: The axis of channels.

    Returns:
        An image.

    Example:
        >>> tf.keras.preprocessing.image.random_channel_shift(np.zeros([2, 2, 3]), 1.0, channel_axis=2).shape
        (2, 2, 3)
    """
    return apply_channel_shift(x, np.random.uniform(-intensity_range, intensity_range), channel_axis=channel_axis)


def apply_brightness_shift(x, brightness):
    """An image with its brightness times a factor.

    Args:
        x: An image, an array with three axes.
        brightness: The factor.

    Returns:
        An image.

    Example:
        >>> tf.keras.preprocessing.image.apply_brightness_shift(np.full([2, 2, 3], 100.0), 0.5).shape
        (2, 2, 3)
    """
    from PIL import ImageEnhance

    return img_to_array(ImageEnhance.Brightness(array_to_img(x)).enhance(brightness))


def random_brightness(x, brightness_range):
    """An image with its brightness times a factor within a range.

    Args:
        x: An image, an array with three axes.
        brightness_range: The bounds of the factor.

    Returns:
        An image.

    Raises:
        ValueError: If it isn't a pair.

    Example:
        >>> tf.keras.preprocessing.image.random_brightness(np.full([2, 2, 3], 100.0), (0.5, 1.5)).shape
        (2, 2, 3)
    """
    check_pair("brightness_range", brightness_range)
    return apply_brightness_shift(x, np.random.uniform(brightness_range[0], brightness_range[1]))
