"""Resizing of [batch, height, width, channels] images: each method is a table of source positions and weights per axis.

The tables hold what differs between the methods; applying one, and its transpose for the gradient, is the same for all.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import SHARE, view
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.tensors import torch_dtype
from everflow.native.loops.library import Library

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

_F = np.float32


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)


def _show(shape: Sequence[int]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def _sizes(
    images: torch.Tensor, size: torch.Tensor, align_corners: bool = False, half_pixel_centers: bool = False
) -> tuple[tuple[int, int], tuple[int, int]]:
    """((in height, out height), (in width, out width)) after the checks all resizing ops share."""
    if images.dim() != 4:
        raise _invalid("input must be 4-dimensional" + _show(images.shape))
    if size.dim() != 1:
        raise _invalid("shape_t must be 1-dimensional" + _show(size.shape))
    if size.numel() != 2:
        raise _invalid("shape_t must have two elements" + _show(size.shape))
    if align_corners and half_pixel_centers:
        raise _invalid("If half_pixel_centers is True, align_corners must be False.")
    height, width = size.tolist()
    if height <= 0 or width <= 0:
        raise _invalid("output dimensions must be positive")
    if images.shape[1] == 0 or images.shape[2] == 0:
        raise _invalid("input image must be of non-zero size")
    return (images.shape[1], height), (images.shape[2], width)


def _scale(in_size: int, out_size: int, align_corners: bool) -> float:
    if align_corners and out_size > 1:
        return _F(in_size - 1) / _F(out_size - 1)
    return _F(in_size) / _F(out_size)


def _source(in_size: int, out_size: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    """Where each output pixel looks in the input, in float32 as the reference computes it."""
    scale = _scale(in_size, out_size, align_corners)
    out = np.arange(out_size, dtype=_F)
    return (out + _F(0.5)) * scale - _F(0.5) if half_pixel_centers else out * scale


class Table(NamedTuple):
    """For each output pixel of one axis the input pixels it is made of, and their weights."""

    indices: torch.Tensor  # [out, taps]
    weights: torch.Tensor  # [out, taps]
    linear: bool  # two taps whose weights sum to one


def _table(indices: np.ndarray, weights: np.ndarray, linear: bool = False) -> Table:
    indices, weights = np.ascontiguousarray(indices, np.int64), np.ascontiguousarray(weights, _F)
    return Table(torch.from_numpy(indices), torch.from_numpy(weights), linear)


@functools.lru_cache(maxsize=256)
def nearest_indices(in_size: int, out_size: int, align_corners: bool, half_pixel_centers: bool) -> torch.Tensor:
    scale = _scale(in_size, out_size, align_corners)
    out = np.arange(out_size, dtype=_F)
    if align_corners:
        at = out * scale
        chosen = np.floor(at + _F(0.5))  # halves go up
    else:
        chosen = np.floor((out + _F(0.5)) * scale if half_pixel_centers else out * scale)
    return torch.from_numpy(np.clip(chosen, 0, in_size - 1).astype(np.int64))


@functools.lru_cache(maxsize=256)
def _linear_table(in_size: int, out_size: int, align_corners: bool, half_pixel_centers: bool) -> Table:
    at = _source(in_size, out_size, align_corners, half_pixel_centers)
    low = np.floor(at)
    fraction = at - low
    indices = np.stack([np.maximum(low, 0), np.minimum(np.ceil(at), in_size - 1)], 1)
    return _table(indices, np.stack([1 - fraction, fraction], 1), linear=True)


_CUBIC_STEPS = 1024


@functools.cache
def _cubic_coefficients(a: float) -> tuple[np.ndarray, np.ndarray]:
    """Keys' cubic sampled at 1/1024 steps: within one pixel, and between one and two pixels."""
    x = np.arange(_CUBIC_STEPS + 1) / _CUBIC_STEPS
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    x = x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return near.astype(_F), far.astype(_F)


@functools.lru_cache(maxsize=256)
def _cubic_table(in_size: int, out_size: int, align_corners: bool, half_pixel_centers: bool) -> Table:
    near, far = _cubic_coefficients(-0.5 if half_pixel_centers else -0.75)
    at = _source(in_size, out_size, align_corners, half_pixel_centers)
    low = np.floor(at)
    step = np.rint((at - low) * _CUBIC_STEPS).astype(np.int64)
    weights = np.stack([far[step], near[step], near[_CUBIC_STEPS - step], far[_CUBIC_STEPS - step]], 1)
    indices = low[:, None] + np.arange(-1, 3)
    inside = np.clip(indices, 0, in_size - 1)
    if half_pixel_centers:
        # Taps beyond the edge count nothing and the others make up for them.
        weights = np.where(indices == inside, weights, 0).astype(_F)
        total = weights.sum(1, keepdims=True)
        weights = np.where(np.abs(total) >= 1000 * np.finfo(_F).tiny, weights * (_F(1) / total), weights)
    return _table(inside, weights)


@functools.lru_cache(maxsize=256)
def _area_table(in_size: int, out_size: int, align_corners: bool, half_pixel_centers: bool = False) -> Table:
    """Of the span that each output pixel covers, how much of each input pixel is in it."""
    scale = _scale(in_size, out_size, align_corners)
    start, end = (np.arange(first, out_size + first, dtype=_F) * scale for first in (0, 1))
    first, last = np.floor(start).astype(np.int64), np.ceil(end).astype(np.int64)
    indices = first[:, None] + np.arange(max(1, int((last - first).max())))
    start, end, here, after = start[:, None], end[:, None], indices.astype(_F), (indices + 1).astype(_F)
    begun = np.where(after > end, scale, after - start)
    covered = np.where(here < start, begun, np.where(after > end, end - here, _F(1)))
    return _table(np.clip(indices, 0, in_size - 1), np.where(indices < last[:, None], covered, 0))


def _apply(x: torch.Tensor, axis: int, table: Table) -> torch.Tensor:
    """Resize along one axis: the weighted sum of the taps."""
    indices, weights, linear = table
    if indices.shape[1] > 4:
        return torch.tensordot(_dense(table, x.shape[axis]), x, dims=([1], [axis])).movedim(0, axis)
    shape = [1] * x.dim()
    shape[axis] = -1
    taps = [x.index_select(axis, indices[:, k]) for k in range(indices.shape[1])]
    if linear:
        return taps[0] + (taps[1] - taps[0]) * weights[:, 1].view(shape)
    return sum((tap * weights[:, k].view(shape) for k, tap in enumerate(taps)), torch.zeros(()))


def _apply_transposed(grad: torch.Tensor, axis: int, in_size: int, table: Table) -> torch.Tensor:
    indices, weights, _ = table
    if indices.shape[1] > 4:
        return torch.tensordot(_dense(table, in_size).mT, grad, dims=([1], [axis])).movedim(0, axis)
    shape = [1] * grad.dim()
    shape[axis] = -1
    result = grad.new_zeros([in_size if i == axis else n for i, n in enumerate(grad.shape)])
    for k in range(indices.shape[1]):
        result.index_add_(axis, indices[:, k], grad * weights[:, k].view(shape))
    return result


def _dense(table: Table, in_size: int) -> torch.Tensor:
    indices, weights, _ = table
    return torch.zeros(indices.shape[0], in_size).scatter_add_(1, indices, weights)


def _resize(images: torch.Tensor, tables: list[Table], rows_first: bool | None = None) -> torch.Tensor:
    rows, columns = tables
    x = images.float()
    if rows_first is None:
        rows_first = len(rows.indices) < images.shape[1]  # the cheaper order: shrink first
    if rows_first:
        return _apply(_apply(x, 1, rows), 2, columns)
    return _apply(_apply(x, 2, columns), 1, rows)


def _resize_grad(grads: torch.Tensor, original: torch.Tensor, tables: list[Table]) -> torch.Tensor:
    rows, columns = tables
    grads = _apply_transposed(grads.float(), 1, original.shape[1], rows)
    return _apply_transposed(grads, 2, original.shape[2], columns).to(original.dtype)


@fresh("ResizeNearestNeighbor")
def resize_nearest_neighbor(
    images: torch.Tensor, size: torch.Tensor, *, align_corners: bool, half_pixel_centers: bool
) -> torch.Tensor:
    height, width = _sizes(images, size, align_corners, half_pixel_centers)
    rows, columns = (nearest_indices(*pair, align_corners, half_pixel_centers) for pair in (height, width))
    return images.index_select(1, rows).index_select(2, columns)


@fresh("ResizeNearestNeighborGrad")
def resize_nearest_neighbor_grad(
    grads: torch.Tensor, size: torch.Tensor, *, align_corners: bool, half_pixel_centers: bool
) -> torch.Tensor:
    """`size` is that of the image the gradient is for."""
    (out_height, height), (out_width, width) = _sizes(grads, size, align_corners, half_pixel_centers)
    rows = nearest_indices(height, out_height, align_corners, half_pixel_centers)
    columns = nearest_indices(width, out_width, align_corners, half_pixel_centers)
    batch, _, _, channels = grads.shape
    by_row = grads.new_zeros((batch, height, out_width, channels)).index_add_(1, rows, grads)
    return grads.new_zeros((batch, height, width, channels)).index_add_(2, columns, by_row)


LOOPS = Library("resizing", cost=4)
PIXELS = 64  # that take about as long as a string does


@functools.lru_cache(maxsize=64)
def _loop_tables(
    table: Callable[..., Table],
    height: tuple[int, int],
    width: tuple[int, int],
    corners: bool,
    half: bool,
    channels: int,
) -> list[torch.Tensor]:
    """(places, weights) of rows, and of columns with their channels, for compiled loops: one tap after the other."""
    rows, columns = (table(*pair, corners, half) for pair in (height, width))
    places = columns.indices.T[:, :, None] * channels + torch.arange(channels)
    shares = columns.weights.T[:, :, None].expand(places.shape)
    first = 1 if rows.linear else 0  # of two weights that sum to one the second is enough
    found = [rows.indices.T.to(torch.int32), rows.weights.T[first:], places.to(torch.int32), shares[first:]]
    return [t.contiguous() for t in found]


def _looped(
    name: str, images: torch.Tensor, tables: Callable[[int], list[torch.Tensor]], *more: float
) -> torch.Tensor | None:
    """The resized images by a compiled loop, where there is one for them."""
    code = LOOPS.ready(images.numel() // PIXELS) if images.dtype in (torch.uint8, torch.float32) else None
    if code is None or not images.numel():
        return None
    batch, height, width, channels = images.shape
    given, (row_places, row_weights, places, weights) = images.contiguous(), tables(channels)
    out_height, out_width = row_places.shape[1], places.shape[1]
    out, room = (
        torch.empty(batch, out_height, out_width, channels),
        torch.empty(width * channels + 2 * out_width * channels),
    )
    sizes = (batch, height, width * channels, out_height, out_width * channels)
    buffers = (t.data_ptr() for t in (row_places, row_weights, places, weights, room, out))
    getattr(code.free, name)(given.data_ptr(), given.dtype is torch.float32, *sizes, *buffers, *more)
    return out


def _interpolating(
    name: str, table: Callable[..., Table], rows_first: bool
) -> tuple[Callable[..., torch.Tensor], Callable[..., torch.Tensor]]:
    @fresh("Resize" + name, threads_matter_from=SHARE)
    def resize(
        images: torch.Tensor, size: torch.Tensor, *, align_corners: bool, half_pixel_centers: bool
    ) -> torch.Tensor:
        pairs = _sizes(images, size, align_corners, half_pixel_centers)
        found = _looped(
            name.lower(),
            images,
            lambda channels: _loop_tables(table, *pairs, align_corners, half_pixel_centers, channels),
        )
        if found is not None:
            return found
        return _resize(images, [table(*pair, align_corners, half_pixel_centers) for pair in pairs], rows_first)

    @fresh(f"Resize{name}Grad", threads_matter_from=SHARE)
    def resize_grad(
        grads: torch.Tensor, original: torch.Tensor, *, align_corners: bool, half_pixel_centers: bool
    ) -> torch.Tensor:
        pairs = [(original.shape[1], grads.shape[1]), (original.shape[2], grads.shape[2])]
        return _resize_grad(grads, original, [table(*pair, align_corners, half_pixel_centers) for pair in pairs])

    return resize, resize_grad


resize_bilinear, resize_bilinear_grad = _interpolating("Bilinear", _linear_table, rows_first=False)
resize_bicubic, resize_bicubic_grad = _interpolating("Bicubic", _cubic_table, rows_first=True)


@fresh("ResizeArea")
def resize_area(images: torch.Tensor, size: torch.Tensor, *, align_corners: bool) -> torch.Tensor:
    pairs = _sizes(images, size)
    rows, columns = (_area_table(*pair, align_corners) for pair in pairs)
    with np.errstate(divide="ignore"):  # one pixel with aligned corners has scale 0: NaN, as in TensorFlow
        scale = float(_F(1) / (_scale(*pairs[0], align_corners) * _scale(*pairs[1], align_corners)))
    taps = (rows.indices.shape[1], columns.indices.shape[1])
    found = _looped(
        "area",
        images,
        lambda channels: _loop_tables(_area_table, *pairs, align_corners, False, channels),
        *taps,
        scale,
    )
    if found is not None:
        return found
    return _summed(_summed(images.float(), 2, columns), 1, rows) * torch.tensor(scale)


def _summed(x: torch.Tensor, axis: int, table: Table) -> torch.Tensor:
    """The weighted sum of the taps, one after the other."""
    shape = [1] * x.dim()
    shape[axis] = -1
    total = torch.zeros([len(table.indices) if i == axis else n for i, n in enumerate(x.shape)])
    for indices, weights in zip(table.indices.T, table.weights.T):
        total += x.index_select(axis, indices) * weights.reshape(shape)
    return total


@kernel("QuantizedResizeBilinear", result=view(2, 3))
def quantized_resize_bilinear(
    images: torch.Tensor,
    size: torch.Tensor,
    low: torch.Tensor,
    high: torch.Tensor,
    *,
    T: DType,
    align_corners: bool,
    half_pixel_centers: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Resizes the integers themselves: bilinear weights keep the range."""
    resized = resize_bilinear(images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers)
    if images.is_floating_point():
        return resized, low, high
    limits = torch.iinfo(images.dtype)
    return torch.round(resized.double()).clamp(limits.min, limits.max).to(torch_dtype(T)), low, high


# Kernels of ScaleAndTranslate: the radius a kernel reaches, and its value at a distance.


def _lanczos(radius: float) -> tuple[float, Callable[..., np.ndarray]]:
    def value(x: np.ndarray) -> np.ndarray:
        x = np.abs(x)
        safe = np.where(x <= 1e-3, 1, x)
        result = radius * np.sin(np.pi * safe) * np.sin(np.pi * safe / radius) / (np.pi * np.pi * safe * safe)
        return np.where(x > radius, 0, np.where(x <= 1e-3, 1, result))

    return radius, value


def _gaussian(x: np.ndarray) -> np.ndarray:
    sigma = 0.5
    return np.where(np.abs(x) >= 1.5, 0, np.exp(-x * x / (2 * sigma * sigma)))


def _box(x: np.ndarray) -> np.ndarray:
    x = np.abs(x)
    return np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))


def _triangle(x: np.ndarray) -> np.ndarray:
    return np.maximum(1 - np.abs(x), 0)


def _keys_cubic(x: np.ndarray) -> np.ndarray:
    x = np.abs(x)
    return np.where(x >= 2, 0, np.where(x >= 1, ((-0.5 * x + 2.5) * x - 4) * x + 2, (1.5 * x - 2.5) * x * x + 1))


def _mitchell_cubic(x: np.ndarray) -> np.ndarray:
    x = np.abs(x)
    far = (((-7 / 18) * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0, np.where(x >= 1, far, ((7 / 6) * x - 2) * x * x + 8 / 9))


_SAMPLING = {
    "lanczos1": _lanczos(1.0),
    "lanczos3": _lanczos(3.0),
    "lanczos5": _lanczos(5.0),
    "gaussian": (1.5, _gaussian),
    "box": (1.0, _box),
    "triangle": (1.0, _triangle),
    "keyscubic": (2.0, _keys_cubic),
    "mitchellcubic": (2.0, _mitchell_cubic),
}


@functools.lru_cache(maxsize=256)
def _sampling_table(
    in_size: int, out_size: int, scale: float, translation: float, kernel_type: str, antialias: bool
) -> Table:
    radius, value = _SAMPLING[kernel_type]
    inverse = _F(1) / _F(scale)
    kernel_scale = max(inverse, _F(1)) if antialias else _F(1)
    at = (np.arange(out_size, dtype=_F) + _F(0.5)) * inverse - _F(translation) * inverse
    reach = _F(radius) * kernel_scale
    first = np.clip(np.ceil(at - reach - _F(0.5)), 0, in_size - 1).astype(np.int64)
    last = np.clip(np.floor(at + reach - _F(0.5)), 0, in_size - 1).astype(np.int64)
    indices = first[:, None] + np.arange(int((last - first).max()) + 1)
    weights = value((indices + _F(0.5) - at[:, None]) / kernel_scale)
    weights = np.where(indices <= last[:, None], weights, 0)
    total = weights.sum(1, keepdims=True)
    weights = np.where(np.abs(total) >= 1000 * np.finfo(_F).tiny, weights / np.where(total == 0, 1, total), weights)
    weights[(at < 0) | (at > in_size)] = 0
    return _table(np.minimum(indices, in_size - 1), weights)


def _sampling_tables(
    pairs: Sequence[tuple[int, int]], scale: torch.Tensor, translation: torch.Tensor, kernel_type: str, antialias: bool
) -> list[Table]:
    if kernel_type not in _SAMPLING:
        raise _invalid(f"Unrecognized kernel type: {kernel_type}")
    scales = scale.tolist()
    if min(scales) <= 0:
        raise _invalid("Scale must be greater than zero.")
    return [
        _sampling_table(*pair, s, t, kernel_type, antialias) for pair, s, t in zip(pairs, scales, translation.tolist())
    ]


@fresh("ScaleAndTranslate")
def scale_and_translate(
    images: torch.Tensor,
    size: torch.Tensor,
    scale: torch.Tensor,
    translation: torch.Tensor,
    *,
    kernel_type: str,
    antialias: bool,
) -> torch.Tensor:
    return _resize(images, _sampling_tables(_sizes(images, size), scale, translation, kernel_type, antialias))


@fresh("ScaleAndTranslateGrad")
def scale_and_translate_grad(
    grads: torch.Tensor,
    original: torch.Tensor,
    scale: torch.Tensor,
    translation: torch.Tensor,
    *,
    kernel_type: str,
    antialias: bool,
) -> torch.Tensor:
    pairs = [(original.shape[1], grads.shape[1]), (original.shape[2], grads.shape[2])]
    return _resize_grad(grads, original, _sampling_tables(pairs, scale, translation, kernel_type, antialias))
