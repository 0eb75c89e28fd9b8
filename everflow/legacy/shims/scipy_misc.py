"""scipy.misc's pictures: imread, imsave, imresize and their kin, which scipy dropped, over Pillow."""

from __future__ import annotations

import importlib
import importlib.abc
import sys
import types

import numpy as np

from everflow.platform.module_alias import alias_spec

_RESAMPLING = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "cubic": 3}


def bytescale(data, cmin=None, cmax=None, high=255, low=0):
    """Values scaled to bytes, from their smallest and largest (or cmin and cmax) to `low` and `high`."""
    data = np.asarray(data)
    if data.dtype == np.uint8:
        return data
    if not 0 <= low <= high <= 255:
        raise ValueError("`low` and `high` have to be in [0, 255], `high` not below `low`.")
    cmin = data.min() if cmin is None else cmin
    cmax = data.max() if cmax is None else cmax
    if cmax < cmin:
        raise ValueError("`cmax` should be larger than `cmin`.")
    scale = float(high - low) / ((cmax - cmin) or 1)
    return (((data - cmin) * scale + low).clip(low, high) + 0.5).astype(np.uint8)


def toimage(arr, high=255, low=0, cmin=None, cmax=None, pal=None, mode=None, channel_axis=None):
    """A Pillow image of an array with two dimensions, or with three of which one has 3 or 4 channels."""
    from PIL import Image

    data = np.asarray(arr)
    if data.ndim == 2:
        if mode == "F":
            return Image.fromarray(data.astype(np.float32))
        if mode == "I":
            return Image.fromarray(data.astype(np.int32))
        image = Image.fromarray(bytescale(data, cmin, cmax, high, low))
        if pal is not None:
            image.putpalette(np.asarray(pal, np.uint8).tobytes())
        return image.convert(mode) if mode not in (None, "L", "P") else image
    if data.ndim != 3 or not {3, 4} & set(data.shape):
        raise ValueError("'arr' does not have a suitable array shape for any mode.")
    if channel_axis is None:
        channel_axis = 2
        if data.shape[2] not in (3, 4):
            channel_axis = next(axis for channels in (3, 4) for axis in range(3) if data.shape[axis] == channels)
    pixels = np.moveaxis(bytescale(data, cmin, cmax, high, low), channel_axis, 2)
    image = Image.fromarray(np.ascontiguousarray(pixels))
    return image.convert(mode) if mode not in (None, image.mode) else image


def fromimage(im, flatten=False, mode=None):
    """The array of a Pillow image."""
    if mode is not None and mode != im.mode:
        im = im.convert(mode)
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im)


def imread(name, flatten=False, mode=None):
    """A picture's array; `flatten` gives one channel of floats."""
    from PIL import Image

    with Image.open(name) as image:
        return fromimage(image, flatten=flatten, mode=mode)


def imsave(name, arr, format=None):
    """Save an array as a picture, its values scaled to bytes."""
    toimage(arr, channel_axis=2).save(name, **({} if format is None else {"format": format}))


def imresize(arr, size, interp="bilinear", mode=None):
    """An array's picture in another size: percent (int), a fraction (float) or (height, width)."""
    image = toimage(arr, mode=mode)
    if isinstance(size, (int, np.integer)):
        new = tuple((np.array(image.size) * (size / 100.0)).astype(int))
    elif isinstance(size, (float, np.floating)):
        new = tuple((np.array(image.size) * size).astype(int))
    else:
        new = (int(size[1]), int(size[0]))
    return fromimage(image.resize(tuple(int(n) for n in new), resample=_RESAMPLING[interp]))


def imrotate(arr, angle, interp="bilinear"):
    """An array's picture turned counter-clockwise by `angle` degrees."""
    return fromimage(toimage(np.asarray(arr)).rotate(angle, resample=_RESAMPLING[interp]))


def imshow(arr):
    """Show an array as a picture."""
    toimage(arr).show()


def _from_special(name):
    """The functions that moved to scipy.special."""
    if name in ("logsumexp", "comb", "factorial", "factorial2", "factorialk"):
        return getattr(importlib.import_module("scipy.special"), name)
    raise AttributeError(f"module 'scipy.misc' has no attribute {name!r}", name=name)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds scipy.misc here; what today's scipy has under that name is empty."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != "scipy.misc":
            return None
        module = types.ModuleType(fullname, __doc__)
        for function in (bytescale, toimage, fromimage, imread, imsave, imresize, imrotate, imshow):
            setattr(module, function.__name__, function)
        module.__getattr__ = _from_special
        return alias_spec(fullname, module)


def bring_back() -> None:
    sys.meta_path.insert(0, _Finder())
