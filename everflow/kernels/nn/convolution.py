"""Convolutions and their gradients on ATen: any number of spatial dimensions, both data formats, all paddings.

A tensor with its channels last is handed on as a channels-first view of the same memory (ATen's channels_last), so
nothing is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import torch
import torch.nn.functional as F

from everflow.framework.errors import InvalidArgumentError
from everflow.framework.windows import Format, parse_format, slide
from everflow.kernels.nn import patches as convolution_patches
from everflow.kernels.registry import library

_CONV = {1: torch.conv1d, 2: torch.conv2d, 3: torch.conv3d}
_backward = torch.ops.aten.convolution_backward.default
# Half precision runs faster, and not less exactly, through float32 on a CPU.
_NARROW = (torch.float16, torch.bfloat16)


class Geometry(NamedTuple):
    """How a filter slides over an image: what ATen pads on both sides, and what has to be added first."""

    output: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    padding: tuple[int, ...]
    # For torch's pad: (before, after) of each spatial dimension, the last dimension first. Empty where both sides are
    # alike.
    extra: tuple[int, ...]


def geometry(
    sizes: tuple[int, ...],
    window: Sequence[int],
    strides: tuple[int, ...],
    padding: str,
    dilations: tuple[int, ...],
    explicit: Sequence[int] = (),
) -> Geometry:
    """The Geometry of one convolution; `explicit` holds (before, after) of each spatial dimension."""
    output, both, extra = [], [], []
    for axis, (size, extent, stride, dilation) in enumerate(zip(sizes, window, strides, dilations, strict=True)):
        try:
            fit = slide(size, extent, stride, padding, dilation, explicit[2 * axis : 2 * axis + 2] or (0, 0))
        except ValueError as error:
            raise InvalidArgumentError(None, None, str(error)) from error
        shared = min(fit.before, fit.after)
        output.append(fit.output)
        both.append(shared)
        extra = [fit.before - shared, fit.after - shared, *extra]
    return Geometry(tuple(output), tuple(strides), tuple(dilations), tuple(both), tuple(extra) if any(extra) else ())


def channels_first(x: torch.Tensor, form: Format) -> torch.Tensor:
    """A view with the channels second."""
    return x.movedim(-1, 1) if form.channels_last else x


def as_format(x: torch.Tensor, form: Format) -> torch.Tensor:
    """The inverse of `channels_first`, contiguous."""
    return (x.movedim(1, -1) if form.channels_last else x).contiguous()


def _spatial_explicit(explicit_paddings: tuple[int, ...], form: Format) -> list[int]:
    return (
        [explicit_paddings[2 * axis + side] for axis in form.spatial_axes for side in (0, 1)]
        if explicit_paddings
        else []
    )


def _check_rank(name: str, tensor: torch.Tensor, form: Format) -> None:
    if tensor.dim() != form.spatial + 2:
        raise InvalidArgumentError(None, None, f"{name} must be {form.spatial + 2}-dimensional: {list(tensor.shape)}")


def _setup(
    input_shape: Sequence[int],
    filter_shape: Sequence[int],
    strides: Sequence[int],
    padding: str,
    dilations: Sequence[int],
    explicit_paddings: Sequence[int],
    form: Format,
) -> tuple[Geometry, int]:
    """The geometry and the number of groups for an image and a filter shape."""
    return _fitted(
        tuple(input_shape),
        tuple(filter_shape),
        tuple(strides),
        padding,
        tuple(dilations),
        tuple(explicit_paddings),
        form,
    )


def _check_over_space_only(
    strides: Sequence[int], dilations: Sequence[int], explicit_paddings: Sequence[int], form: Format
) -> None:
    """Batch and channels are neither stepped over nor padded, and nothing is padded by less than nothing."""
    for what, values in (("strides", strides), ("dilations", dilations)):
        if (values[0], values[form.channel_axis]) != (1, 1):
            raise InvalidArgumentError(
                None,
                None,
                f"Convolutions step over space only: {what} of batch and channels must be 1, got {list(values)}",
            )
    others = [
        explicit_paddings[2 * axis + side] for axis in (0, form.channel_axis) for side in (0, 1) if explicit_paddings
    ]
    if any(others) or any(size < 0 for size in explicit_paddings):
        raise InvalidArgumentError(
            None,
            None,
            f"Only space is padded, and by no negative sizes: explicit_paddings are {list(explicit_paddings)}",
        )


@lru_cache(maxsize=4096)
def _fitted(
    input_shape: tuple[int, ...],
    filter_shape: tuple[int, ...],
    strides: tuple[int, ...],
    padding: str,
    dilations: tuple[int, ...],
    explicit_paddings: tuple[int, ...],
    form: Format,
) -> tuple[Geometry, int]:
    channels, filter_channels = input_shape[form.channel_axis], filter_shape[-2]
    if filter_channels == 0 or channels % filter_channels:
        raise InvalidArgumentError(
            None, None, f"input depth must be evenly divisible by filter depth: {channels} vs {filter_channels}"
        )
    if explicit_paddings and padding != "EXPLICIT":
        raise InvalidArgumentError(None, None, f"explicit_paddings go with padding EXPLICIT, not {padding}")
    _check_over_space_only(strides, dilations, explicit_paddings, form)
    fit = geometry(
        form.spatial_of(input_shape),
        filter_shape[:-2],
        form.spatial_of(strides),
        padding,
        form.spatial_of(dilations),
        _spatial_explicit(explicit_paddings, form),
    )
    return fit, channels // filter_channels


def _convolve(x: torch.Tensor, w: torch.Tensor, fit: Geometry, groups: int) -> torch.Tensor:
    """x: [N, C, ...], w: [O, C / groups, ...]."""
    if 0 in fit.output or x.numel() == 0 or w.numel() == 0:
        return x.new_zeros((x.shape[0], w.shape[0], *fit.output))
    if fit.extra:
        x = F.pad(x, fit.extra)
    if x.dtype in _NARROW:
        return _CONV[len(fit.stride)](x.float(), w.float(), None, fit.stride, fit.padding, fit.dilation, groups).to(
            x.dtype
        )
    return _CONV[len(fit.stride)](x, w, None, fit.stride, fit.padding, fit.dilation, groups)


def _call_backward(
    grad: torch.Tensor, x: torch.Tensor, w: torch.Tensor, fit: Geometry, groups: int, mask: tuple[bool, bool, bool]
) -> torch.Tensor:
    dtype = grad.dtype
    if dtype in _NARROW:
        grad, x, w = grad.float(), x.float(), w.float()
    zeros = (0,) * len(fit.stride)
    results = _backward(grad, x, w, None, fit.stride, fit.padding, fit.dilation, False, zeros, groups, mask)
    return results[0 if mask[0] else 1].to(dtype)


def _input_gradient(grad: torch.Tensor, shape: list[int], w: torch.Tensor, fit: Geometry, groups: int) -> torch.Tensor:
    """The gradient with respect to an image of `shape` ([N, C, ...])."""
    if grad.numel() == 0 or w.numel() == 0:
        return grad.new_zeros(shape)
    padded = list(shape)
    for axis in range(len(fit.extra) // 2):
        padded[-1 - axis] += fit.extra[2 * axis] + fit.extra[2 * axis + 1]
    # Only the shape and the memory layout of the image matter here.
    image = grad.new_empty([padded[0], *padded[2:], padded[1]]).movedim(-1, 1)
    result = _call_backward(grad, image, w, fit, groups, (True, False, False))
    if fit.extra:
        for axis in range(len(fit.extra) // 2):
            result = result.narrow(-1 - axis, fit.extra[2 * axis], shape[-1 - axis])
    return result


def _filter_gradient(grad: torch.Tensor, x: torch.Tensor, shape: list[int], fit: Geometry, groups: int) -> torch.Tensor:
    """The gradient with respect to a filter of `shape` ([O, C / groups, ...])."""
    if grad.numel() == 0 or x.numel() == 0:
        return grad.new_zeros(shape)
    if fit.extra:
        x = F.pad(x, fit.extra)
    return _call_backward(grad, x, grad.new_empty(shape), fit, groups, (False, True, False))


def _filter_first(w: torch.Tensor) -> torch.Tensor:
    """[..., in, out] as a view [out, in, ...]."""
    return w.movedim(-1, 0).movedim(-1, 1)


def _filter_last(w: torch.Tensor) -> torch.Tensor:
    """[out, in, ...] as [..., in, out]."""
    return w.movedim(1, -1).movedim(0, -1).contiguous()


def _check_gradient(grad: torch.Tensor, fit: Geometry, batch: int, channels: int, form: Format) -> None:
    expected = form.arrange(batch, fit.output, channels)
    if list(grad.shape) != expected:
        raise InvalidArgumentError(
            None,
            None,
            f"Size of out_backprop doesn't match computed: actual = {list(grad.shape)}, computed = {expected}",
        )


def _is_along_one_axis(
    input_shape: Sequence[int], filter_shape: Sequence[int], fit: Geometry, groups: int, form: Format
) -> bool:
    """Whether a filter covers whole rows and only goes down, as those over the words of a sentence do.

    Then a row is a single place with many channels, and ATen is many times as fast when told so; as fast as it can be
    where places follow each other along the width.
    """
    if form.spatial != 2 or not form.channels_last or groups != 1 or input_shape[2] != filter_shape[1]:
        return False
    if input_shape[1] == 1:
        return False  # already turned
    return fit.output[1] == 1 and fit.dilation[1] == 1 and not fit.padding[1] and not any(fit.extra[:2])


def _rows_as_places(shape: Sequence[int]) -> tuple[int, ...]:
    """[N, H, W, C] as [N, 1, H, W * C]."""
    return (shape[0], 1, shape[1], shape[2] * shape[3])


def _rows_as_channels(filter_shape: Sequence[int]) -> tuple[int, ...]:
    """[h, W, C, O] as [1, h, W * C, O]."""
    return (1, filter_shape[0], filter_shape[1] * filter_shape[2], filter_shape[3])


def _turned(*settings: Sequence[int]) -> list[list[int]]:
    """Strides, dilations or paddings with height and width exchanged."""
    made = []
    for values in settings:
        each = len(values) // 4
        parts = [list(values[i * each : (i + 1) * each]) for i in (0, 2, 1, 3)]
        made.append([number for part in parts for number in part])
    return made


def _sizes(tensor: torch.Tensor) -> list[int]:
    if tensor.dim() != 1:
        raise InvalidArgumentError(None, None, f"sizes must be a vector of integers, not of rank {tensor.dim()}")
    return tensor.tolist()


def _forward(
    x: torch.Tensor,
    w: torch.Tensor,
    strides: list[int],
    padding: str,
    dilations: Sequence[int],
    explicit_paddings: Sequence[int],
    data_format: str,
) -> torch.Tensor:
    form = parse_format(data_format)
    _check_rank("input", x, form)
    _check_rank("filter", w, form)
    fit, groups = _setup(x.shape, w.shape, strides, padding, dilations, explicit_paddings, form)
    if _is_along_one_axis(x.shape, w.shape, fit, groups, form):
        x, w = x.reshape(_rows_as_places(x.shape)), w.reshape(_rows_as_channels(w.shape))
        strides, dilations, paddings = _turned(strides, dilations, explicit_paddings)
        result = _forward(x, w, strides, padding, dilations, paddings, data_format)
        return result.view(x.shape[0], *fit.output, w.shape[3])
    if convolution_patches.suits(x.shape[0], w.shape, fit, groups, form, x.dtype):
        return convolution_patches.forward(x, w, fit)
    return as_format(_convolve(channels_first(x, form), _filter_first(w), fit, groups), form)


def _backprop_input(
    input_shape: Sequence[int],
    w: torch.Tensor,
    grad: torch.Tensor,
    strides: list[int],
    padding: str,
    dilations: list[int],
    explicit_paddings: Sequence[int],
    data_format: str,
) -> torch.Tensor:
    form = parse_format(data_format)
    _check_rank("filter", w, form)
    _check_rank("out_backprop", grad, form)
    input_shape = list(input_shape)
    if len(input_shape) == form.spatial:  # the newer form gives the spatial sizes only
        input_shape = form.arrange(grad.shape[0], input_shape, w.shape[-2])
    if len(input_shape) != form.spatial + 2:
        raise InvalidArgumentError(
            None, None, f"input_sizes must have {form.spatial + 2} elements, not {len(input_shape)}"
        )
    fit, groups = _setup(input_shape, w.shape, strides, padding, dilations, explicit_paddings, form)
    _check_gradient(grad, fit, input_shape[0], w.shape[-1], form)
    if _is_along_one_axis(input_shape, w.shape, fit, groups, form):
        places, w = _rows_as_places(input_shape), w.reshape(_rows_as_channels(w.shape))
        strides, dilations, paddings = _turned(strides, dilations, explicit_paddings)
        grad = grad.reshape(_rows_as_places(grad.shape))
        return _backprop_input(places, w, grad, strides, padding, dilations, paddings, data_format).view(input_shape)
    if convolution_patches.suits(input_shape[0], w.shape, fit, groups, form, grad.dtype):
        return convolution_patches.input_gradient(input_shape, w, grad, fit)
    if convolution_patches.suits_image(w.shape, grad, groups, form):
        return convolution_patches.image_gradient(input_shape, w, grad, fit)
    shape = [input_shape[0], input_shape[form.channel_axis], *form.spatial_of(input_shape)]
    return as_format(_input_gradient(channels_first(grad, form), shape, _filter_first(w), fit, groups), form)


def _backprop_filter(
    x: torch.Tensor,
    filter_shape: Sequence[int],
    grad: torch.Tensor,
    strides: list[int],
    padding: str,
    dilations: list[int],
    explicit_paddings: Sequence[int],
    data_format: str,
) -> torch.Tensor:
    form = parse_format(data_format)
    _check_rank("input", x, form)
    _check_rank("out_backprop", grad, form)
    filter_shape = list(filter_shape)
    if len(filter_shape) != form.spatial + 2:
        raise InvalidArgumentError(
            None, None, f"filter_sizes must have {form.spatial + 2} elements, not {len(filter_shape)}"
        )
    fit, groups = _setup(x.shape, filter_shape, strides, padding, dilations, explicit_paddings, form)
    _check_gradient(grad, fit, x.shape[0], filter_shape[-1], form)
    if _is_along_one_axis(x.shape, filter_shape, fit, groups, form):
        x, channels = x.reshape(_rows_as_places(x.shape)), _rows_as_channels(filter_shape)
        strides, dilations, paddings = _turned(strides, dilations, explicit_paddings)
        grad = grad.reshape(_rows_as_places(grad.shape))
        result = _backprop_filter(x, channels, grad, strides, padding, dilations, paddings, data_format)
        return result.view(filter_shape)
    if convolution_patches.suits(x.shape[0], filter_shape, fit, groups, form, grad.dtype):
        return convolution_patches.filter_gradient(x, filter_shape, grad, fit)
    shape = [filter_shape[-1], filter_shape[-2], *filter_shape[:-2]]
    return _filter_last(_filter_gradient(channels_first(grad, form), channels_first(x, form), shape, fit, groups))


@library("Conv2D")
def conv2d(
    x: torch.Tensor,
    w: torch.Tensor,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> torch.Tensor:
    return _forward(x, w, strides, padding, dilations, explicit_paddings, data_format)


@library("_Conv2DBias")  # made by plans from a convolution and the addition of a vector
def conv2d_bias(
    x: torch.Tensor,
    w: torch.Tensor,
    bias: torch.Tensor,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> torch.Tensor:
    """Keeps bits: the bias comes last, as an op of its own adds it."""
    return _forward(x, w, strides, padding, dilations, explicit_paddings, data_format).add_(bias)


@library("Conv2DBackpropInput")
def conv2d_backprop_input(
    input_sizes: torch.Tensor,
    w: torch.Tensor,
    grad: torch.Tensor,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> torch.Tensor:
    return _backprop_input(_sizes(input_sizes), w, grad, strides, padding, dilations, explicit_paddings, data_format)


@library("Conv2DBackpropFilter")
def conv2d_backprop_filter(
    x: torch.Tensor,
    filter_sizes: torch.Tensor,
    grad: torch.Tensor,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> torch.Tensor:
    return _backprop_filter(x, _sizes(filter_sizes), grad, strides, padding, dilations, explicit_paddings, data_format)


@library("Conv3D")
def conv3d(
    x: torch.Tensor, w: torch.Tensor, *, strides: list[int], padding: str, data_format: str, dilations: list[int]
) -> torch.Tensor:
    return _forward(x, w, strides, padding, dilations, (), data_format)


@library("Conv3DBackpropInputV2")
def conv3d_backprop_input_v2(
    input_sizes: torch.Tensor,
    w: torch.Tensor,
    grad: torch.Tensor,
    *,
    strides: list[int],
    padding: str,
    data_format: str,
    dilations: list[int],
) -> torch.Tensor:
    return _backprop_input(_sizes(input_sizes), w, grad, strides, padding, dilations, (), data_format)


@library("Conv3DBackpropFilterV2")
def conv3d_backprop_filter_v2(
    x: torch.Tensor,
    filter_sizes: torch.Tensor,
    grad: torch.Tensor,
    *,
    strides: list[int],
    padding: str,
    data_format: str,
    dilations: list[int],
) -> torch.Tensor:
    return _backprop_filter(x, _sizes(filter_sizes), grad, strides, padding, dilations, (), data_format)


# The first forms of the 3-D gradients take a tensor of the wanted shape in place of that shape.
@library("Conv3DBackpropInput")
def conv3d_backprop_input(
    x: torch.Tensor, w: torch.Tensor, grad: torch.Tensor, *, strides: list[int], padding: str, dilations: list[int]
) -> torch.Tensor:
    return _backprop_input(x.shape, w, grad, strides, padding, dilations, (), "NDHWC")


@library("Conv3DBackpropFilter")
def conv3d_backprop_filter(
    x: torch.Tensor, w: torch.Tensor, grad: torch.Tensor, *, strides: list[int], padding: str, dilations: list[int]
) -> torch.Tensor:
    return _backprop_filter(x, w.shape, grad, strides, padding, dilations, (), "NDHWC")


def _depthwise_setup(
    input_shape: Sequence[int],
    filter_shape: Sequence[int],
    strides: list[int],
    padding: str,
    dilations: list[int],
    form: Format,
) -> Geometry:
    channels = input_shape[form.channel_axis]
    if channels != filter_shape[2]:
        raise InvalidArgumentError(
            None, None, f"input and filter must have the same depth: {channels} vs {filter_shape[2]}"
        )
    return geometry(
        form.spatial_of(input_shape), filter_shape[:2], form.spatial_of(strides), padding, form.spatial_of(dilations)
    )


def _depthwise_filter(w: torch.Tensor) -> torch.Tensor:
    """[h, w, channels, multiplier] as [channels * multiplier, 1, h, w]: a filter of as many groups as channels."""
    return w.permute(2, 3, 0, 1).reshape(-1, 1, w.shape[0], w.shape[1])


@library("DepthwiseConv2dNative")
def depthwise_conv2d(
    x: torch.Tensor, w: torch.Tensor, *, strides: list[int], padding: str, data_format: str, dilations: list[int]
) -> torch.Tensor:
    form = parse_format(data_format)
    _check_rank("input", x, form)
    _check_rank("filter", w, form)
    if len(set(form.spatial_of(strides))) > 1:
        raise InvalidArgumentError(None, None, f"Depthwise strides must be alike in rows and columns: {strides}")
    if strides[0] != 1 or strides[form.channel_axis] != 1:
        raise InvalidArgumentError(None, None, f"Depthwise strides over examples and channels must be 1: {strides}")
    fit = _depthwise_setup(x.shape, w.shape, strides, padding, dilations, form)
    return as_format(_convolve(channels_first(x, form), _depthwise_filter(w), fit, w.shape[2]), form)


@library("DepthwiseConv2dNativeBackpropInput")
def depthwise_conv2d_backprop_input(
    input_sizes: torch.Tensor,
    w: torch.Tensor,
    grad: torch.Tensor,
    *,
    strides: list[int],
    padding: str,
    data_format: str,
    dilations: list[int],
) -> torch.Tensor:
    form = parse_format(data_format)
    input_shape = _sizes(input_sizes)
    fit = _depthwise_setup(input_shape, w.shape, strides, padding, dilations, form)
    _check_gradient(grad, fit, input_shape[0], w.shape[2] * w.shape[3], form)
    shape = [input_shape[0], input_shape[form.channel_axis], *form.spatial_of(input_shape)]
    return as_format(_input_gradient(channels_first(grad, form), shape, _depthwise_filter(w), fit, w.shape[2]), form)


@library("DepthwiseConv2dNativeBackpropFilter")
def depthwise_conv2d_backprop_filter(
    x: torch.Tensor,
    filter_sizes: torch.Tensor,
    grad: torch.Tensor,
    *,
    strides: list[int],
    padding: str,
    data_format: str,
    dilations: list[int],
) -> torch.Tensor:
    form = parse_format(data_format)
    rows, columns, channels, multiplier = filter_shape = _sizes(filter_sizes)
    fit = _depthwise_setup(x.shape, filter_shape, strides, padding, dilations, form)
    _check_gradient(grad, fit, x.shape[0], channels * multiplier, form)
    shape = [channels * multiplier, 1, rows, columns]
    result = _filter_gradient(channels_first(grad, form), channels_first(x, form), shape, fit, channels)
    return result.reshape(channels, multiplier, rows, columns).permute(2, 3, 0, 1).contiguous()


def _mirror(x: torch.Tensor, paddings: torch.Tensor, mode: str) -> torch.Tensor:
    """Pad by mirroring: REFLECT leaves the border out, SYMMETRIC repeats it."""
    border = 1 if mode == "REFLECT" else 0
    for axis, (before, after) in enumerate(paddings.tolist()):
        size = x.shape[axis]
        if not 0 <= before <= size - border or not 0 <= after <= size - border:
            raise InvalidArgumentError(
                None, None, f"paddings ({before}, {after}) must be no greater than the dimension size: {size}"
            )
        if before or after:
            index = [
                *range(before - 1 + border, border - 1, -1),
                *range(size),
                *range(size - 1 - border, size - 1 - border - after, -1),
            ]
            x = x.index_select(axis, torch.tensor(index, dtype=torch.int64, device=x.device))
    return x


def _bilinear(x: torch.Tensor, height: int, width: int, align_corners: bool) -> torch.Tensor:
    """Resize [N, H, W, C] between neighbouring pixels, sampling from the upper left corner as the older resizers do."""
    for axis, size in ((1, height), (2, width)):
        length = x.shape[axis]
        scale = (length - 1) / (size - 1) if align_corners and size > 1 else length / size
        where = torch.arange(size, dtype=torch.float32, device=x.device) * scale
        low = where.floor().long().clamp_(max=length - 1)
        high = (low + 1).clamp_(max=length - 1)
        shape = [-1 if a == axis else 1 for a in range(4)]
        weight = (where - low).to(x.dtype).reshape(shape)
        start = x.index_select(axis, low)
        x = start + (x.index_select(axis, high) - start) * weight
    return x


@library("FusedPadConv2D")
def fused_pad_conv2d(
    x: torch.Tensor, paddings: torch.Tensor, w: torch.Tensor, *, mode: str, strides: list[int], padding: str
) -> torch.Tensor:
    return _forward(_mirror(x, paddings, mode), w, strides, padding, (1, 1, 1, 1), (), "NHWC")


@library("FusedResizeAndPadConv2D")
def fused_resize_and_pad_conv2d(
    x: torch.Tensor,
    size: torch.Tensor,
    paddings: torch.Tensor,
    w: torch.Tensor,
    *,
    resize_align_corners: bool,
    mode: str,
    strides: list[int],
    padding: str,
) -> torch.Tensor:
    height, width = size.tolist()
    resized = _bilinear(x, height, width, resize_align_corners)
    return _forward(_mirror(resized, paddings, mode), w, strides, padding, (1, 1, 1, 1), (), "NHWC")
