"""The kernel of ParameterizedTruncatedNormal: normal values between bounds that differ from row to row."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import Effect
from everflow.kernels.math import libm
from everflow.kernels.random.distributions import box_muller, doubles, shape_of, single_normals, stream_of
from everflow.kernels.random.philox import Philox
from everflow.kernels.registry import fresh
from everflow.kernels.tensors import torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node, Session

# A row sets aside room in the stream for this many tries of each value.
_MOST_TRIES = 1000
# Where all values are of one distribution, so many of them are a row.
_ROW = 100
# Bounds at least this many deviations out on a side that has the mean: plain normal values are good candidates.
_WIDE = 1.3


class _Source:
    """Uniform and normal values in the order in which one row after the other uses them up, a block at a time."""

    def __init__(self, place: Philox, double: bool) -> None:
        self.place, self.double, self.used = place, double, 0

    def uniforms(self, blocks: int) -> np.ndarray:
        words = self.place.words(blocks, self.used)
        return doubles(words) if self.double else ((words & np.uint32(0x7FFFFF)) * 2.0**-23).astype(np.float32)

    def normals(self, blocks: int) -> np.ndarray:
        if self.double:
            return box_muller(self.place.words(blocks, self.used))
        pairs = single_normals(*self.place.chunk(self.used, blocks))
        return np.stack(pairs, axis=2).transpose(1, 0, 2).reshape(blocks, 4)

    def log(self, values: np.ndarray) -> np.ndarray:
        """The logarithm of uniform values."""
        logarithm = libm.double_log if self.double else libm.log
        return np.where(values > 0, logarithm(np.maximum(values, np.finfo(values.dtype).tiny)), -np.inf).astype(
            values.dtype
        )


def _by_normals(source: _Source, low: float, high: float) -> tuple[Callable[..., tuple[np.ndarray, np.ndarray]], int]:
    """Normal candidates, kept where they are within bounds."""

    def draw(groups: int) -> tuple[np.ndarray, np.ndarray]:
        z = source.normals(groups)
        return z, (z >= low) & (z <= high)

    return draw, 1


def _by_uniforms(source: _Source, low: float, high: float) -> tuple[Callable[..., tuple[np.ndarray, np.ndarray]], int]:
    """Uniform candidates between narrow bounds, kept by the density."""
    peak = 0.0 if low < 0 else low * low

    def draw(groups: int) -> tuple[np.ndarray, np.ndarray]:
        values = source.uniforms(2 * groups)
        z = values[::2] * (high - low) + low
        return z, values[1::2] <= np.exp((peak - z * z) / 2)

    return draw, 2


def _by_exponentials(
    source: _Source, low: float, high: float
) -> tuple[Callable[..., tuple[np.ndarray, np.ndarray]], int]:
    """Exponential candidates from the lower bound on, for a tail."""
    alpha = (low + np.sqrt(low * low + 4)) / 2

    def draw(groups: int) -> tuple[np.ndarray, np.ndarray]:
        values = source.uniforms(groups)
        z = -source.log(values[:, ::2]) / alpha + low
        x = alpha - z if low < alpha else low - alpha
        return z, (values[:, 1::2] <= np.exp(-x * x / 2)) & (z < high)

    return draw, 1


def _method(low: float, high: float) -> Callable[..., tuple[Callable, int]]:
    if (low < -_WIDE and high >= 0) or (high > _WIDE and low <= 0):
        return _by_normals
    root = math.sqrt(low * low + 4)
    narrow = 2 * math.exp(0.5 + low * (low - root) / 4) / (low + root)
    return _by_uniforms if high - low < narrow else _by_exponentials


def truncated_row(source: _Source, mean: float, deviation: float, low: float, high: float, count: int) -> np.ndarray:
    """`count` values of one row; the source goes on behind the last block used."""
    if math.isinf(low) or high < mean:  # turned around, so that the lower bound is the one that matters
        low, high, deviation = high, low, -deviation
    draw, blocks_per_group = _method((low - mean) / deviation, (high - mean) / deviation)(
        source, (low - mean) / deviation, (high - mean) / deviation
    )
    found = []
    missing = count
    while missing > 0:
        z, kept = draw(max(8, missing // 2))
        total = np.cumsum(kept.sum(axis=1))
        enough = int(np.searchsorted(total, missing))  # the group that completes the row
        groups = min(enough + 1, len(total))
        taken = z[:groups][kept[:groups]][:missing]
        found.append(taken)
        missing -= len(taken)
        source.used += groups * blocks_per_group
    return np.concatenate(found) * deviation + mean if found else np.empty(0)


@fresh("ParameterizedTruncatedNormal", effect=Effect.RANDOM)
def parameterized_truncated_normal(
    shape: torch.Tensor,
    means: torch.Tensor,
    stdevs: torch.Tensor,
    minvals: torch.Tensor,
    maxvals: torch.Tensor,
    *,
    dtype: DType,
    node: Node,
    session: Session,
) -> torch.Tensor:
    sizes = shape_of(shape)
    if not sizes:
        raise InvalidArgumentError(None, None, "Shape tensor must not be empty, got []")
    parameters = {"means": means, "stdevs": stdevs, "minvals": minvals, "maxvals": maxvals}
    size = math.prod(sizes)
    if any(p.dim() for p in parameters.values()):
        rows, count = sizes[0], size // max(sizes[0], 1)
    else:  # one distribution for all: any rows will do
        rows, count = -(-size // _ROW), _ROW
    for name, parameter in parameters.items():
        if parameter.dim() > 1 or (parameter.dim() == 1 and parameter.shape[0] not in (1, sizes[0])):
            raise InvalidArgumentError(
                None,
                None,
                f"Input {name} should have length 1 or shape[0], got shape: [{','.join(map(str, parameter.shape))}]",
            )
    place = stream_of(node, session).reserve(rows * 2 * _MOST_TRIES * (count + 3) // 4)
    double = dtype is dtypes.float64
    source = _Source(place, double)
    # Arithmetic is of the results' own precision; half precision is rounded from single.
    values = [
        p.to(torch.float64 if double else torch.float32).reshape(-1).expand(rows).numpy() for p in parameters.values()
    ]
    result = []
    for row, (mean, deviation, low, high) in enumerate(zip(*values)):
        if not deviation > 0 or not low < high or (math.isinf(low) and math.isinf(high)):
            raise InvalidArgumentError(None, None, "Invalid parameters")
        result.append(truncated_row(source, mean, deviation, low, high, min(count, size - row * count)))
    return torch.from_numpy(np.concatenate(result) if result else np.empty(0)).to(torch_dtype(dtype)).reshape(sizes)
