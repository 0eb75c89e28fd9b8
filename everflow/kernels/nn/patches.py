"""Convolutions with large filters over few positions, and gradients of images of few channels, as products of matrices.

ATen first brings the filter into blocks that its convolution likes. Where an image has few positions, as in a network's
last layers or with small batches, that costs more than the convolution. Here the patches under the filter are laid out
as the rows of a matrix instead, and TensorFlow's filter ([height, width, in, out]) is the other factor as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

if TYPE_CHECKING:
    from everflow.framework.windows import Format
    from everflow.kernels.nn.convolution import Geometry

_MOST_POSITIONS = 512
_SMALLEST_FILTER = 1 << 14
_MOST_CHANNELS = 3
_DTYPES = (torch.float32, torch.float64)


def suits(
    batch: int, filter_shape: Sequence[int], fit: Geometry, groups: int, form: Format, dtype: torch.dtype
) -> bool:
    """Whether the product of patches is the quicker way."""
    if groups != 1 or form.spatial != 2 or not form.channels_last or dtype not in _DTYPES:
        return False
    height, width, depth, out = filter_shape
    positions = batch * fit.output[0] * fit.output[1]
    return 0 < positions <= _MOST_POSITIONS and height * width * depth * out >= _SMALLEST_FILTER


def forward(x: torch.Tensor, w: torch.Tensor, fit: Geometry) -> torch.Tensor:
    """The convolution of images [N, H, W, C] with a filter [h, w, C, O]."""
    patches, matrix = _patches(x, w.shape, fit), w.reshape(-1, w.shape[3])
    result = patches @ matrix
    return result.view(x.shape[0], *fit.output, -1)


def filter_gradient(x: torch.Tensor, filter_shape: list[int], grad: torch.Tensor, fit: Geometry) -> torch.Tensor:
    """The gradient with respect to the filter."""
    return (_patches(x, filter_shape, fit).t() @ grad.reshape(-1, grad.shape[3])).view(tuple(filter_shape))


def input_gradient(input_shape: list[int], w: torch.Tensor, grad: torch.Tensor, fit: Geometry) -> torch.Tensor:
    """The gradient with respect to the images: each patch's part is added where it was taken."""
    batch, height, width, depth = input_shape
    parts = (grad.reshape(-1, grad.shape[3]) @ w.reshape(-1, w.shape[3]).t()).view(batch, *fit.output, *w.shape[:3])
    top, bottom, left, right = _margins(fit)
    if fit.output == (height, width) and tuple(w.shape[:2]) == (1, 1):
        return parts.view(tuple(input_shape))
    image = grad.new_zeros(batch, top + height + bottom, left + width + right, depth)
    for i in range(w.shape[0]):
        rows = _steps(i * fit.dilation[0], fit.stride[0], fit.output[0])
        for j in range(w.shape[1]):
            image[:, rows, _steps(j * fit.dilation[1], fit.stride[1], fit.output[1])] += parts[:, :, :, i, j]
    return image[:, top : top + height, left : left + width].contiguous()


def suits_image(filter_shape: Sequence[int], grad: torch.Tensor, groups: int, form: Format) -> bool:
    """Whether `image_gradient` is the quicker way. (ATen takes as long for one channel as for sixteen.)"""
    if groups != 1 or form.spatial != 2 or not form.channels_last or grad.dtype not in _DTYPES:
        return False
    return 0 < filter_shape[2] <= _MOST_CHANNELS and grad.numel() > 0


def image_gradient(input_shape: list[int], w: torch.Tensor, grad: torch.Tensor, fit: Geometry) -> torch.Tensor:
    """The gradient with respect to images of few channels, such as those that a network makes or is shown."""
    batch, height, width, depth = input_shape
    places = grad.reshape(batch, fit.output[0] * fit.output[1], -1)
    parts = torch.matmul(w.permute(2, 0, 1, 3).reshape(-1, w.shape[3]), places.mT)
    top, bottom, left, right = _margins(fit)
    size = top + height + bottom, left + width + right
    image = torch.ops.aten.col2im.default(parts, size, tuple(w.shape[:2]), fit.dilation, (0, 0), fit.stride)
    return image[:, :, top : top + height, left : left + width].movedim(1, -1).contiguous()


def _patches(x: torch.Tensor, filter_shape: Sequence[int], fit: Geometry) -> torch.Tensor:
    """A row for each position: what the filter covers there, in the order of the filter's own values."""
    top, bottom, left, right = _margins(fit)
    if top or bottom or left or right:
        x = F.pad(x, (0, 0, left, right, top, bottom))
    elif not x.is_contiguous():
        x = x.contiguous()
    batch, _, _, depth = x.shape
    window = tuple(filter_shape[:2])
    of_image, of_row, of_column, of_channel = x.stride()
    strides = (
        of_image,
        of_row * fit.stride[0],
        of_column * fit.stride[1],
        of_row * fit.dilation[0],
        of_column * fit.dilation[1],
        of_channel,
    )
    return x.as_strided((batch, *fit.output, *window, depth), strides, x.storage_offset()).reshape(
        -1, window[0] * window[1] * depth
    )


def _margins(fit: Geometry) -> tuple[int, int, int, int]:
    """(top, bottom, left, right): what is padded around an image."""
    left, right, top, bottom = fit.extra or (0, 0, 0, 0)
    return fit.padding[0] + top, fit.padding[0] + bottom, fit.padding[1] + left, fit.padding[1] + right


def _steps(start: int, step: int, count: int) -> slice:
    return slice(start, start + step * (count - 1) + 1, step)
