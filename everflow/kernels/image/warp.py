"""Warps of images (projective transforms, resampling at points), connected regions and bipartite matching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError, UnimplementedError
from everflow.kernels.array.indexing import add_at
from everflow.kernels.facts import Effect
from everflow.kernels.registry import fresh

if TYPE_CHECKING:
    from everflow.kernels.tensors import AnyTensor


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)


def _show(shape: Sequence[int]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


@fresh("ImageProjectiveTransform")
def image_projective_transform(images: torch.Tensor, transforms: torch.Tensor, *, interpolation: str) -> torch.Tensor:
    return image_projective_transform_v2(
        images, transforms, torch.tensor(images.shape[1:3]), interpolation=interpolation
    )


@fresh("ImageProjectiveTransformV2")
def image_projective_transform_v2(
    images: torch.Tensor, transforms: torch.Tensor, output_shape: torch.Tensor, *, interpolation: str
) -> torch.Tensor:
    """Each output pixel (x, y) takes the input at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), k = c0 x + c1 y +
    1.
    """
    if images.dim() != 4:
        raise _invalid("Images must have rank 4")
    if transforms.dim() != 2 or transforms.shape[1] != 8 or transforms.shape[0] not in (1, images.shape[0]):
        raise _invalid("Input transform should be num_images x 8 or 1 x 8")
    height, width = output_shape.tolist()
    if height <= 0 or width <= 0:
        raise _invalid(f"new_height and new_width should be positive, got {height} and {width}")
    y, x = torch.meshgrid(
        torch.arange(height, dtype=torch.float32), torch.arange(width, dtype=torch.float32), indexing="ij"
    )
    a0, a1, a2, b0, b1, b2, c0, c1 = (t[:, None, None] for t in transforms.float().unbind(1))
    k = c0 * x + c1 * y + 1
    at_x, at_y = (a0 * x + a1 * y + a2) / k, (b0 * x + b1 * y + b2) / k
    batch = torch.arange(images.shape[0])[:, None, None]
    at_x, at_y = (t.expand(images.shape[0], height, width) for t in (at_x, at_y))
    inside_infinity = k != 0
    if interpolation == "NEAREST":
        result = _read(images, batch, _round(at_y), _round(at_x))
    else:
        result = _bilinear(images, batch, at_y, at_x)
    return torch.where(inside_infinity.unsqueeze(-1), result, torch.zeros((), dtype=images.dtype))


def _round(x: torch.Tensor) -> torch.Tensor:
    """Halves away from zero, as C rounds."""
    return torch.sign(x) * torch.floor(x.abs() + 0.5)


def _read(images: torch.Tensor, batch: torch.Tensor, y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Pixels at whole coordinates, zero outside."""
    height, width = images.shape[1:3]
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    rows, columns = (torch.where(inside, t, 0).long() for t in (y, x))
    return torch.where(inside.unsqueeze(-1), images[batch, rows, columns], torch.zeros((), dtype=images.dtype))


def _bilinear(images: torch.Tensor, batch: torch.Tensor, y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    top, left = y.floor(), x.floor()
    down, right = (y - top).unsqueeze(-1), (x - left).unsqueeze(-1)
    corners = [_read(images, batch, top + dy, left + dx).double() for dy in (0, 1) for dx in (0, 1)]
    upper = (1 - right) * corners[0] + right * corners[1]
    lower = (1 - right) * corners[2] + right * corners[3]
    return ((1 - down) * upper + down * lower).to(images.dtype)


# --- resampling at points


def _check_resampler(data: torch.Tensor, warp: torch.Tensor) -> None:
    if data.dim() != 4:
        raise UnimplementedError(
            None,
            None,
            "Only bilinear interpolation is currently supported. The input data shape must be [batch_size, data_height, data_width, "
            f"data_channels], but is: {_show(data.shape)}",
        )
    if warp.dim() < 2:
        raise _invalid(
            f"warp must have an axis of points, and one of their positions, but is of shape {_show(warp.shape)}"
        )
    if warp.shape[-1] != 2:
        raise UnimplementedError(
            None,
            None,
            "Only bilinear interpolation is supported, warping coordinates must be 2D; warp shape last entry should be 2, "
            f"but shape vector is: {_show(warp.shape)}",
        )
    if data.shape[0] != warp.shape[0]:
        raise _invalid(
            f"Batch size of data and warp tensor must be the same, but input shapes are: {_show(data.shape)}, {_show(warp.shape)}"
        )


class _Points:
    """Where points lie between pixels; those beyond a border of one pixel count nothing."""

    def __init__(self, data: torch.Tensor, warp: torch.Tensor) -> None:
        self.height, self.width = data.shape[1:3]
        points = warp.reshape(warp.shape[0], -1, 2)
        x, y = points[..., 0], points[..., 1]
        self.near = (x > -1) & (y > -1) & (x < self.width) & (y < self.height)
        self.left, self.top = x.floor(), y.floor()
        # Weights of the floor's side.
        self.wx, self.wy = self.left + 1 - x, self.top + 1 - y
        self.batch = torch.arange(data.shape[0])[:, None]

    def corner(self, dy: int, dx: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """(rows, columns, weight, valid) of one of the four pixels around."""
        y, x = self.top + dy, self.left + dx
        valid = self.near & (y >= 0) & (y < self.height) & (x >= 0) & (x < self.width)
        weight = (self.wy if dy == 0 else 1 - self.wy) * (self.wx if dx == 0 else 1 - self.wx)
        return torch.where(valid, y, 0).long(), torch.where(valid, x, 0).long(), weight, valid

    def value(self, data: torch.Tensor, dy: int, dx: int) -> torch.Tensor:
        rows, columns, _, valid = self.corner(dy, dx)
        return torch.where(valid.unsqueeze(-1), data[self.batch, rows, columns], torch.zeros((), dtype=data.dtype))


@fresh("Resampler")
def resampler(data: torch.Tensor, warp: torch.Tensor) -> torch.Tensor:
    """Data [batch, height, width, channels] at points [batch, ..., 2] given as (x, y)."""
    _check_resampler(data, warp)
    points = _Points(data, warp)
    total = torch.zeros(())
    for dy in (0, 1):
        for dx in (0, 1):
            total = total + points.corner(dy, dx)[2].unsqueeze(-1) * points.value(data, dy, dx)
    return total.reshape(*warp.shape[:-1], data.shape[3]).to(data.dtype)


@fresh("ResamplerGrad")
def resampler_grad(
    data: torch.Tensor, warp: torch.Tensor, grad_output: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    _check_resampler(data, warp)
    points = _Points(data, warp)
    grads = grad_output.reshape(data.shape[0], -1, data.shape[3])
    grad_data = torch.zeros_like(data)
    for dy in (0, 1):
        for dx in (0, 1):
            rows, columns, weight, valid = points.corner(dy, dx)
            part = torch.where(valid.unsqueeze(-1), grads * weight.unsqueeze(-1), 0).to(data.dtype)
            add_at(grad_data, (points.batch.expand_as(rows), rows, columns), part)
    top_left, top_right, low_left, low_right = (points.value(data, dy, dx) for dy in (0, 1) for dx in (0, 1))
    wx, wy = points.wx.unsqueeze(-1), points.wy.unsqueeze(-1)
    by_x = wy * (top_right - top_left) + (1 - wy) * (low_right - low_left)
    by_y = wx * (low_left - top_left) + (1 - wx) * (low_right - top_right)
    grad_warp = torch.stack([(grads * by_x).sum(-1), (grads * by_y).sum(-1)], dim=-1)
    grad_warp = torch.where(points.near.unsqueeze(-1), grad_warp, 0)
    return grad_data, grad_warp.reshape(warp.shape).to(warp.dtype)


# --- regions and matching


@fresh("ImageConnectedComponents")
def image_connected_components(images: AnyTensor) -> torch.Tensor:
    """Each nonzero pixel's region of equal neighbours, named by its first pixel in the whole batch plus one; zero
    pixels are 0.
    """
    array = images if isinstance(images, np.ndarray) else images.numpy()
    count, height, width = array.shape
    empty = (array == b"") if array.dtype == object else (array == 0)
    parent = list(range(array.size))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    flat, hollow = array.reshape(-1), np.asarray(empty, bool).reshape(-1)
    for i in range(array.size):
        if hollow[i]:
            continue
        row, column = divmod(i % (height * width), width)
        for other, there in ((i - 1, column > 0), (i - width, row > 0)):
            if there and not hollow[other] and flat[other] == flat[i]:
                a, b = sorted((root(i), root(other)))
                parent[b] = a
    labels = np.array([0 if hollow[i] else root(i) + 1 for i in range(array.size)], np.int64)
    return torch.from_numpy(labels.reshape(count, height, width))


@fresh("BipartiteMatch", effect=Effect.PURE)
def bipartite_match(
    distances: torch.Tensor, num_valid_rows: torch.Tensor, *, top_k: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Pairs of rows and columns, nearest first, each used once; -1 for those without a partner."""
    rows, columns = distances.shape
    valid = num_valid_rows.reshape(-1)[0].item()
    valid = rows if valid < 0 else min(int(valid + 0.1), rows)
    limit = columns if top_k <= 0 else min(top_k, columns)
    by_row, by_column = np.full(rows, -1, np.int32), np.full(columns, -1, np.int32)
    table = distances[:valid].numpy()
    matched = 0
    for place in np.argsort(table, axis=None, kind="stable"):
        row, column = divmod(int(place), columns)
        if matched == min(limit, valid):
            break
        if by_row[row] < 0 and by_column[column] < 0:
            by_row[row], by_column[column] = column, row
            matched += 1
    return torch.from_numpy(by_row), torch.from_numpy(by_column)
