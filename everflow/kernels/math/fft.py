"""Fourier transforms over the last one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import library


def _check_rank(x: torch.Tensor, rank: int) -> None:
    if x.dim() < rank:
        shape = ",".join(map(str, x.shape))
        raise InvalidArgumentError(None, None, f"Input must have rank of at least {rank} but got: [{shape}]")


def _complex(transform: Callable, rank: int) -> Callable[..., torch.Tensor]:
    def fft(x: torch.Tensor) -> torch.Tensor:
        _check_rank(x, rank)
        return transform(x, dim=_last(rank)) if x.numel() else x

    return fft


def _last(rank: int) -> tuple[int, ...]:
    return tuple(range(-rank, 0))


def _crop(x: torch.Tensor, lengths: list[int]) -> torch.Tensor:
    """The leading `lengths` of the last dimensions; shorter inputs are refused, as the build functions pad them."""
    for i, length in enumerate(lengths):
        axis = i - len(lengths)
        if length < 0 or x.shape[axis] < length:
            raise InvalidArgumentError(
                None,
                None,
                f"Input dimension {x.dim() + axis} must have length of at least {length % 2**64} but got: {x.shape[axis]}",
            )
    leading: Any = (..., *map(slice, lengths))
    return x[leading]


def _real(rank: int) -> Callable[..., torch.Tensor]:
    def rfft(x: torch.Tensor, fft_length: torch.Tensor) -> torch.Tensor:
        _check_rank(x, rank)
        if tuple(fft_length.shape) != (rank,):
            raise InvalidArgumentError(None, None, f"fft_length must have shape [{rank}]")
        lengths = fft_length.tolist()
        x = _crop(x, lengths)
        if not x.numel():
            return x.new_zeros((*x.shape[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0), dtype=_complex_type(x))
        return torch.fft.rfftn(x, dim=_last(rank))

    return rfft


def _complex_type(x: torch.Tensor) -> torch.dtype:
    return torch.complex128 if x.dtype is torch.float64 else torch.complex64


def _inverse_real(rank: int) -> Callable[..., torch.Tensor]:
    def irfft(x: torch.Tensor, fft_length: torch.Tensor) -> torch.Tensor:
        _check_rank(x, rank)
        if tuple(fft_length.shape) != (rank,):
            raise InvalidArgumentError(None, None, f"fft_length must have shape [{rank}]")
        lengths = fft_length.tolist()
        x = _crop(x, [*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0])
        if not x.numel() or not all(lengths):
            return torch.zeros((*x.shape[:-rank], *lengths), dtype=x.real.dtype)
        if rank > 1:
            x = torch.fft.ifftn(x, dim=tuple(range(-rank, -1)))
        return torch.fft.irfft(x, n=lengths[-1])

    return irfft


for _rank, _suffix in ((1, ""), (2, "2D"), (3, "3D")):
    library("FFT" + _suffix, "BatchFFT" + _suffix)(_complex(torch.fft.fftn, _rank))
    library("IFFT" + _suffix, "BatchIFFT" + _suffix)(_complex(torch.fft.ifftn, _rank))
    library("RFFT" + _suffix)(_real(_rank))
    library("IRFFT" + _suffix)(_inverse_real(_rank))
