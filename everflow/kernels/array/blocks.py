"""Kernels that move blocks of pixels: between space and batch or depth, and patches of images and volumes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import UnimplementedError
from everflow.kernels.array.basic import bracketed, invalid, is_text
from everflow.kernels.array.layout import pad as pad_tensor
from everflow.kernels.facts import view
from everflow.kernels.registry import kernel

if TYPE_CHECKING:
    from everflow.kernels.tensors import AnyTensor, Value

# Space and batch


def _spatial(input: AnyTensor, blocks: list[int]) -> int:
    """How many dimensions are cut into blocks."""
    if any(b < 1 for b in blocks):
        raise invalid(f"All values in block_shape must be positive, got value, {min(blocks)}")
    if input.ndim < 1 + len(blocks):
        raise invalid(f"input rank should be >= {1 + len(blocks)} instead of {input.ndim}")
    return len(blocks)


def _space_to_batch(input: AnyTensor, blocks: list[int], paddings: list[list[int]]) -> AnyTensor:
    spatial = _spatial(input, blocks)
    pads = torch.tensor([[0, 0], *paddings, *[[0, 0]] * (input.ndim - 1 - spatial)])
    if (pads < 0).any():
        raise invalid("Paddings must be non-negative")
    input = pad_tensor(input, pads)
    dims, rest = input.shape[1 : 1 + spatial], tuple(input.shape[1 + spatial :])
    for i, (d, b) in enumerate(zip(dims, blocks, strict=True)):
        if d % b:
            raise invalid(f"padded_shape[{i}]={d} is not divisible by block_shape[{i}]={b}")
    batch = input.shape[0]
    split = input.reshape(
        batch, *itertools.chain.from_iterable((d // b, b) for d, b in zip(dims, blocks, strict=True)), *rest
    )
    order = [*range(2, 2 * spatial + 1, 2), 0, *range(1, 2 * spatial, 2), *range(2 * spatial + 1, split.ndim)]
    out = split.transpose(order) if is_text(split) else split.permute(order)
    return out.reshape(batch * int(np.prod(blocks)), *(d // b for d, b in zip(dims, blocks, strict=True)), *rest)


def _batch_to_space(input: AnyTensor, blocks: list[int], crops: list[list[int]]) -> AnyTensor:
    spatial = _spatial(input, blocks)
    count = int(np.prod(blocks))
    if input.shape[0] % count:
        raise invalid(f"Input batch dimension ({input.shape[0]}) is not divisible by product of block sizes ({count})")
    batch, dims, rest = input.shape[0] // count, tuple(input.shape[1 : 1 + spatial]), tuple(input.shape[1 + spatial :])
    split = input.reshape(*blocks, batch, *dims, *rest)
    order = [
        spatial,
        *itertools.chain.from_iterable((spatial + 1 + i, i) for i in range(spatial)),
        *range(2 * spatial + 1, split.ndim),
    ]
    whole = (split.transpose(order) if is_text(split) else split.permute(order)).reshape(
        batch, *(d * b for d, b in zip(dims, blocks, strict=True)), *rest
    )
    keys = [slice(None)]
    for i, ((before, after), size) in enumerate(zip(crops, whole.shape[1 : 1 + spatial], strict=True)):
        if before < 0 or after < 0:
            raise invalid("Crops must be non-negative")
        if before + after > size:
            raise invalid(f"cropped_shape[{i}]={size - before - after} must be non-negative")
        keys.append(slice(before, size - after))
    return whole[tuple(keys)]


def _check_blocks(block_shape: torch.Tensor, pairs: torch.Tensor, name: str) -> None:
    if block_shape.ndim != 1:
        raise invalid("block_shape must be one-dimensional, got shape " + bracketed(block_shape.shape))
    if tuple(pairs.shape) != (block_shape.shape[0], 2):
        raise invalid(f"{name} should have shape [{block_shape.shape[0]}, 2] instead of {bracketed(pairs.shape)}")


@kernel("SpaceToBatchND", result=view(0))
def space_to_batch_nd(input: AnyTensor, block_shape: torch.Tensor, paddings: torch.Tensor) -> AnyTensor:
    _check_blocks(block_shape, paddings, "paddings")
    return _space_to_batch(input, block_shape.tolist(), paddings.tolist())


@kernel("SpaceToBatch", result=view(0))
def space_to_batch(input: AnyTensor, paddings: torch.Tensor, *, block_size: int) -> AnyTensor:
    return _space_to_batch(input, [block_size, block_size], paddings.tolist())


@kernel("BatchToSpaceND", result=view(0))
def batch_to_space_nd(input: AnyTensor, block_shape: torch.Tensor, crops: torch.Tensor) -> AnyTensor:
    _check_blocks(block_shape, crops, "crops")
    return _batch_to_space(input, block_shape.tolist(), crops.tolist())


@kernel("BatchToSpace", result=view(0))
def batch_to_space(input: AnyTensor, crops: torch.Tensor, *, block_size: int) -> AnyTensor:
    return _batch_to_space(input, [block_size, block_size], crops.tolist())


# Space and depth


def _permute(x: AnyTensor, order: tuple[int, ...]) -> AnyTensor:
    return x.transpose(order) if is_text(x) else x.permute(order)


@kernel("SpaceToDepth", result=view(0))
def space_to_depth(input: AnyTensor, *, block_size: int, data_format: str) -> AnyTensor:
    b = block_size
    if data_format == "NHWC":
        n, h, w, c = input.shape
    elif data_format == "NCHW":
        n, c, h, w = input.shape
    else:
        n, groups, h, w, lanes = input.shape
        c = groups * lanes
    if h % b or w % b:
        raise invalid(f"Image width {w} and height {h} should be divisible by block_size: {b}")
    if data_format == "NHWC":
        return _permute(input.reshape(n, h // b, b, w // b, b, c), (0, 1, 3, 2, 4, 5)).reshape(
            n, h // b, w // b, b * b * c
        )
    if data_format == "NCHW":
        return _permute(input.reshape(n, c, h // b, b, w // b, b), (0, 3, 5, 1, 2, 4)).reshape(
            n, b * b * c, h // b, w // b
        )
    split = input.reshape(n, groups, h // b, b, w // b, b, lanes)
    return _permute(split, (0, 3, 5, 1, 2, 4, 6)).reshape(n, b * b * groups, h // b, w // b, lanes)


@kernel("DepthToSpace", result=view(0))
def depth_to_space(input: torch.Tensor, *, block_size: int, data_format: str) -> AnyTensor:
    b = block_size
    if data_format == "NHWC":
        n, h, w, c = input.shape
    elif data_format == "NCHW":
        n, c, h, w = input.shape
    else:
        n, c, h, w, lanes = input.shape
    if c % (b * b):
        raise invalid(f"Input depth dimension {c} should be divisible by: {b * b}")
    c //= b * b
    if data_format == "NHWC":
        return _permute(input.reshape(n, h, w, b, b, c), (0, 1, 3, 2, 4, 5)).reshape(n, h * b, w * b, c)
    if data_format == "NCHW":
        return _permute(input.reshape(n, b, b, c, h, w), (0, 3, 4, 1, 5, 2)).reshape(n, c, h * b, w * b)
    return _permute(input.reshape(n, b, b, c, h, w, lanes), (0, 3, 4, 1, 5, 2, 6)).reshape(n, c, h * b, w * b, lanes)


# Patches


def _windows(size: int, kernel_size: int, stride: int, rate: int, padding: str) -> tuple[int, int, int]:
    """(number of windows, padding before, padding after) along one axis."""
    reach = kernel_size + (kernel_size - 1) * (rate - 1)
    if padding == "VALID":
        return -(-(size - reach + 1) // stride), 0, 0
    count = -(-size // stride)
    total = max((count - 1) * stride + reach - size, 0)
    return count, total // 2, total - total // 2


def _patches(
    images: torch.Tensor, sizes: list[int], strides: list[int], rates: list[int], padding: str
) -> torch.Tensor:
    spatial = len(sizes)
    counts, pairs = [], []
    for d, k, s, r in zip(images.shape[1 : 1 + spatial], sizes, strides, rates, strict=True):
        count, before, after = _windows(d, k, s, r, padding)
        counts.append(max(count, 0))
        pairs.append([before, after])
    padded: Value = pad_tensor(images, torch.tensor([[0, 0], *pairs, [0, 0]]))
    step = padded.stride()
    windows = padded.as_strided(
        (padded.shape[0], *counts, *sizes, padded.shape[-1]),
        (
            step[0],
            *(a * s for a, s in zip(step[1:-1], strides, strict=True)),
            *(a * r for a, r in zip(step[1:-1], rates, strict=True)),
            step[-1],
        ),
    )
    return windows.reshape(padded.shape[0], *counts, int(np.prod(sizes)) * padded.shape[-1])


@kernel("ExtractImagePatches", result=view(0))
def extract_image_patches(
    images: torch.Tensor, *, ksizes: list[int], strides: list[int], rates: list[int], padding: str
) -> torch.Tensor:
    _check_over_space_only(ksizes, strides, rates)
    return _patches(images, ksizes[1:3], strides[1:3], rates[1:3], padding)


@kernel("ExtractVolumePatches", result=view(0))
def extract_volume_patches(input: torch.Tensor, *, ksizes: list[int], strides: list[int], padding: str) -> torch.Tensor:
    _check_over_space_only(ksizes, strides)
    return _patches(input, ksizes[1:4], strides[1:4], [1, 1, 1], padding)


def _check_over_space_only(*windows: list[int]) -> None:
    for sizes in windows:
        if (sizes[0], sizes[-1]) != (1, 1):
            raise UnimplementedError(None, None, f"Patches are cut out of space only, not of batch or depth: {sizes}")
