"""Many images at once, each of its own size, until they are cropped or resized to one: what input pipelines make of
functions that decode images (`ops/parallel_for/images.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.array.indexing import slice_
from everflow.kernels.facts import view
from everflow.kernels.image import resize
from everflow.kernels.image.codecs import decode, jpeg_options
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.tensors import Strings, torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType


class Images:
    """Images one by one; those of one size lie behind each other in `block`."""

    def __init__(self, images: list[torch.Tensor], block: torch.Tensor | None) -> None:
        self.images, self.block = images, block

    def stacked(self) -> torch.Tensor:
        """All of them as one tensor; InvalidArgumentError where they are of different sizes."""
        if self.block is not None:
            return self.block
        shapes = {tuple(image.shape) for image in self.images}
        if len(shapes) > 1:
            raise InvalidArgumentError(None, None, f"Images of different sizes in one block: {sorted(shapes)}")
        return torch.stack(self.images)


def _decoded(contents: Strings, one: Callable[[Strings, np.ndarray | None], torch.Tensor]) -> Images:
    """Each image is decoded to its place behind the others where its size and format allow it."""
    images: list[torch.Tensor] = []
    block: torch.Tensor | None = None
    places: np.ndarray | None = None
    is_filled = True
    for i in range(contents.size):
        image = one(contents[i : i + 1].reshape(()), None if places is None else places[i])
        if block is None:
            block = torch.empty((contents.size, *image.shape), dtype=image.dtype)
            places = block.numpy()
        if image.shape != block.shape[1:]:
            is_filled = False
        elif image.data_ptr() != block[i].data_ptr():
            block[i].copy_(image)
        images.append(image)
    return Images(images, block if is_filled else None)


@fresh("_DecodeJpegs")
def decode_jpegs(
    contents: Strings,
    *,
    channels: int,
    ratio: int,
    fancy_upscaling: bool,
    try_recover_truncated: bool,
    acceptable_fraction: float,
    dct_method: str,
) -> Images:
    options = jpeg_options(ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    return _decoded(contents, lambda data, into: decode(data, channels, options=options, into=into))


@fresh("_DecodePngs")
def decode_pngs(contents: Strings, *, channels: int, dtype: DType) -> Images:
    return _decoded(contents, lambda data, into: decode(data, channels, dtype))


@fresh("_ImageShapes")
def image_shapes(images: Images, *, out_type: DType) -> torch.Tensor:
    return torch.tensor([image.shape for image in images.images], dtype=torch_dtype(out_type))


@fresh("_CropImages")
def crop_images(images: Images, begin: torch.Tensor, size: torch.Tensor, *, T: DType) -> torch.Tensor:
    first = slice_(images.images[0], begin[0], size)
    out = torch.empty((len(images.images), *first.shape), dtype=torch_dtype(T))
    rows, columns, depth = first.shape
    places = out.numpy()
    for place, image, (top, left, front) in zip(places, images.images, begin.tolist(), strict=True):
        part = image.numpy()[top : top + rows, left : left + columns, front : front + depth]
        if min(top, left, front) < 0 or part.shape != place.shape:
            raise InvalidArgumentError(
                None, None, f"A part of shape {list(place.shape)} at {[top, left, front]} is not in the image"
            )
        place[...] = part
    return out


@kernel("_StackImages", result=view(0))
def stack_images(images: Images) -> torch.Tensor:
    return images.stacked()


def _resized(images: Images, one: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    if images.block is not None:
        return one(images.block)
    return torch.cat([one(image[None]) for image in images.images])


def _register_resizer(op_type: str, resized: Callable[..., torch.Tensor]) -> None:
    @fresh(op_type)
    def run(images: Images, size: torch.Tensor, *, align_corners: bool, half_pixel_centers: bool) -> torch.Tensor:
        options = {"align_corners": align_corners, "half_pixel_centers": half_pixel_centers}
        return _resized(images, lambda given: resized(given, size, **options))


_register_resizer("_ResizeBicubics", resize.resize_bicubic)
_register_resizer("_ResizeBilinears", resize.resize_bilinear)
_register_resizer("_ResizeNearestNeighbors", resize.resize_nearest_neighbor)


@fresh("_ResizeAreas")
def resize_areas(images: Images, size: torch.Tensor, *, align_corners: bool) -> torch.Tensor:
    return _resized(images, lambda given: resize.resize_area(given, size, align_corners=align_corners))
