"""Dimensions and sizes translated between data formats, as optimised graphs do it when they run."""

from __future__ import annotations

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import fresh


def _check(src_format: str, dst_format: str) -> None:
    for name, layout in (("Source", src_format), ("Destination", dst_format)):
        if len(layout) not in (4, 5):
            raise InvalidArgumentError(None, None, f"{name} format must be of length 4 or 5, and is {layout!r}")
    if sorted(src_format) != sorted(dst_format) or len(set(src_format)) != len(src_format):
        raise InvalidArgumentError(
            None,
            None,
            f"Destination and source format must determine a permutation, and {src_format} and {dst_format} do not",
        )


@fresh("DataFormatDimMap")
def data_format_dim_map(x: torch.Tensor, *, src_format: str, dst_format: str) -> torch.Tensor:
    _check(src_format, dst_format)
    rank = len(src_format)
    where = torch.tensor([dst_format.index(c) for c in src_format], dtype=x.dtype, device=x.device)
    return where[x.long() % rank]


@fresh("DataFormatVecPermute")
def data_format_vec_permute(x: torch.Tensor, *, src_format: str, dst_format: str) -> torch.Tensor:
    _check(src_format, dst_format)
    if x.dim() not in (1, 2) or x.shape[0] != len(src_format) or (x.dim() == 2 and x.shape[1] != 2):
        raise InvalidArgumentError(
            None, None, f"x must be a vector of {len(src_format)} or as many pairs, not {list(x.shape)}"
        )
    return x[[src_format.index(c) for c in dst_format]]
