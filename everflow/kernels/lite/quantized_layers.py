"""Convolutions, fully connected layers, pools and the moving of elements where tensors are quantized.

Sums of products of 8-bit integers are computed in float64, which holds them exactly, by the same kernels that floats
have.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import torch

from everflow.kernels.lite import fixed_point as fixed
from everflow.kernels.lite import layers
from everflow.kernels.lite.quantized import finish, limits, round_away
from everflow.kernels.lite.registry import QUANTIZED, Call, Operand, lite, tensorflow_op
from everflow.kernels.tensors import from_numpy


def _doubles(x: torch.Tensor, operand: Operand) -> torch.Tensor:
    """Integers less their zero point, as float64. Weights quantized by channels have none."""
    return x.to(torch.float64) - (operand.zero if operand.zero_point is not None else 0)


def _multipliers(source: Operand, weights: Operand, output: Operand) -> tuple[np.ndarray | int, np.ndarray | int]:
    """The multiplier of sums, for each channel of the output where the weights have as many scales."""
    assert weights.scale is not None
    if len(weights.scale) == 1:
        # The product of the two scales is a float32 here, as it is in the reference.
        return fixed.multiplier_of(float(np.float32(source.step * weights.step)) / float(output.step))
    pairs = [fixed.multiplier_of(float(source.step) * float(s) / float(output.step)) for s in weights.scale]
    return np.array([p[0] for p in pairs], np.int64), np.array([p[1] for p in pairs], np.int64)


def _scaled(
    call: Call, sums: torch.Tensor, bias: torch.Tensor | None, source: Operand, weights: Operand
) -> torch.Tensor:
    output = call.outputs[0]
    total = sums.numpy().astype(np.int64)
    if bias is not None:
        total = total + bias.numpy()
    return finish(fixed.multiply(total, *_multipliers(source, weights, output)) + output.zero, call)


def _layer(sums: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def compute(call: Call, x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        source, weights = call.inputs[:2]
        return _scaled(call, sums(call.options, _doubles(x, source), _doubles(w, weights)), bias, source, weights)

    return compute


for _name, _sums in {
    "CONV_2D": layers.convolve,
    "DEPTHWISE_CONV_2D": layers.convolve_depthwise,
    "FULLY_CONNECTED": layers.connect,
}.items():
    lite(_name, kind=QUANTIZED)(_layer(_sums))


@lite("TRANSPOSE_CONV", kind=QUANTIZED)
def transpose_conv(call: Call, shape: torch.Tensor, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    weights, source = call.inputs[1:3]
    return _scaled(
        call,
        layers.convolve_transposed(call.options, shape, _doubles(w, weights), _doubles(x, source)),
        None,
        source,
        weights,
    )


@lite("MAX_POOL_2D", kind=QUANTIZED)
def max_pool(call: Call, x: torch.Tensor) -> torch.Tensor:
    return finish(layers.pool("MaxPool", call.options, x.to(torch.float32)).numpy(), call)


@lite("AVERAGE_POOL_2D", kind=QUANTIZED)
def average_pool(call: Call, x: torch.Tensor) -> torch.Tensor:
    image = x.to(torch.float64)
    # A window at the edge has fewer elements: their count is the sum of ones, from averages over the whole window and
    # over what is there.
    average = layers.pool("AvgPool", call.options, image)
    counts = _counts(call.options, image)
    sums = torch.round(average * counts).to(torch.int64).numpy()
    count = counts.to(torch.int64).numpy()
    half = count // 2
    return finish(np.where(sums >= 0, (sums + half) // count, -((half - sums) // count)), call)


def _counts(options: SimpleNamespace, image: torch.Tensor) -> torch.Tensor:
    """How many elements of the image each window covers."""
    ones = torch.ones((1, *image.shape[1:3], 1), dtype=torch.float64)
    kernel = torch.ones((1, options.filter_height, options.filter_width, 1), dtype=torch.float64)
    return layers.convolve(options, ones, kernel)


@lite("CONCATENATION", kind=QUANTIZED)
def concatenation(call: Call, *inputs: torch.Tensor) -> torch.Tensor:
    output = call.outputs[0]
    parts = []
    for x, operand in zip(inputs, call.inputs, strict=True):
        if operand.step != output.step or operand.zero != output.zero:
            low, high = limits(output)
            scale = np.float32(operand.step * (np.float32(1) / output.step))
            bias = np.float32(-operand.zero * scale)
            values = round_away(np.asarray(x).astype(np.float32) * scale + bias) + output.zero
            x = from_numpy(np.clip(values, low, high).astype(output.dtype))
        parts.append(x)
    return torch.cat(parts, call.options.axis)


@lite("PAD", kind=QUANTIZED)
def pad(call: Call, x: torch.Tensor, paddings: torch.Tensor) -> torch.Tensor:
    return tensorflow_op("PadV2", x, paddings, torch.tensor(call.outputs[0].zero, dtype=x.dtype))


@lite("MEAN", "SUM", kind=QUANTIZED)
def reduce(call: Call, x: torch.Tensor, axes: torch.Tensor) -> torch.Tensor:
    source, output = call.inputs[0], call.outputs[0]
    dims = sorted({int(a) % x.ndim for a in np.asarray(axes).ravel()})
    sums = np.asarray(x).astype(np.int64).sum(tuple(dims), keepdims=bool(call.options.keep_dims))
    count = int(np.prod([x.shape[d] for d in dims]))
    mean = call.name == "MEAN"
    if mean and source.step == output.step and source.zero == output.zero:
        if x.ndim == 4 and dims == [1, 2] and call.options.keep_dims and output.dtype == np.uint8:
            # The mean of images alone is rounded, others are cut off.
            return finish((2 * sums + count) // (2 * count), call, 0)
        return finish(np.where(sums >= 0, sums // count, -(-sums // count)), call, 0)
    scale = np.float32(source.step / output.step)
    values = sums.astype(np.float32) / np.float32(count if mean else 1)
    bias = np.float32(np.float32(-source.zero * scale * (1 if mean else count)) + np.float32(0.5))
    return finish(round_away(values * scale + bias) + output.zero, call, 0)


@lite("RESIZE_BILINEAR", kind=QUANTIZED)
def resize_bilinear(call: Call, x: torch.Tensor, size: torch.Tensor) -> torch.Tensor:
    """The weights of the four neighbours, in float32; what is behind the point is cut off."""
    image = np.asarray(x).astype(np.float32)
    (top, bottom, down), (left, right, across) = (
        _neighbours(image.shape[axis], int(wanted), call.options.align_corners)
        for axis, wanted in zip((1, 2), np.asarray(size), strict=True)
    )
    down, across = down[:, None, None], across[:, None]
    above, before = np.float32(1) - down, np.float32(1) - across
    corners = [
        (top, left, above, before),
        (bottom, left, down, before),
        (top, right, above, across),
        (bottom, right, down, across),
    ]
    # The order of products decides on which side of an integer a sum falls; it differs between the two types.
    if call.outputs[0].dtype == np.uint8:
        made = sum(image[:, rows][:, :, columns] * (y * x) for rows, columns, y, x in corners)
    else:
        made = sum(image[:, rows][:, :, columns] * y * x for rows, columns, y, x in corners)
    return finish(np.trunc(made), call, 0)


def _neighbours(size: int, wanted: int, align_corners: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each output pixel of an axis: the pixels before and after it, and how far it lies between them."""
    scale = (
        np.float32(size - 1) / np.float32(wanted - 1)
        if align_corners and wanted > 1
        else np.float32(size) / np.float32(wanted)
    )
    at = np.arange(wanted, dtype=np.float32) * scale
    before = np.floor(at).astype(np.int64)
    return before, np.minimum(before + 1, size - 1), at - before.astype(np.float32)
