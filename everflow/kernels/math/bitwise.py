"""Logic on the bits of integers, of signed and unsigned types of every width."""

from __future__ import annotations

import torch

from everflow.kernels.registry import safe

for _name, _function in {
    "BitwiseAnd": torch.bitwise_and,
    "BitwiseOr": torch.bitwise_or,
    "BitwiseXor": torch.bitwise_xor,
}.items():
    safe(_name)(_function)

# Unsigned types that torch can't invert or shift share their bits with a signed one.
_SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


@safe("Invert")
def invert(x: torch.Tensor) -> torch.Tensor:
    signed = _SIGNED.get(x.dtype)
    return torch.bitwise_not(x) if signed is None else torch.bitwise_not(x.view(signed)).view(x.dtype)


def _shift_count(y: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """`y` within [0, width): where the processor's result would be undefined, TensorFlow takes the nearest count."""
    width = dtype.itemsize * 8
    if dtype in _SIGNED:
        signed = y.view(_SIGNED[dtype])
        return torch.where((signed < 0) | (signed >= width), width - 1, signed)
    return y.clamp(0, width - 1)


@safe("LeftShift")
def left_shift(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    count = _shift_count(y, x.dtype)
    signed = _SIGNED.get(x.dtype)
    if signed is None:
        return torch.bitwise_left_shift(x, count)
    return torch.bitwise_left_shift(x.view(signed), count).view(x.dtype)


@safe("RightShift")
def right_shift(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    count = _shift_count(y, x.dtype)
    signed = _SIGNED.get(x.dtype)
    if signed is None:
        return torch.bitwise_right_shift(x, count)
    # The sign bit comes along as ones; the mask clears them.
    shifted = torch.bitwise_right_shift(x.view(signed), count)
    mask = torch.bitwise_not(
        torch.bitwise_left_shift(torch.full((), -1, dtype=signed), x.dtype.itemsize * 8 - 1 - count) << 1
    )
    return torch.bitwise_and(shifted, mask).view(x.dtype)


@safe("PopulationCount")
def population_count(x: torch.Tensor) -> torch.Tensor:
    x = x.contiguous()
    octets = x.unsqueeze(-1).view(torch.uint8)
    bits = octets.unsqueeze(-1).bitwise_right_shift(torch.arange(8, dtype=torch.uint8, device=x.device)).bitwise_and(1)
    return bits.sum(dim=(-1, -2), dtype=torch.uint8)
