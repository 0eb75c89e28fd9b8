"""Kernels of contrib's models: weighted alternating least squares, products at some places, forests and resampling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.formats.murmur import murmur64
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import Effect
from everflow.kernels.registry import fresh, kernel

if TYPE_CHECKING:
    from everflow.framework.shapes import TensorShape
    from everflow.kernels.state import Ref
    from everflow.kernels.tensors import Strings

_STANDARD_SEED = 0xC70F6907


@fresh("MaskedMatmul", threads_matter_from=0)
def masked_matmul(
    a: torch.Tensor, b: torch.Tensor, mask_indices: torch.Tensor, transpose_a: torch.Tensor, transpose_b: torch.Tensor
) -> torch.Tensor:
    """The entries of a product at some places."""
    if a.ndim != 2 or b.ndim != 2 or mask_indices.ndim != 2:
        raise InvalidArgumentError(
            None, None, f"{list(a.shape)} and {list(b.shape)} at {list(mask_indices.shape)} must be matrices"
        )
    a = a.mT if bool(transpose_a) else a
    b = b if bool(transpose_b) else b.mT
    rows, columns = mask_indices.unbind(1)
    for places, size in ((rows, a.shape[0]), (columns, b.shape[0])):
        if places.numel() and not 0 <= int(places.min()) <= int(places.max()) < size:
            raise InvalidArgumentError(None, None, f"mask_indices {places.tolist()} are not all in [0, {size})")
    return (a[rows] * b[columns]).sum(1)


@fresh("WALSComputePartialLhsAndRhs", threads_matter_from=0)
def wals_partial_sides(
    factors: torch.Tensor,
    factor_weights: torch.Tensor,
    unobserved_weights: torch.Tensor,
    input_weights: torch.Tensor,
    input_indices: torch.Tensor,
    input_values: torch.Tensor,
    entry_weights: torch.Tensor,
    input_block_size: torch.Tensor,
    input_is_transpose: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The parts of the normal equations of each row that its entries add."""
    rows, columns = input_indices.unbind(1)[:: -1 if bool(input_is_transpose) else 1]
    weights = entry_weights if entry_weights.numel() else input_weights[rows] * factor_weights[columns]
    used = factors[columns]
    count, width = int(input_block_size), factors.shape[1]
    left, right = factors.new_zeros(count, width, width), factors.new_zeros(count, width)
    left.index_add_(0, rows, weights[:, None, None] * used[:, :, None] * used[:, None, :])
    right.index_add_(0, rows, ((weights + unobserved_weights) * input_values)[:, None] * used)
    return left, right


@kernel("ScatterAddNdim", effect=Effect.ACTS, writes=(0,))
def scatter_add_ndim(input: Ref, indices: torch.Tensor, deltas: torch.Tensor) -> None:
    """Add to entries, or to slices where indices name fewer dimensions."""
    places = tuple(indices.to(torch.int64).unbind(1))
    input.value.index_put_(places, deltas, accumulate=True)


@fresh("ReinterpretStringToFloat", fails=False)
def reinterpret_string_to_float(input_data: Strings) -> torch.Tensor:
    """Hashes of strings, those of C++'s own library, as floats."""
    hashes = [np.float32(murmur64(s, _STANDARD_SEED)) for s in input_data.reshape(-1)]
    return torch.tensor(hashes, dtype=torch.float32).reshape(input_data.shape)


def _periods(size: tuple[int, ...], wanted: TensorShape) -> tuple[list[int], list[int], int]:
    """The shape that a tensor is resampled to, how many entries each one becomes along the dimensions, and the dimension
    that gives them.
    """
    sizes = wanted.as_list()
    if len(sizes) != len(size):
        raise InvalidArgumentError(None, None, f"A tensor of shape {list(size)} cannot be resampled to {sizes}")
    free = [i for i, n in enumerate(sizes) if n is None]
    if len(free) != 1:
        bad = [i for i, n in enumerate(sizes) if n is not None and n < size[i]]
        raise InvalidArgumentError(None, None, f"One dimension of {sizes} must be open; {bad} would shrink")
    (axis,) = free
    for i, n in enumerate(sizes):
        if n is not None and n < size[i]:
            raise InvalidArgumentError(None, None, f"Dimension {i} of {list(size)} would shrink to {n}")
    times = [1 if n is None else math.ceil(n / size[i]) for i, n in enumerate(sizes)]
    if size[axis] < math.prod(times):
        raise InvalidArgumentError(None, None, f"Dimension {axis} of {list(size)} is too small for {sizes}")
    shape = [size[axis] // math.prod(times) if n is None else n for n in sizes]
    return shape, times, axis


def _sources(size: tuple[int, ...], wanted: TensorShape) -> torch.Tensor:
    """For each entry of the result the place of its source in the flat input."""
    shape, times, axis = _periods(size, wanted)
    grid = torch.meshgrid(*(torch.arange(n) for n in shape), indexing="ij")
    turn, stride = torch.zeros(shape, dtype=torch.int64), 1
    for i, n in enumerate(times):
        turn += grid[i] % n * stride
        stride *= n
    flat = torch.zeros(shape, dtype=torch.int64)
    for i, n in enumerate(size):
        flat = flat * n + (turn * shape[axis] + grid[i] if i == axis else grid[i] // times[i])
    return flat


@fresh("PeriodicResample")
def periodic_resample(values: torch.Tensor, *, shape: TensorShape) -> torch.Tensor:
    """Entries along one dimension become neighbours along the others."""
    return values.reshape(-1)[_sources(tuple(values.shape), shape)]


@fresh("PeriodicResampleOpGrad")
def periodic_resample_grad(
    grad: torch.Tensor, *, original_shape: TensorShape, desired_shape: TensorShape
) -> torch.Tensor:
    size = tuple(int(n) for n in original_shape.as_list() if n is not None)
    result = grad.new_zeros(math.prod(size))
    result.index_add_(0, _sources(size, desired_shape).reshape(-1), grad.reshape(-1))
    return result.reshape(size)
