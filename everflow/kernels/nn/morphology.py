"""Grey-scale morphology: dilation by a structuring function, and its gradients."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from everflow.framework.errors import InvalidArgumentError, UnimplementedError
from everflow.framework.windows import Window, slide
from everflow.kernels.nn.activations import with_unsigned
from everflow.kernels.registry import fresh


def _taps(
    x: torch.Tensor, w: torch.Tensor, strides: list[int], rates: list[int], padding: str
) -> tuple[torch.Tensor, Window, Window]:
    """[taps, N, rows, columns, C]: what each cell of the filter sees; outside of the image it sees the lowest number."""
    if (strides[0], strides[3], rates[0], rates[3]) != (1, 1, 1, 1):
        raise UnimplementedError(None, None, f"Dilations go over space only, got strides {strides} and rates {rates}")
    if x.dim() != 4 or w.dim() != 3:
        raise InvalidArgumentError(
            None, None, f"input must be 4-dimensional and filter 3-dimensional: {list(x.shape)}, {list(w.shape)}"
        )
    if x.shape[3] != w.shape[2]:
        raise InvalidArgumentError(
            None, None, f"input and filter must have the same depth: {x.shape[3]} vs {w.shape[2]}"
        )
    rows = slide(x.shape[1], w.shape[0], strides[1], padding, rates[1])
    columns = slide(x.shape[2], w.shape[1], strides[2], padding, rates[2])
    lowest = torch.finfo(x.dtype).min if x.is_floating_point() else torch.iinfo(x.dtype).min
    inside = F.pad(
        torch.ones(x.shape[1:3], dtype=torch.bool, device=x.device),
        (columns.before, columns.after, rows.before, rows.after),
    )
    padded = F.pad(x, (0, 0, columns.before, columns.after, rows.before, rows.after))
    taps = []
    for row in range(w.shape[0]):
        for column in range(w.shape[1]):
            window = (
                slice(row * rates[1], row * rates[1] + (rows.output - 1) * strides[1] + 1, strides[1]),
                slice(column * rates[2], column * rates[2] + (columns.output - 1) * strides[2] + 1, strides[2]),
            )
            mask = inside[window].unsqueeze(-1)
            taps.append(torch.where(mask, padded[:, window[0], window[1]] + w[row, column], lowest))
    return torch.stack(taps), rows, columns


@fresh("Dilation2D")
@with_unsigned
def dilation2d(x: torch.Tensor, w: torch.Tensor, *, strides: list[int], rates: list[int], padding: str) -> torch.Tensor:
    return _taps(x, w, strides, rates, padding)[0].amax(0)


def _chosen(
    x: torch.Tensor, w: torch.Tensor, grad: torch.Tensor, strides: list[int], rates: list[int], padding: str
) -> tuple[torch.Tensor, Window, Window]:
    """Which tap was the largest, the first of equal ones, and the windows."""
    taps, rows, columns = _taps(x, w, strides, rates, padding)
    if grad.shape != taps.shape[1:]:
        raise InvalidArgumentError(
            None, None, f"out_backprop has shape {list(grad.shape)}, expected {list(taps.shape[1:])}"
        )
    return taps.max(0).indices, rows, columns


@fresh("Dilation2DBackpropInput")
@with_unsigned
def dilation2d_backprop_input(
    x: torch.Tensor, w: torch.Tensor, grad: torch.Tensor, *, strides: list[int], rates: list[int], padding: str
) -> torch.Tensor:
    tap, rows, columns = _chosen(x, w, grad, strides, rates, padding)
    row = (
        torch.arange(rows.output, device=x.device).view(1, -1, 1, 1) * strides[1]
        - rows.before
        + tap // w.shape[1] * rates[1]
    )
    column = (
        torch.arange(columns.output, device=x.device).view(1, 1, -1, 1) * strides[2]
        - columns.before
        + tap % w.shape[1] * rates[2]
    )
    batch, height, width, channels = x.shape
    place = (row * width + column).flatten(1, 2)
    return grad.new_zeros((batch, height * width, channels)).scatter_add_(1, place, grad.flatten(1, 2)).view(x.shape)


@fresh("Dilation2DBackpropFilter")
@with_unsigned
def dilation2d_backprop_filter(
    x: torch.Tensor, w: torch.Tensor, grad: torch.Tensor, *, strides: list[int], rates: list[int], padding: str
) -> torch.Tensor:
    tap = _chosen(x, w, grad, strides, rates, padding)[0]
    flat = grad.new_zeros((w.shape[0] * w.shape[1], w.shape[2]))
    return flat.scatter_add_(0, tap.flatten(0, 2), grad.flatten(0, 2)).view(w.shape)
