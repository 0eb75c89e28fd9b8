"""x + a * y in one pass and with two roundings, as the multiplication and the addition give it.

ATen's own `add(x, y, alpha=a)` multiplies and adds with one rounding wherever the processor can. A division by one in
between keeps the product apart, and takes no longer: memory is what such a pass waits for.
"""

from __future__ import annotations

import torch

# What has no number here is computed in a wider type inside a pass, or exactly anyway: there it takes two.
ONE = {dtype: torch.ones((), dtype=dtype) for dtype in (torch.float32, torch.float64)}


def add_scaled_(x: torch.Tensor, y: torch.Tensor, scale: float) -> torch.Tensor:
    """x += scale * y"""
    one = ONE.get(x.dtype) if x.is_cpu else None
    return x.add_(y * scale) if one is None else x.addcdiv_(y, one, value=scale)


def add_scaled(x: torch.Tensor, y: torch.Tensor, scale: float, out: torch.Tensor | None = None) -> torch.Tensor:
    """x + scale * y"""
    one = ONE.get(x.dtype) if x.is_cpu else None
    return torch.add(x, y * scale, out=out) if one is None else torch.addcdiv(x, y, one, value=scale, out=out)
