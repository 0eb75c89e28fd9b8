"""Casts between number types as x86 does them, and complex numbers from and into their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from everflow.framework import dtypes
from everflow.framework.errors import UnimplementedError
from everflow.kernels.array.masks import as_numbers
from everflow.kernels.facts import same, view
from everflow.kernels.registry import kernel, safe, specialize
from everflow.kernels.tensors import torch_dtype
from everflow.native.lowering import lowers
from everflow.native.values import Value

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node

# A float becomes a small integer by way of this wider one, whose low bits are kept.
_BY_WAY_OF = {
    torch.int8: torch.int32,
    torch.uint8: torch.int32,
    torch.int16: torch.int32,
    torch.uint16: torch.int32,
    torch.uint32: torch.int64,
}
_NOT_NUMBERS = (dtypes.string, dtypes.resource, dtypes.variant)
# Bits of the mantissa that a narrower type drops, and the integer type of the same width.
_DROPPED_BITS = {
    (torch.float64, torch.float32): (29, torch.int64),
    (torch.float64, torch.bfloat16): (45, torch.int64),
    (torch.float64, torch.float16): (42, torch.int64),
    (torch.float32, torch.bfloat16): (16, torch.int32),
    (torch.float32, torch.float16): (13, torch.int32),
}


@kernel("Cast", result=same(0), fails=False)
def cast(x: torch.Tensor, *, SrcT: DType, DstT: DType, Truncate: bool) -> torch.Tensor:
    return caster(SrcT, DstT, Truncate)(x)


@specialize("Cast")
def _cast_of_node(node: Node) -> Callable | None:
    return caster(node.attrs["SrcT"], node.attrs["DstT"], node.attrs["Truncate"])


def caster(source: DType, target: DType, truncate: bool = False) -> Callable[..., torch.Tensor]:
    """The function that casts tensors from one DType to another."""
    source, target = source.base_dtype, target.base_dtype
    if source == target:
        return _same
    if source in _NOT_NUMBERS or target in _NOT_NUMBERS:
        raise UnimplementedError(None, None, f"Cast {source.name} to {target.name} is not supported")
    have, want = torch_dtype(source), torch_dtype(target)
    if have.is_complex and not want.is_complex:
        if have.to_real() is want:
            return lambda x: x.real.clone()
        parts = _plain(have.to_real(), want)
        return lambda x: parts(x.real)
    if truncate and (have, want) in _DROPPED_BITS:
        bits, integers = _DROPPED_BITS[have, want]
        return lambda x: (x.view(integers) >> bits << bits).view(have).to(want)
    return _plain(have, want)


def _same(x: torch.Tensor) -> torch.Tensor:
    return x


def _plain(have: torch.dtype, want: torch.dtype) -> Callable:
    if have.is_floating_point and want in _BY_WAY_OF:
        wide = _BY_WAY_OF[want]
        return lambda x: x.to(wide).to(want)
    if have.is_floating_point and want is torch.uint64:
        return _float_to_uint64
    if have is torch.bool:
        return lambda x: as_numbers(x, want)
    return lambda x: x.to(want)


def _float_to_uint64(x: torch.Tensor) -> torch.Tensor:
    """Below 2**63 as a signed integer; from there on with the top bit added by hand, as compilers write it for x86."""
    x = x.to(torch.float64)
    high = x >= 2.0**63
    low_part = torch.where(high, x - 2.0**63, x).to(torch.int64)
    return torch.where(high, low_part ^ torch.iinfo(torch.int64).min, low_part).view(torch.uint64)


@safe("Complex")
def make_complex(real: torch.Tensor, imag: torch.Tensor) -> torch.Tensor:
    real, imag = torch.broadcast_tensors(real, imag)
    return torch.complex(real, imag)


@kernel("Real", result=view(0), fails=False)
def real(input: torch.Tensor) -> torch.Tensor:
    return input.real if input.is_complex() else input


@kernel("Imag", result=view(0), fails=False)
def imag(input: torch.Tensor) -> torch.Tensor:
    return input.imag if input.is_complex() else torch.zeros_like(input)


@safe("Conj")
def conj(input: torch.Tensor) -> torch.Tensor:
    return torch.conj_physical(input)


for _name, _function in {"Angle": torch.angle, "ComplexAbs": torch.abs}.items():
    safe(_name)(_function)


@lowers("Cast")
def _lower_cast(x: Value, *, DstT: DType, Truncate: bool) -> Value | None:
    return None if Truncate else x.cast(DstT.as_numpy_dtype)
