"""Sums, products, maxima and minima of slices: `tf.contrib.reduce_slice_ops`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import fresh

if TYPE_CHECKING:
    from everflow.kernels.context import Node


def _lowest(dtype: torch.dtype) -> float | int:
    return torch.finfo(dtype).min if dtype.is_floating_point else torch.iinfo(dtype).min


def _highest(dtype: torch.dtype) -> float | int:
    return torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(dtype).max


# {op type: the reduction along a dimension, and what an empty slice gives}.
_REDUCTIONS: dict[str, tuple[Callable[..., torch.Tensor], Callable[[torch.dtype], float | int]]] = {
    "ReduceSliceSum": (torch.sum, lambda dtype: 0),
    "ReduceSliceProd": (torch.prod, lambda dtype: 1),
    "ReduceSliceMax": (torch.amax, _lowest),
    "ReduceSliceMin": (torch.amin, _highest),
}


@fresh(*_REDUCTIONS)
def reduce_slices(data: torch.Tensor, indices: torch.Tensor, axis: torch.Tensor, *, node: Node) -> torch.Tensor:
    """One entry for each slice; what lies outside of the data belongs to no slice."""
    along = int(axis)
    if not 0 <= along < data.dim():
        raise InvalidArgumentError(None, None, f"There is no axis {along} in data of shape {list(data.shape)}")
    ends = indices if indices.dim() == 2 else torch.stack([indices[:-1], indices[1:]], 1)
    reduction, empty = _REDUCTIONS[node.type]
    size = data.shape[along]
    shape = [*data.shape[:along], len(ends), *data.shape[along + 1 :]]
    result = torch.full(shape, empty(data.dtype), dtype=data.dtype)
    for place, (first, end) in enumerate(ends.tolist()):
        first, end = max(first, 0), min(end, size)
        if first < end:
            values = reduction(data.narrow(along, first, end - first), dim=along)
            result.select(along, place).copy_(values)
    return result
