"""Fractional pools: windows of two sizes in a random order, so that an image shrinks by a ratio that is not whole."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import Effect
from everflow.kernels.nn.candidate_sampling import Words
from everflow.kernels.random.philox import Stream
from everflow.kernels.registry import fresh


def _shuffled_sizes(size: int, count: int, words: Words) -> list[int]:
    small = size // count
    sizes = [small + 1] * (size % count) + [small] * (count - size % count)
    for i in range(count):
        j = i + words.below(count - i)
        sizes[i], sizes[j] = sizes[j], sizes[i]
    return [0, *np.cumsum(sizes).tolist()]


def _pseudo_random(size: int, count: int, words: Words) -> list[int]:
    """Bounds at even distances from a random start, rounded up."""
    ratio = size / count
    small = int(ratio)
    start = words.double() * min((small + 2) / ratio - 1, (size + 1 - small) / ratio - (count - 1))
    return [0, *[math.ceil(ratio * (i + start)) - 1 for i in range(1, count)], size]


def _bounds(size: int, ratio: float, pseudo_random: bool, stream: Stream) -> torch.Tensor:
    """Where windows begin, and where the last one ends."""
    count = int(size / ratio)
    if count <= 0:
        raise InvalidArgumentError(None, None, f"FractionalPool: pooling ratio {ratio} leaves nothing of size {size}")
    place = stream.reserve(1 if pseudo_random else -(-count // 4))
    if size % count == 0:
        bounds = list(range(0, size + 1, size // count))
    else:
        bounds = (_pseudo_random if pseudo_random else _shuffled_sizes)(size, count, Words(place))
    return torch.tensor(bounds, dtype=torch.int64)


def _cells(bounds: torch.Tensor, size: int, overlapping: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """[windows, widest] indices of each window's cells, and which of them count."""
    begin, end = bounds[:-1, None], bounds[1:, None]
    if overlapping:
        end = (end + 1).clamp(max=size)
    cells = begin + torch.arange(int((end - begin).max()))
    return cells.clamp(max=size - 1), cells < end


def _windows(
    x: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor, overlapping: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """[N, rows, columns, cells, C] of what windows see, each cell's place in the image, and which cells count."""
    batch, height, width, channels = x.shape
    row, row_counts = _cells(rows, height, overlapping)
    column, column_counts = _cells(columns, width, overlapping)
    place = (row[:, None, :, None] * width + column[None, :, None, :]).flatten(2)
    counts = (row_counts[:, None, :, None] & column_counts[None, :, None, :]).flatten(2)
    seen = x.reshape(batch, height * width, channels)[:, place]
    return seen, place, counts


def _lowest(dtype: torch.dtype) -> float:
    return torch.finfo(dtype).min if dtype.is_floating_point else torch.iinfo(dtype).min


def _pool(
    x: torch.Tensor,
    pooling_ratio: list[float],
    pseudo_random: bool,
    overlapping: bool,
    deterministic: bool,
    seed: int,
    seed2: int,
    reduce: Callable[..., torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    if x.dim() != 4:
        raise InvalidArgumentError(None, None, "tensor_in must be 4-dimensional")
    if pooling_ratio[0] != 1 or pooling_ratio[3] != 1:
        raise InvalidArgumentError(
            None, None, "Fractional pooling is not yet supported on the batch nor channel dimension."
        )
    if not deterministic and (seed or seed2):
        raise InvalidArgumentError(None, None, "Both seed and seed2 should be 0 if deterministic is false.")
    stream = Stream(seed, seed2)
    rows = _bounds(x.shape[1], pooling_ratio[1], pseudo_random, stream)
    columns = _bounds(x.shape[2], pooling_ratio[2], pseudo_random, stream)
    seen, _, counts = _windows(x, rows, columns, overlapping)
    return reduce(seen, counts[None, ..., None]), rows, columns


@fresh("FractionalMaxPool", effect=Effect.RANDOM)
def fractional_max_pool(
    x: torch.Tensor,
    *,
    pooling_ratio: list[float],
    pseudo_random: bool,
    overlapping: bool,
    deterministic: bool,
    seed: int,
    seed2: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    def largest(seen: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        return torch.where(counts, seen, _lowest(seen.dtype)).amax(3)

    return _pool(x, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, largest)


@fresh("FractionalAvgPool", effect=Effect.RANDOM)
def fractional_avg_pool(
    x: torch.Tensor,
    *,
    pooling_ratio: list[float],
    pseudo_random: bool,
    overlapping: bool,
    deterministic: bool,
    seed: int,
    seed2: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    def mean(seen: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        total = torch.where(counts, seen, 0).sum(3, dtype=seen.dtype)
        number = counts.sum(3).to(seen.dtype)
        return total / number if seen.is_floating_point() else total // number

    return _pool(x, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, mean)


@fresh("FractionalMaxPoolGrad")
def fractional_max_pool_grad(
    x: torch.Tensor,
    _pooled: torch.Tensor,
    grad: torch.Tensor,
    rows: torch.Tensor,
    columns: torch.Tensor,
    *,
    overlapping: bool,
) -> torch.Tensor:
    batch, height, width, channels = x.shape
    seen, place, counts = _windows(x, rows, columns, overlapping)
    best = torch.where(counts[None, ..., None], seen, _lowest(x.dtype)).max(3, keepdim=True).indices
    where = place[None, ..., None].expand(seen.shape).gather(3, best).squeeze(3)
    flat = grad.new_zeros((batch, height * width, channels))
    return flat.scatter_add_(1, where.flatten(1, 2), grad.flatten(1, 2)).view(x.shape)


@fresh("FractionalAvgPoolGrad")
def fractional_avg_pool_grad(
    shape: torch.Tensor, grad: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor, *, overlapping: bool
) -> torch.Tensor:
    batch, height, width, channels = shape.tolist()
    _, place, counts = _windows(grad.new_zeros((1, height, width, 1)), rows, columns, overlapping)
    share = grad.double() / counts.sum(2)[None, ..., None]
    spread = share.unsqueeze(3) * counts[None, ..., None]
    flat = spread.new_zeros((batch, height * width, channels))
    return flat.index_add_(1, place.flatten(), spread.flatten(1, 3)).view(batch, height, width, channels).to(grad.dtype)
