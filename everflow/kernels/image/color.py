"""Colour of images: HSV and back, and the fused adjustments of contrast, hue and saturation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from everflow.framework.errors import FailedPreconditionError, InvalidArgumentError
from everflow.kernels.image.resize import PIXELS
from everflow.kernels.registry import fresh
from everflow.native.loops.library import Library

_COLORS = Library("colors", cost=4)


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)


def _show(shape: Sequence[int]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def _check_colors(images: torch.Tensor) -> None:
    if images.dim() < 1:
        raise _invalid("input must be at least 1D" + _show(images.shape))
    if images.shape[-1] != 3:
        raise FailedPreconditionError(
            None, None, f"input must have 3 channels but input only has {images.shape[-1]} channels."
        )


def _check_adjustment(images: torch.Tensor, amount: torch.Tensor, name: str) -> None:
    if images.dim() < 3:
        raise _invalid("input must be at least 3-D, got shape" + _show(images.shape))
    if amount.dim() != 0:
        raise _invalid(f"{name} must be scalar: {_show(amount.shape)}")
    if name != "contrast_factor" and images.shape[-1] != 3:
        raise _invalid(f"input must have 3 channels but instead has {images.shape[-1]} channels.")


def _planes(images: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Red, green and blue, each contiguous: much faster than strides of three."""
    return images.movedim(-1, 0).contiguous().unbind(0)


def _extremes(
    red: torch.Tensor, green: torch.Tensor, blue: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Each pixel's largest and smallest channel, and how far they are apart."""
    high = torch.maximum(torch.maximum(red, green), blue)
    low = torch.minimum(torch.minimum(red, green), blue)
    return high, low, high - low


def _to_hsv(
    red: torch.Tensor, green: torch.Tensor, blue: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    value, _, spread = _extremes(red, green, blue)
    saturation = torch.where(value > 0, spread / value, 0)
    norm = 1 / (6 * spread)
    # Where two channels are the largest, red goes before green before blue.
    hue = torch.where(
        red == value,
        (green - blue) * norm,
        torch.where(green == value, (blue - red) * norm + 2 / 6, (red - green) * norm + 4 / 6),
    )
    hue = torch.where(spread > 0, hue, 0)
    return torch.where(hue < 0, hue + 1, hue), saturation, value


def _ramps(sixths: torch.Tensor) -> list[torch.Tensor]:
    """How much of red, green and blue a hue has, by its angle in sixths of the circle."""
    return [
        part.clamp_(0, 1) for part in ((sixths - 3).abs_().sub_(1), 2 - (sixths - 2).abs_(), 2 - (sixths - 4).abs_())
    ]


def _to_rgb(hue: torch.Tensor, saturation: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return torch.stack([(1 - saturation + saturation * ramp) * value for ramp in _ramps(hue * 6)], dim=-1)


@fresh("RGBToHSV")
def rgb_to_hsv(images: torch.Tensor) -> torch.Tensor:
    _check_colors(images)
    return torch.stack(_to_hsv(*_planes(images)), dim=-1).to(images.dtype)


@fresh("HSVToRGB")
def hsv_to_rgb(images: torch.Tensor) -> torch.Tensor:
    _check_colors(images)
    return _to_rgb(*_planes(images))


@fresh("AdjustContrastv2")
def adjust_contrast(images: torch.Tensor, contrast_factor: torch.Tensor) -> torch.Tensor:
    """Scale the distance of each channel from its mean over one image."""
    _check_adjustment(images, contrast_factor, "contrast_factor")
    x = images.float()
    mean = x.mean(dim=(-3, -2), keepdim=True)
    return ((x - mean) * contrast_factor + mean).to(images.dtype)


@fresh("AdjustContrast")
def adjust_contrast_v1(
    images: torch.Tensor, contrast_factor: torch.Tensor, min_value: torch.Tensor, max_value: torch.Tensor
) -> torch.Tensor:
    """The first version of the op: floats out, cut to a range."""
    _check_adjustment(images, contrast_factor, "contrast_factor")
    return adjust_contrast(images.float(), contrast_factor).clamp(min_value.item(), max_value.item())


def _looped(name: str, images: torch.Tensor, amount: float) -> torch.Tensor | None:
    """Colours changed by a compiled loop, where there is one and all are numbers."""
    code = _COLORS.ready(images.numel() // PIXELS)
    if code is None or not math.isfinite(amount):
        return None
    given = images.float().contiguous()
    out = torch.empty(images.shape)
    if getattr(code.free, name)(given.data_ptr(), given.numel() // 3, amount, out.data_ptr()) < 0:
        return None
    return out.to(images.dtype)


@fresh("AdjustHue")
def adjust_hue(images: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    """Turn the hue, leaving each pixel's largest and smallest channel as they are."""
    _check_adjustment(images, delta, "delta")
    turn = (delta * 6).item()
    found = _looped("turn_hue", images, turn) if abs(turn) <= 6 else None
    if found is not None:
        return found
    red, green, blue = _planes(images.float())
    high, low, spread = _extremes(red, green, blue)
    hue = torch.where(
        red == high,
        (green - blue) / spread,
        torch.where(green == high, 2 + (blue - red) / spread, 4 + (red - green) / spread),
    )
    hue = torch.where(spread > 0, hue, 0)
    hue = torch.remainder(hue + delta * 6, 6)
    return torch.stack([low + spread * ramp for ramp in _ramps(hue)], dim=-1).to(images.dtype)


@fresh("AdjustSaturation")
def adjust_saturation(images: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    _check_adjustment(images, scale, "scale")
    found = _looped("scale_saturation", images, scale.item())
    if found is not None:
        return found
    hue, saturation, value = _to_hsv(*_planes(images.float()))
    return _to_rgb(hue, (saturation * scale).clamp(0, 1), value).to(images.dtype)


# RGB as one part of light and two of color, in which a turn is another hue.
_YIQ = torch.tensor([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])


@fresh("AdjustHsvInYiq", threads_matter_from=0)
def adjust_hsv_in_yiq(
    images: torch.Tensor, delta_h: torch.Tensor, scale_s: torch.Tensor, scale_v: torch.Tensor
) -> torch.Tensor:
    """Turn hues, and scale saturation and value, by one matrix."""
    if images.dim() < 3:
        raise _invalid(f"Images have three axes or more, these are of shape {list(images.shape)}")
    angle, value = float(delta_h), float(scale_v)
    u, w = (value * float(scale_s) * f(angle) for f in (math.cos, math.sin))
    turn = torch.tensor([[value, 0.0, 0.0], [0.0, u, -w], [0.0, w, u]])
    matrix = (torch.linalg.inv(_YIQ.double()) @ turn.double() @ _YIQ.double()).to(images.dtype)
    return images @ matrix.mT
