"""Pieces of images: crops resized to one size with their gradients, and glimpses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from everflow.framework.errors import InvalidArgumentError, OutOfRangeError
from everflow.kernels.array.indexing import add_at
from everflow.kernels.facts import Effect
from everflow.kernels.image.resize import LOOPS, PIXELS
from everflow.kernels.registry import fresh
from everflow.kernels.tensors import torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)


def _show(shape: Sequence[int]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def _check_boxes(boxes: torch.Tensor, box_ind: torch.Tensor, batch: int) -> None:
    if boxes.dim() != 2:
        raise _invalid("boxes must be 2-D" + _show(boxes.shape))
    if boxes.shape[1] != 4:
        raise _invalid("boxes must have 4 columns")
    if box_ind.shape != boxes.shape[:1]:
        raise _invalid("box_index has incompatible shape")
    if box_ind.numel() and (int(box_ind.min()) < 0 or int(box_ind.max()) >= batch):
        raise OutOfRangeError(None, None, "box_index has values outside [0, batch_size)")


def _positions(
    low: torch.Tensor, high: torch.Tensor, image_size: int, crop_size: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """[boxes, crop_size] positions along one axis of the image, and which of them lie inside."""
    edge = image_size - 1
    if crop_size > 1:
        step = (high - low) * edge / (crop_size - 1)
        at = (low * edge)[:, None] + torch.arange(crop_size, dtype=torch.float32) * step[:, None]
    else:
        at = (0.5 * (low + high) * edge)[:, None]
    return at, (at >= 0) & (at <= edge)


class _Grid:
    """Where each pixel of each crop lies in the image."""

    def __init__(
        self, boxes: torch.Tensor, image_height: int, image_width: int, crop_height: int, crop_width: int
    ) -> None:
        top, left, bottom, right = boxes.unbind(1)
        self.rows, self.rows_inside = _positions(top, bottom, image_height, crop_height)
        self.columns, self.columns_inside = _positions(left, right, image_width, crop_width)
        # Positions outside are computed and thrown away: keep them readable.
        self.rows = torch.where(self.rows_inside, self.rows, 0)
        self.columns = torch.where(self.columns_inside, self.columns, 0)

    @property
    def inside(self) -> torch.Tensor:
        return (self.rows_inside[:, :, None] & self.columns_inside[:, None, :]).unsqueeze(-1)

    def neighbours(
        self,
    ) -> tuple[tuple[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor], torch.Tensor, torch.Tensor]:
        """Floor and ceiling rows and columns, and how far the position is from the floor."""
        low_row, low_column = self.rows.floor(), self.columns.floor()
        row_part, column_part = self.rows - low_row, self.columns - low_column
        rows = low_row.long(), self.rows.ceil().long()
        columns = low_column.long(), self.columns.ceil().long()
        return rows, columns, row_part[:, :, None, None], column_part[:, None, :, None]

    def nearest(self) -> tuple[torch.Tensor, torch.Tensor]:
        return (self.rows + 0.5).floor().long(), (self.columns + 0.5).floor().long()


def _pick(image: torch.Tensor, box_ind: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    return image[box_ind.long()[:, None, None], rows[:, :, None], columns[:, None, :]].float()


def _between(a: torch.Tensor, b: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
    return a + (b - a) * part


def _by_loop(
    image: torch.Tensor, boxes: torch.Tensor, box_ind: torch.Tensor, height: int, width: int, outside: float
) -> torch.Tensor | None:
    """By a compiled loop, where there is one for such images."""
    code = LOOPS.ready(len(boxes) * height * width // PIXELS) if image.dtype in (torch.uint8, torch.float32) else None
    if code is None:
        return None
    given, around, which = image.contiguous(), boxes.contiguous(), box_ind.contiguous()
    channels = image.shape[3]
    out = torch.empty(len(boxes), height, width, channels)
    room = torch.empty((image.shape[2] + 5 * width) * channels)
    code.free.crops(
        given.data_ptr(),
        given.dtype is torch.float32,
        *image.shape[1:],
        around.data_ptr(),
        len(boxes),
        which.data_ptr(),
        height,
        width,
        outside,
        room.data_ptr(),
        out.data_ptr(),
    )
    return out


@fresh("CropAndResize")
def crop_and_resize(
    image: torch.Tensor,
    boxes: torch.Tensor,
    box_ind: torch.Tensor,
    crop_size: torch.Tensor,
    *,
    method: str,
    extrapolation_value: float,
) -> torch.Tensor:
    if image.dim() != 4:
        raise _invalid("input image must be 4-D" + _show(image.shape))
    if crop_size.dim() != 1:
        raise _invalid("crop_size must be 1-D" + _show(crop_size.shape))
    if crop_size.numel() != 2:
        raise _invalid("crop_size must have two elements" + _show(crop_size.shape))
    height, width = crop_size.tolist()
    if height <= 0 or width <= 0:
        raise _invalid("crop dimensions must be positive")
    _check_boxes(boxes, box_ind, image.shape[0])
    if not len(boxes):
        return torch.zeros((0, height, width, image.shape[3]))
    if image.shape[1] == 0 or image.shape[2] == 0:
        raise _invalid("image dimensions must be positive")
    found = _by_loop(image, boxes, box_ind, height, width, extrapolation_value) if method == "bilinear" else None
    if found is not None:
        return found
    grid = _Grid(boxes, image.shape[1], image.shape[2], height, width)
    if method == "nearest":
        crops = _pick(image, box_ind, *grid.nearest())
    else:
        (top, bottom), (left, right), row_part, column_part = grid.neighbours()
        upper = _between(_pick(image, box_ind, top, left), _pick(image, box_ind, top, right), column_part)
        lower = _between(_pick(image, box_ind, bottom, left), _pick(image, box_ind, bottom, right), column_part)
        crops = _between(upper, lower, row_part)
    return torch.where(grid.inside, crops, extrapolation_value)


@fresh("CropAndResizeGradImage")
def crop_and_resize_grad_image(
    grads: torch.Tensor, boxes: torch.Tensor, box_ind: torch.Tensor, image_size: torch.Tensor, *, method: str, T: DType
) -> torch.Tensor:
    if image_size.dim() != 1 or image_size.numel() != 4:
        raise _invalid("image_size must have 4 elements" + _show(image_size.shape))
    batch, height, width, depth = image_size.tolist()
    _check_boxes(boxes, box_ind, batch)
    grid = _Grid(boxes, height, width, grads.shape[1], grads.shape[2])
    grads = torch.where(grid.inside, grads, 0)
    result = torch.zeros((batch, height, width, depth))
    which = box_ind.long()[:, None, None]

    def add(rows: torch.Tensor, columns: torch.Tensor, part: torch.Tensor) -> None:
        add_at(result, (which, rows[:, :, None], columns[:, None, :]), part)

    if method == "nearest":
        add(*grid.nearest(), grads)
    else:
        (top, bottom), (left, right), row_part, column_part = grid.neighbours()
        upper, lower = grads * (1 - row_part), grads * row_part
        add(top, left, upper * (1 - column_part))
        add(top, right, upper * column_part)
        add(bottom, left, lower * (1 - column_part))
        add(bottom, right, lower * column_part)
    return result.to(torch_dtype(T))


@fresh("CropAndResizeGradBoxes")
def crop_and_resize_grad_boxes(
    grads: torch.Tensor, image: torch.Tensor, boxes: torch.Tensor, box_ind: torch.Tensor
) -> torch.Tensor:
    _check_boxes(boxes, box_ind, image.shape[0])
    crop_height, crop_width = grads.shape[1:3]
    grid = _Grid(boxes, image.shape[1], image.shape[2], crop_height, crop_width)
    (top, bottom), (left, right), row_part, column_part = grid.neighbours()
    top_left, top_right = _pick(image, box_ind, top, left), _pick(image, box_ind, top, right)
    bottom_left, bottom_right = _pick(image, box_ind, bottom, left), _pick(image, box_ind, bottom, right)
    grads = torch.where(grid.inside, grads, 0)
    by_row = grads * ((1 - column_part) * (bottom_left - top_left) + column_part * (bottom_right - top_right))
    by_column = grads * ((1 - row_part) * (top_right - top_left) + row_part * (bottom_right - bottom_left))
    low_row, high_row = _corner_grads(by_row.sum((2, 3)), image.shape[1], crop_height)
    low_column, high_column = _corner_grads(by_column.sum((1, 3)), image.shape[2], crop_width)
    return torch.stack([low_row, low_column, high_row, high_column], dim=1)


def _corner_grads(grads: torch.Tensor, image_size: int, crop_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradients of both ends of an axis from those of the positions between them."""
    edge = image_size - 1
    if crop_size == 1:
        half = grads.sum(1) * 0.5 * edge
        return half, half
    share = torch.arange(crop_size, dtype=torch.float32) * (edge / (crop_size - 1))
    return (grads * (edge - share)).sum(1), (grads * share).sum(1)


@fresh("ExtractGlimpse", effect=Effect.RANDOM)
def extract_glimpse(
    images: torch.Tensor,
    size: torch.Tensor,
    offsets: torch.Tensor,
    *,
    centered: bool,
    normalized: bool,
    uniform_noise: bool,
    noise: str,
) -> torch.Tensor:
    """A window of each image around (or from) its offset; what lies beyond the image is noise, or zero."""
    if images.dim() != 4:
        raise _invalid("input must be 4-dimensional (batch_size, height, width, depth)" + _show(images.shape))
    if size.dim() != 1 or size.numel() != 2:
        raise _invalid("input must be a vector of size 2 (height, width)" + _show(size.shape))
    if offsets.dim() != 2:
        raise _invalid("input must be a matrix" + _show(offsets.shape))
    if offsets.shape[0] != images.shape[0]:
        raise _invalid("first dimension should be batch" + _show(offsets.shape))
    if offsets.shape[1] != 2:
        raise _invalid("second dimension should be of size 2 (y,x)" + _show(offsets.shape))
    if uniform_noise and noise not in ("uniform", ""):
        raise _invalid("The uniform_noise and noise should not be specified at the same time")
    _, height, width, _ = images.shape
    rows, columns = size.tolist()
    whole, window = (
        torch.tensor([height, width], dtype=torch.float32),
        torch.tensor([rows, columns], dtype=torch.float32),
    )
    at = offsets.float() * whole if normalized else offsets.float()
    if centered:
        at = at / 2 + whole / 2
    at = at - window / 2
    result = _noise(images, rows, columns, "uniform" if uniform_noise else noise)
    for i, (top, left) in enumerate(at.long().tolist()):
        from_top, from_left = max(top, 0), max(left, 0)
        to_bottom, to_right = min(top + rows, height), min(left + columns, width)
        if from_top < to_bottom and from_left < to_right:
            piece = images[i, from_top:to_bottom, from_left:to_right]
            result[i, from_top - top : to_bottom - top, from_left - left : to_right - left] = piece
    return result


def _noise(images: torch.Tensor, rows: int, columns: int, kind: str) -> torch.Tensor:
    """What fills a glimpse beyond the image: noise within the range of the image's values."""
    batch, _, _, depth = images.shape
    shape = (batch, rows, columns, depth)
    if kind == "zero" or not images.numel():
        return torch.zeros(shape)
    low, high = images.amin((1, 2, 3), keepdim=True), images.amax((1, 2, 3), keepdim=True)
    if kind == "gaussian":
        deviation, mean = torch.std_mean(images, dim=(1, 2), correction=0, keepdim=True)
        return torch.clamp(torch.randn(shape) * deviation + mean, low, high)
    if kind != "uniform":
        raise _invalid(f"The noise should be uniform, gaussian, or zero, got {kind}")
    return torch.rand(shape) * (high - low) + low
