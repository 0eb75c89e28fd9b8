"""Max and average pools and their gradients on ATen, without copying a padded image.

ATen pads alike on both sides; windows that hang over only at the end are had from its ceil_mode, or by one window more
at the start.
"""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F

from everflow.framework.errors import InvalidArgumentError, UnimplementedError
from everflow.framework.windows import Format, parse_format, slide
from everflow.kernels.nn.activations import with_unsigned
from everflow.kernels.nn.convolution import as_format, channels_first
from everflow.kernels.registry import fresh
from everflow.kernels.tensors import torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

_MAX = {2: torch.ops.aten.max_pool2d_with_indices.default, 3: torch.ops.aten.max_pool3d_with_indices.default}
_MAX_BACKWARD = torch.ops.aten.max_pool2d_with_indices_backward.default
_AVG = {2: F.avg_pool2d, 3: F.avg_pool3d}
_AVG_BACKWARD = {2: torch.ops.aten.avg_pool2d_backward.default, 3: torch.ops.aten.avg_pool3d_backward.default}
# ATen pools these only through a wider type: it lacks the unsigned ones, and its narrow ones can't index a large image.
_WIDER = {torch.uint8: torch.int32, torch.int8: torch.int32, torch.int16: torch.int32, torch.uint16: torch.int32}


class Geometry(NamedTuple):
    """How windows slide: ATen's arguments, and how many of its first windows are one too many."""

    output: tuple[int, ...]
    window: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    ceil: bool
    drop: tuple[int, ...]


def _geometry(sizes: tuple[int, ...], window: tuple[int, ...], strides: tuple[int, ...], padding: str) -> Geometry:
    output, both, drop = [], [], []
    for size, extent, stride in zip(sizes, window, strides, strict=True):
        try:
            fit = slide(size, extent, stride, padding)
        except ValueError as error:
            raise InvalidArgumentError(None, None, str(error)) from error
        # With stride 1, windows hanging over at the end are not found by ceil_mode: pad more, and drop the first
        # window.
        first = fit.after - fit.before if stride == 1 else 0
        output.append(fit.output)
        both.append(fit.before + first)
        drop.append(first)
    return Geometry(tuple(output), tuple(window), tuple(strides), tuple(both), padding == "SAME", tuple(drop))


def _setup(shape: Sequence[int], ksize: list[int], strides: list[int], padding: str, form: Format) -> Geometry:
    return _fitted(tuple(shape), tuple(ksize), tuple(strides), padding, form)


@lru_cache(maxsize=4096)
def _fitted(
    shape: tuple[int, ...], ksize: tuple[int, ...], strides: tuple[int, ...], padding: str, form: Format
) -> Geometry:
    if len(shape) != form.spatial + 2:
        raise InvalidArgumentError(None, None, f"tensor_in must be {form.spatial + 2}-dimensional: {list(shape)}")
    if ksize[0] != 1 or strides[0] != 1:
        raise UnimplementedError(None, None, "Pooling is not yet supported on the batch dimension.")
    if ksize[form.channel_axis] != 1 or strides[form.channel_axis] != 1:
        raise UnimplementedError(None, None, "Pooling over channels and space at once is not supported.")
    return _geometry(form.spatial_of(shape), form.spatial_of(ksize), form.spatial_of(strides), padding)


def _dropped(x: torch.Tensor, fit: Geometry) -> torch.Tensor:
    for axis, first in enumerate(fit.drop, 2):
        if first:
            x = x.narrow(axis, first, fit.output[axis - 2])
    return x


def _undropped(x: torch.Tensor, fit: Geometry) -> torch.Tensor:
    """Zeros where `_dropped` took windows away."""
    return F.pad(x, [p for first in reversed(fit.drop) for p in (first, 0)]) if any(fit.drop) else x


def _max_with_indices(x: torch.Tensor, fit: Geometry) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest of each window of [N, C, ...], and where it is in its image; the first of equal ones."""
    if x.numel() == 0 or 0 in fit.output:
        shape = (*x.shape[:2], *fit.output)
        return x.new_zeros(shape), x.new_zeros(shape, dtype=torch.int64)
    wide = x.to(_WIDER.get(x.dtype, x.dtype))
    n = len(fit.window)
    values, where = _MAX[n](wide, fit.window, fit.stride, fit.padding, (1,) * n, fit.ceil)
    return _dropped(values, fit).to(x.dtype), _dropped(where, fit)


def _scatter(grad: torch.Tensor, where: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """Add each gradient to the cell its window chose; shape: [N, C, ...]."""
    flat = grad.new_zeros((shape[0], shape[1], math.prod(shape[2:])))
    if grad.numel() == 0:
        return flat.view(shape)
    return flat.scatter_add_(2, where.flatten(2), grad.flatten(2)).view(shape)


def _channel_windows(ksize: list[int], strides: list[int], form: Format) -> int:
    """The window over channels, where a pool goes over them and not over space; 1 otherwise."""
    window, stride = ksize[form.channel_axis], strides[form.channel_axis]
    if window == 1 or any(k != 1 for k in form.spatial_of(ksize)):
        return 1
    if window != stride:
        raise UnimplementedError(
            None,
            None,
            f"Max pooling over channels needs windows that don't overlap: got a window of {window} channels with a stride of {stride}",
        )
    return window


def _grouped_channels(x: torch.Tensor, window: int, form: Format) -> torch.Tensor:
    """[..., groups, window] of the channels."""
    x = x if form.channels_last else x.movedim(1, -1)
    if x.shape[-1] % window:
        raise UnimplementedError(
            None,
            None,
            f"Max pooling over channels needs windows that use up all of them: {x.shape[-1]} channels can't be cut into windows of {window}",
        )
    return x.unflatten(-1, (x.shape[-1] // window, window))


def _max_pool(x: torch.Tensor, ksize: list[int], strides: list[int], padding: str, data_format: str) -> torch.Tensor:
    form = parse_format(data_format)
    window = _channel_windows(ksize, strides, form)
    if window > 1:
        pooled = _grouped_channels(x, window, form).amax(-1)
        return pooled if form.channels_last else pooled.movedim(-1, 1).contiguous()
    values, where = _max_with_indices(channels_first(x, form), _setup(x.shape, ksize, strides, padding, form))
    result: Any = as_format(values, form)
    # The gradient needs the places again; they stay with the output as long as it lives.
    result.max_pool_source = weakref.ref(x)
    result.max_pool_places = where
    return result


def _places(
    x: torch.Tensor, pooled: Any, ksize: list[int], strides: list[int], padding: str, form: Format
) -> torch.Tensor:
    """Where the largest values are: kept by the forward kernel, or found again."""
    source = getattr(pooled, "max_pool_source", None)
    if source is not None and source() is x:
        return pooled.max_pool_places
    return _max_with_indices(channels_first(x, form), _setup(x.shape, ksize, strides, padding, form))[1]


def _max_pool_grad(
    x: torch.Tensor,
    pooled: torch.Tensor,
    grad: torch.Tensor,
    ksize: list[int],
    strides: list[int],
    padding: str,
    data_format: str,
) -> torch.Tensor:
    form = parse_format(data_format)
    window = _channel_windows(ksize, strides, form)
    if window > 1:
        groups = _grouped_channels(x, window, form)
        chosen = F.one_hot(groups.argmax(-1), window).to(grad.dtype)
        grad = grad if form.channels_last else grad.movedim(1, -1)
        result = (chosen * grad.unsqueeze(-1)).flatten(-2)
        return result if form.channels_last else result.movedim(-1, 1).contiguous()
    fit = _setup(x.shape, ksize, strides, padding, form)
    if grad.shape != pooled.shape or list(grad.shape) != form.arrange(
        x.shape[0], fit.output, x.shape[form.channel_axis]
    ):
        raise InvalidArgumentError(
            None, None, f"Expected grad shape to be {list(pooled.shape)}, but got {list(grad.shape)}"
        )
    image, grad = channels_first(x, form), channels_first(grad, form)
    if form.spatial == 3:
        return as_format(_to_all_largest(image, channels_first(pooled, form), grad, fit, padding), form)
    where = _places(x, pooled, ksize, strides, padding, form)
    if any(fit.drop) or grad.numel() == 0 or not grad.is_floating_point():
        return as_format(_scatter(grad, where, image.shape), form)
    return as_format(_MAX_BACKWARD(grad, image, fit.window, fit.stride, fit.padding, (1, 1), fit.ceil, where), form)


def _to_all_largest(
    image: torch.Tensor, pooled: torch.Tensor, grad: torch.Tensor, fit: Geometry, padding: str
) -> torch.Tensor:
    """Each gradient added to all cells of its window that are as large as the largest, as in TensorFlow's pools of
    volumes; in images only the first of them gets it.
    """
    result = torch.zeros_like(image, memory_format=torch.contiguous_format)
    sizes = image.shape[2:]
    before = [slide(*each, padding).before for each in zip(sizes, fit.window, fit.stride, strict=True)]
    for offset in itertools.product(*map(range, fit.window)):
        cells: list[slice] = [slice(None)] * 2
        windows: list[slice] = [slice(None)] * 2
        for size, at, pad, stride, count in zip(sizes, offset, before, fit.stride, fit.output, strict=True):
            first = max(0, -((at - pad) // stride))
            last = min(count, (size - 1 - at + pad) // stride + 1)
            windows.append(slice(first, max(first, last)))
            start = first * stride + at - pad
            cells.append(slice(start, start + max(0, last - first) * stride, stride))
        part, among = tuple(cells), tuple(windows)
        if result[part].numel():
            result[part] += grad[among] * (image[part] == pooled[among])
    return result


def _max_pool_grad_grad(
    x: torch.Tensor,
    pooled: torch.Tensor,
    grad: torch.Tensor,
    ksize: list[int],
    strides: list[int],
    padding: str,
    data_format: str,
) -> torch.Tensor:
    """The second gradient: what flowed to the chosen cells."""
    form = parse_format(data_format)
    if grad.shape != x.shape:
        raise InvalidArgumentError(None, None, f"Expected grad shape to be {list(x.shape)}, but got {list(grad.shape)}")
    where = _places(x, pooled, ksize, strides, padding, form)
    picked = channels_first(grad, form).flatten(2).gather(2, where.flatten(2))
    return as_format(picked.view(where.shape), form)


@fresh("MaxPool", "MaxPool3D")
def max_pool(x: torch.Tensor, *, ksize: list[int], strides: list[int], padding: str, data_format: str) -> torch.Tensor:
    return _max_pool(x, ksize, strides, padding, data_format)


@fresh("MaxPoolV2")
def max_pool_v2(
    x: torch.Tensor, ksize: torch.Tensor, strides: torch.Tensor, *, padding: str, data_format: str
) -> torch.Tensor:
    return _max_pool(x, ksize.tolist(), strides.tolist(), padding, data_format)


@fresh("MaxPoolGrad", "MaxPool3DGrad")
@with_unsigned
def max_pool_grad(
    x: torch.Tensor,
    pooled: torch.Tensor,
    grad: torch.Tensor,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    data_format: str,
) -> torch.Tensor:
    return _max_pool_grad(x, pooled, grad, ksize, strides, padding, data_format)


@fresh("MaxPoolGradV2")
@with_unsigned
def max_pool_grad_v2(
    x: torch.Tensor,
    pooled: torch.Tensor,
    grad: torch.Tensor,
    ksize: torch.Tensor,
    strides: torch.Tensor,
    *,
    padding: str,
    data_format: str,
) -> torch.Tensor:
    return _max_pool_grad(x, pooled, grad, ksize.tolist(), strides.tolist(), padding, data_format)


@fresh("MaxPoolGradGrad", "MaxPool3DGradGrad")
def max_pool_grad_grad(
    x: torch.Tensor,
    pooled: torch.Tensor,
    grad: torch.Tensor,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    data_format: str,
) -> torch.Tensor:
    return _max_pool_grad_grad(x, pooled, grad, ksize, strides, padding, data_format)


@fresh("MaxPoolGradGradV2")
def max_pool_grad_grad_v2(
    x: torch.Tensor,
    pooled: torch.Tensor,
    grad: torch.Tensor,
    ksize: torch.Tensor,
    strides: torch.Tensor,
    *,
    padding: str,
    data_format: str,
) -> torch.Tensor:
    return _max_pool_grad_grad(x, pooled, grad, ksize.tolist(), strides.tolist(), padding, data_format)


def _flat_places(where: torch.Tensor, shape: Sequence[int], include_batch: bool) -> torch.Tensor:
    """Places in an image plane ([N, C, ...]) as indices into the flattened [N, H, W, C] batch, or into each of its
    images.
    """
    batch, height, width, channels = shape
    flat = where * channels + torch.arange(channels, device=where.device).view(1, -1, 1, 1)
    if include_batch:
        flat = flat + (torch.arange(batch, device=where.device) * (height * width * channels)).view(-1, 1, 1, 1)
    return flat.movedim(1, -1).contiguous()


@fresh("MaxPoolWithArgmax")
def max_pool_with_argmax(
    x: torch.Tensor, *, ksize: list[int], strides: list[int], padding: str, include_batch_in_index: bool, Targmax: DType
) -> tuple[torch.Tensor, torch.Tensor]:
    form = parse_format("NHWC")
    values, where = _max_with_indices(channels_first(x, form), _setup(x.shape, ksize, strides, padding, form))
    return as_format(values, form), _flat_places(where, x.shape, include_batch_in_index).to(torch_dtype(Targmax))


def _rows(places: torch.Tensor, x: torch.Tensor, include_batch: bool) -> torch.Tensor:
    """Flat places of each image, one row an image."""
    places = places.reshape(x.shape[0], -1).long()
    if include_batch:
        size = x[0].numel() if x.shape[0] else 0
        places = places - (torch.arange(x.shape[0], device=x.device) * size).unsqueeze(1)
    return places


@fresh("MaxPoolGradWithArgmax")
@with_unsigned
def max_pool_grad_with_argmax(
    x: torch.Tensor, grad: torch.Tensor, argmax: torch.Tensor, *, include_batch_in_index: bool
) -> torch.Tensor:
    result = grad.new_zeros((x.shape[0], x.shape[1:].numel()))
    if grad.numel():
        result.scatter_add_(1, _rows(argmax, x, include_batch_in_index), grad.reshape(x.shape[0], -1))
    return result.view(x.shape)


@fresh("MaxPoolGradGradWithArgmax")
def max_pool_grad_grad_with_argmax(
    x: torch.Tensor, grad: torch.Tensor, argmax: torch.Tensor, *, include_batch_in_index: bool
) -> torch.Tensor:
    flat = grad.reshape(x.shape[0], -1)
    return flat.gather(1, _rows(argmax, x, include_batch_in_index)).view(argmax.shape)


@fresh("AvgPool", "AvgPool3D")
def avg_pool(x: torch.Tensor, *, ksize: list[int], strides: list[int], padding: str, data_format: str) -> torch.Tensor:
    form = parse_format(data_format)
    fit = _setup(x.shape, ksize, strides, padding, form)
    image = channels_first(x, form)
    if image.numel() == 0 or 0 in fit.output:
        return as_format(image.new_zeros((*image.shape[:2], *fit.output)), form)
    # ATen averages over volumes in float32 and wider only.
    wide = image.float() if form.spatial == 3 and image.dtype in (torch.float16, torch.bfloat16) else image
    pooled = _AVG[form.spatial](wide, fit.window, fit.stride, fit.padding, fit.ceil, False).to(x.dtype)
    return as_format(_dropped(pooled, fit), form)


@fresh("AvgPoolGrad", "AvgPool3DGrad")
def avg_pool_grad(
    shape: torch.Tensor, grad: torch.Tensor, *, ksize: list[int], strides: list[int], padding: str, data_format: str
) -> torch.Tensor:
    form = parse_format(data_format)
    dims = shape.tolist()
    fit = _setup(dims, ksize, strides, padding, form)
    if list(grad.shape) != form.arrange(dims[0], fit.output, dims[form.channel_axis]):
        raise InvalidArgumentError(
            None, None, f"out_backprop has the wrong shape {list(grad.shape)} for an input of {dims}"
        )
    if grad.numel() == 0:
        return grad.new_zeros(dims)
    wide = grad.float() if form.spatial == 3 and grad.dtype in (torch.float16, torch.bfloat16) else grad
    image = channels_first(wide.new_empty(dims), form)
    spread = _undropped(channels_first(wide, form), fit)
    result = _AVG_BACKWARD[form.spatial](spread, image, fit.window, fit.stride, fit.padding, fit.ceil, False, None)
    return as_format(result.to(grad.dtype), form)
