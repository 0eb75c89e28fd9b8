"""Reductions over axes, running sums and products, and the position of extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import SHARE, same
from everflow.kernels.math.dtypes import comparable, from_comparable, highest, lowest, shape_text, widened
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.tensors import torch_dtype
from everflow.native.lowering import lowers
from everflow.native.values import Value as Expression

if TYPE_CHECKING:
    import numpy as np

    from everflow.framework.dtypes import DType


def reduced_axes(axis: torch.Tensor, rank: int) -> list[int]:
    """The axes named by an axis tensor, without negatives and repetitions, in order."""
    axes = axis.reshape(-1).tolist()
    for a in axes:
        if not -rank <= a < rank:
            raise InvalidArgumentError(
                None, None, f"Invalid reduction dimension ({a} for input with {rank} dimension(s)"
            )
    return axes if len(axes) < 2 else sorted({a % rank for a in axes})


def _reduction(op_type: str, reduce: Callable[..., torch.Tensor]) -> None:
    """Register `reduce(x, axes, keep_dims)` as an op's kernel. Without axes the input is the result."""

    def run(input: torch.Tensor, axis: torch.Tensor, *, keep_dims: bool) -> torch.Tensor:
        axes = reduced_axes(axis, input.dim())
        return reduce(input, axes, keep_dims) if axes else input

    kernel(op_type, result=same(0), fails=False)(run)


def _summed_type(x: torch.Tensor) -> torch.dtype:
    """The type sums wrap in: that of the values, where torch would take int64."""
    return torch.int64 if x.dtype in (torch.uint16, torch.uint32, torch.uint64) else x.dtype


# From so many values on, ATen divides a reduction to a single one among its threads: the more there are, the more sums
# of sums.
DIVIDED = 1 << 15
# Rows of this length are reduced one by one instead, by whatever threads there are.
_ROW = 1 << 12


def _is_divided(x: torch.Tensor, axes: list[int]) -> bool:
    """Whether bits would depend on the number of threads."""
    count = x.numel()
    if count < DIVIDED:
        return False
    for axis in axes:
        count //= x.shape[axis]
    return count == 1


def _by_rows(reduce: Callable[..., torch.Tensor], x: torch.Tensor, axes: list[int], keep_dims: bool) -> torch.Tensor:
    """All values to one by `reduce(values, axis)`, in an order of our own; half precision is rounded once, at the end."""
    values = x.reshape(-1)
    if x.dtype in (torch.float16, torch.bfloat16):
        values = values.float()
    while values.numel() >= DIVIDED:
        whole = values.numel() // _ROW * _ROW
        rows, rest = reduce(values[:whole].view(-1, _ROW), 1), values[whole:]
        values = rows if not rest.numel() else torch.cat([rows, reduce(rest, 0).view(1)])
    result = reduce(values, 0)
    return result.view(
        [
            1 if keep_dims else size
            for i, size in enumerate(x.shape)
            if keep_dims or i not in {a % x.dim() for a in axes}
        ]
    )


def float_sum(x: torch.Tensor, axes: list[int], keep_dims: bool) -> torch.Tensor:
    """The sum of numbers with a fraction, whatever the number of threads."""
    if _is_divided(x, axes):
        return _by_rows(torch.sum, x, axes, keep_dims).to(x.dtype)
    return torch.sum(x, axes, keep_dims)


def float_mean(x: torch.Tensor, axes: list[int], keep_dims: bool) -> torch.Tensor:
    """The mean of numbers with a fraction, whatever the number of threads."""
    if _is_divided(x, axes):
        return _by_rows(torch.sum, x, axes, keep_dims).div_(x.numel()).to(x.dtype)
    return torch.mean(x, axes, keep_dims)


def _sum(x: torch.Tensor, axes: list[int], keep_dims: bool) -> torch.Tensor:
    if x.is_floating_point() or x.is_complex():
        return float_sum(x, axes, keep_dims)
    return x.sum(axes, keepdim=keep_dims, dtype=_summed_type(x)).to(x.dtype)


def _mean(x: torch.Tensor, axes: list[int], keep_dims: bool) -> torch.Tensor:
    if x.is_floating_point() or x.is_complex():
        return float_mean(x, axes, keep_dims)
    total = _sum(x, axes, keep_dims)
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    # The count is held in the type too, and wraps as the sum does.
    divisor = int(torch.tensor(count).to(x.dtype)) or max(count, 1)
    return torch.div(total.to(torch.int64), divisor, rounding_mode="trunc").to(x.dtype)


def _prod(x: torch.Tensor, axes: list[int], keep_dims: bool) -> torch.Tensor:
    if _is_divided(x, axes) and x.is_floating_point():
        return _by_rows(torch.prod, x, axes, keep_dims).to(x.dtype)
    for axis in reversed(axes):  # from the last one, so that the others stay where they are
        x = x.prod(axis, keepdim=keep_dims, dtype=_summed_type(x)).to(x.dtype)
    return x


def _has_nan(x: torch.Tensor) -> bool:
    """Whether there may be a NaN in a float tensor: quick, and wrong only where infinities of both signs meet."""
    total = float(x.sum())
    return total != total


def _extreme(reduce: Callable, infinity: float, bound: Callable[..., float]) -> Callable[..., torch.Tensor]:
    """Maximum or minimum. NaNs are passed over, but one alone stays; of nothing it is infinity, or the type's limit for
    integers.
    """

    def run(x: torch.Tensor, axes: list[int], keep_dims: bool) -> torch.Tensor:
        if any(x.shape[a] == 0 for a in axes):
            gone = {a % x.dim() for a in axes}
            shape = [1 if i in gone else size for i, size in enumerate(x.shape) if keep_dims or i not in gone]
            return torch.full(
                shape, infinity if x.is_floating_point() else bound(x.dtype), dtype=x.dtype, device=x.device
            )
        if not x.is_floating_point():
            return from_comparable(reduce(comparable(x), axes, keep_dims), x.dtype)
        result = reduce(x, axes, keep_dims)
        if result.numel() != x.numel() and _has_nan(result):
            result = reduce(torch.where(torch.isnan(x), infinity, x), axes, keep_dims)
        return result

    return run


def _euclidean_norm(x: torch.Tensor, axes: list[int], keep_dims: bool) -> torch.Tensor:
    if x.is_complex():
        return torch.linalg.vector_norm(x, dim=axes, keepdim=keep_dims).to(x.dtype)
    if x.is_floating_point():
        wide = torch.float32 if x.dtype in (torch.float16, torch.bfloat16) else x.dtype
        return torch.linalg.vector_norm(x, dim=axes, keepdim=keep_dims, dtype=wide).to(x.dtype)
    return torch.sqrt(_sum(widened(torch.square)(x), axes, keep_dims).to(torch.float64)).to(x.dtype)


for _op_type, _reduce in {
    "Sum": _sum,
    "Mean": _mean,
    "Prod": _prod,
    "Max": _extreme(torch.amax, float("-inf"), lowest),
    "Min": _extreme(torch.amin, float("inf"), highest),
    "EuclideanNorm": _euclidean_norm,
    "All": lambda x, axes, keep_dims: torch.all(x, axes, keepdim=keep_dims),
    "Any": lambda x, axes, keep_dims: torch.any(x, axes, keepdim=keep_dims),
}.items():
    _reduction(_op_type, _reduce)


def _position(op_type: str, find: Callable, infinity: float) -> None:
    def run(input: torch.Tensor, dimension: torch.Tensor, *, output_type: DType) -> torch.Tensor:
        rank = input.dim()
        if dimension.numel() != 1 or dimension.dim():
            raise InvalidArgumentError(
                None, None, f"dim must be a scalar, but received tensor of shape: {shape_text(dimension)}"
            )
        axis = int(dimension)
        if not -rank <= axis < rank:
            raise InvalidArgumentError(None, None, f"Expected dimension in the range [{-rank}, {rank}), but got {axis}")
        if input.shape[axis] == 0:
            raise InvalidArgumentError(
                None, None, f"Reduction axis {axis % rank} is empty in shape {shape_text(input)}"
            )
        if not input.is_floating_point():
            input = comparable(input)
        elif _has_nan(input):
            input = torch.where(torch.isnan(input), infinity, input)
        return find(input, dim=axis).to(torch_dtype(output_type))

    fresh(op_type)(run)


_position("ArgMax", torch.argmax, float("-inf"))
_position("ArgMin", torch.argmin, float("inf"))


def _scan(op_type: str, accumulate: Callable[..., torch.Tensor], neutral: Callable[..., float], **facts: Any) -> None:
    """Register a running reduction; `exclusive` starts it with the neutral element, `reverse` goes from the end."""

    @widened
    def along(x: torch.Tensor, at: int, exclusive: bool, reverse: bool) -> torch.Tensor:
        values = x.flip(at) if reverse else x
        if exclusive:
            first = torch.full_like(values.narrow(at, 0, 1), neutral(x.dtype))
            values = torch.cat([first, values.narrow(at, 0, values.shape[at] - 1)], at)
        result = accumulate(values, at)
        return result.flip(at) if reverse else result

    def run(x: torch.Tensor, axis: torch.Tensor, *, exclusive: bool, reverse: bool) -> torch.Tensor:
        if axis.dim():
            raise InvalidArgumentError(None, None, f"ScanOp: axis must be a scalar, not {list(axis.shape)}")
        rank, at = x.dim(), int(axis)
        if not -rank <= at < rank:
            raise InvalidArgumentError(
                None, None, f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {at}"
            )
        return along(x, at, exclusive, reverse) if x.numel() else x

    fresh(op_type, **facts)(run)


def _log_sum_exp_scan(x: torch.Tensor, axis: int) -> torch.Tensor:
    floor = lowest(x.dtype)
    wide = x.to(torch.float32) if x.dtype is torch.float16 else x
    values = torch.where(torch.isnan(wide), float("-inf"), wide)
    return torch.logcumsumexp(values, axis).clamp(min=floor).to(x.dtype)


_scan("Cumsum", lambda x, axis: x.cumsum(axis, dtype=x.dtype), lambda dtype: 0)
_scan("Cumprod", lambda x, axis: x.cumprod(axis, dtype=x.dtype), lambda dtype: 1)
_scan("CumulativeLogsumexp", _log_sum_exp_scan, lowest, threads_matter_from=SHARE)


# --- as expressions -------------------------------------------------------------------------------


def _lower_reduction(op_type: str, how: str) -> None:
    @lowers(op_type, known=(1,))
    def lowered(x: Expression, axes: np.ndarray, *, keep_dims: bool) -> Expression:
        return x.reduce(how, axes.ravel().tolist(), keep_dims)


for _name, _how in {"All": "all", "Any": "any", "Max": "max", "Min": "min", "Prod": "prod", "Sum": "sum"}.items():
    _lower_reduction(_name, _how)


@lowers("Mean", known=(1,))
def _lower_mean(x: Expression, axes: np.ndarray, *, keep_dims: bool) -> Expression | None:
    if x.dtype.kind != "f":
        return None
    total = x.reduce("sum", axes.ravel().tolist(), keep_dims)
    return total / float(x.size // total.size)
