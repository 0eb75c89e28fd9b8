"""Sequences of numbers and counting: ranges, bins, histograms and packed comparisons."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.math.dtypes import shape_text
from everflow.kernels.registry import fresh
from everflow.kernels.tensors import from_numpy, to_numpy, torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType


def _scalar(name: str, value: torch.Tensor) -> float:
    if value.dim():
        raise InvalidArgumentError(None, None, f"{name} must be a scalar, not shape {shape_text(value)}")
    return value.item()


@fresh("Range")
def arange(start: torch.Tensor, limit: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    dtype = start.dtype
    first, last, step = _scalar("start", start), _scalar("limit", limit), _scalar("delta", delta)
    if step == 0:
        raise InvalidArgumentError(None, None, f"Requires delta != 0: {step}")
    if step > 0 and first > last:
        raise InvalidArgumentError(None, None, f"Requires start <= limit when delta > 0: {first}/{last}")
    if step < 0 and first < last:
        raise InvalidArgumentError(None, None, f"Requires start >= limit when delta < 0: {first}/{last}")
    if not dtype.is_floating_point:
        return torch.arange(first, last, step, dtype=dtype)
    kind = to_numpy(start).dtype.type
    size = math.ceil(abs((kind(last) - kind(first)) / kind(step)))
    # TensorFlow adds step by step in the tensor's own type, so the rounding errors add up as they do there.
    values = np.full(size, step, dtype=kind)
    values[:1] = first
    return from_numpy(np.add.accumulate(values, dtype=kind))


@fresh("LinSpace")
def linspace(start: torch.Tensor, stop: torch.Tensor, num: torch.Tensor) -> torch.Tensor:
    first, last, count = _scalar("start", start), _scalar("stop", stop), _scalar("num", num)
    if count <= 0:
        raise InvalidArgumentError(None, None, f"Requires num > 0: {count}")
    kind = to_numpy(start).dtype.type
    if count == 1:
        return start.clone().reshape(1)
    step = (kind(last) - kind(first)) / kind(count - 1)
    return from_numpy(kind(first) + step * np.arange(count, dtype=kind))


@fresh("Bincount")
def bincount(arr: torch.Tensor, size: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    length = int(size)
    if length < 0:
        raise InvalidArgumentError(None, None, f"size ({length}) must be non-negative")
    values = arr.reshape(-1)
    if (values < 0).any():
        raise InvalidArgumentError(None, None, "Input arr must be non-negative!")
    kept = values < length
    amounts = (
        weights.reshape(-1)[kept]
        if weights.numel()
        else torch.ones(int(kept.sum()), dtype=weights.dtype, device=arr.device)
    )
    counts = torch.zeros(length, dtype=weights.dtype, device=arr.device)
    return counts.index_add_(0, values[kept].to(torch.int64), amounts)


@fresh("HistogramFixedWidth")
def histogram_fixed_width(
    values: torch.Tensor, value_range: torch.Tensor, nbins: torch.Tensor, *, dtype: DType
) -> torch.Tensor:
    low, high, count = value_range[0].item(), value_range[1].item(), int(nbins)
    if not low < high:
        raise InvalidArgumentError(
            None, None, f"value_range should satisfy value_range[0] < value_range[1], but got '[{low:g}, {high:g}]'"
        )
    if count <= 0:
        raise InvalidArgumentError(None, None, f"nbins should be a positive number, but got '{count}'")
    step = (high - low) / count
    bins = torch.floor((values.reshape(-1).to(torch.float64) - low) / step).clamp(0, count - 1).to(torch.int64)
    return torch.bincount(bins, minlength=count).to(torch_dtype(dtype))


@fresh("Bucketize")
def bucketize(input: torch.Tensor, *, boundaries: list[float]) -> torch.Tensor:
    if any(b < a for a, b in itertools.pairwise(boundaries)):
        raise InvalidArgumentError(None, None, "Expected sorted boundaries")
    kind = torch.float64 if input.dtype is torch.float64 else torch.float32
    edges = torch.tensor(boundaries, dtype=kind, device=input.device)
    return torch.bucketize(input, edges, right=True, out_int32=True)


@fresh("CompareAndBitpack")
def compare_and_bitpack(input: torch.Tensor, threshold: torch.Tensor) -> torch.Tensor:
    if not input.dim() or input.shape[-1] % 8:
        raise InvalidArgumentError(
            None, None, f"Inner dimension of input should be divisible by 8, but saw shape: {shape_text(input)}"
        )
    above = input & threshold if input.dtype is torch.bool else input > threshold
    groups = above.reshape(*input.shape[:-1], -1, 8).to(torch.uint8)
    places = torch.tensor([128, 64, 32, 16, 8, 4, 2, 1], dtype=torch.uint8, device=input.device)
    return (groups * places).sum(-1, dtype=torch.uint8)
