"""Kernels that make matrices from diagonals and take diagonals out of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.kernels.array.basic import bracketed, invalid, is_text
from everflow.kernels.facts import view
from everflow.kernels.registry import fresh, kernel

if TYPE_CHECKING:
    from everflow.kernels.tensors import AnyTensor, Value


@fresh("Diag")
def diag(diagonal: torch.Tensor) -> torch.Tensor:
    """A tensor of twice the rank with the input on its diagonal."""
    out = torch.zeros(diagonal.numel(), diagonal.numel(), dtype=diagonal.dtype, device=diagonal.device)
    out.diagonal().copy_(diagonal.reshape(-1))
    return out.reshape(*diagonal.shape, *diagonal.shape)


@kernel("DiagPart", result=view(0))
def diag_part(input: torch.Tensor) -> torch.Tensor:
    half = input.ndim // 2
    if input.ndim % 2 or not input.ndim:
        raise invalid(f"The rank of the tensor should be even and positive, got shape {bracketed(input.shape)}")
    for i in range(half):
        if input.shape[i] != input.shape[half + i]:
            raise invalid(f"Invalid shape {bracketed(input.shape)}: dimensions {i} and {half + i} do not match.")
    n = input.shape[:half].numel()
    return input.reshape(n, n).diagonal().reshape(input.shape[:half])


def _band(k: torch.Tensor) -> tuple[int, int]:
    """(lowest, highest) diagonal from the input `k`, a number or a pair."""
    ks = k.reshape(-1).tolist()
    if not 1 <= len(ks) <= 2:
        raise invalid(f"diag_index must have only one or two elements, received {len(ks)} elements.")
    low, high = ks[0], ks[-1]
    if low > high:
        raise invalid(f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}")
    return low, high


def _check_in_matrix(rows: int, columns: int, *ks: int) -> None:
    for name, k in zip(("lower", "upper"), ks, strict=True):
        if not (-rows < k < columns or k == 0):
            raise invalid(f"{name}_diag_index is out of bound: {k}. It must be between {-rows + 1} and {columns - 1}")


def _diagonal(matrix: AnyTensor, k: int) -> AnyTensor:
    return np.diagonal(matrix, k, -2, -1) if is_text(matrix) else matrix.diagonal(k, -2, -1)


def _put(matrix: AnyTensor, diagonal: Value, low: int, high: int) -> AnyTensor:
    """Write a band's diagonals into `matrix` (in place); `diagonal` has one row for each unless there is only one."""
    for k in range(low, high + 1):
        row = diagonal if low == high else diagonal[..., high - k, :]
        target: Value = _diagonal(matrix, k)
        part = row[..., : target.shape[-1]]
        if is_text(matrix):
            i = np.arange(target.shape[-1])
            matrix[..., i + max(-k, 0), i + max(k, 0)] = part
        else:
            target.copy_(part)
    return matrix


def _filled(shape: tuple[int, ...], like: AnyTensor, value: Any) -> Value:
    return (
        np.full(shape, value, object)
        if is_text(like)
        else torch.full(shape, value, dtype=like.dtype, device=like.device)
    )


@fresh("MatrixDiag", "BatchMatrixDiag")
def matrix_diag(diagonal: AnyTensor) -> AnyTensor:
    if diagonal.ndim < 1:
        raise invalid("diagonal must be at least 1-dim, received shape: []")
    n = diagonal.shape[-1]
    return _put(_filled((*diagonal.shape, n), diagonal, b"" if is_text(diagonal) else 0), diagonal, 0, 0)


@fresh("MatrixDiagV2")
def matrix_diag_v2(
    diagonal: AnyTensor, k: torch.Tensor, num_rows: torch.Tensor, num_cols: torch.Tensor, padding_value: AnyTensor
) -> AnyTensor:
    if diagonal.ndim < 1:
        raise invalid("diagonal must be at least 1-dim, received shape: []")
    low, high = _band(k)
    longest = diagonal.shape[-1]
    batch = tuple(diagonal.shape[: -1 if low == high else -2])
    if low != high and (diagonal.ndim < 2 or diagonal.shape[-2] != high - low + 1):
        raise invalid(
            "The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index range."
        )
    rows, columns = int(num_rows), int(num_cols)
    least_rows, least_columns = longest - min(high, 0), longest + max(low, 0)
    if rows != -1 and rows < least_rows:
        raise invalid("The number of rows is too small.")
    if columns != -1 and columns < least_columns:
        raise invalid("The number of columns is too small.")
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    elif rows == -1:
        rows = least_rows
    elif columns == -1:
        columns = least_columns
    if rows != least_rows and columns != least_columns:
        raise invalid(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal."
        )
    padding = padding_value[()] if is_text(diagonal) else padding_value.item()
    return _put(_filled((*batch, rows, columns), diagonal, padding), diagonal, low, high)


@kernel("MatrixDiagPart", "BatchMatrixDiagPart", result=view(0))
def matrix_diag_part(input: AnyTensor) -> AnyTensor:
    if input.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {bracketed(input.shape)}")
    return _diagonal(input, 0)


@kernel("MatrixDiagPartV2", result=view(0))
def matrix_diag_part_v2(input: AnyTensor, k: torch.Tensor, padding_value: AnyTensor) -> AnyTensor:
    if input.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {bracketed(input.shape)}")
    low, high = _band(k)
    rows, columns = input.shape[-2:]
    _check_in_matrix(rows, columns, low, high)
    if low == high:
        return _diagonal(input, low)
    longest = min(rows + min(high, 0), columns - max(low, 0))
    padding = padding_value[()] if is_text(input) else padding_value.item()
    out = _filled((*input.shape[:-2], high - low + 1, longest), input, padding)
    for row, diagonal in enumerate(range(high, low - 1, -1)):
        part = _diagonal(input, diagonal)
        out[..., row, : part.shape[-1]] = part
    return out


@fresh("MatrixSetDiag", "BatchMatrixSetDiag")
def matrix_set_diag(input: AnyTensor, diagonal: AnyTensor) -> AnyTensor:
    return _set_diagonals(input, diagonal, 0, 0)


@fresh("MatrixSetDiagV2")
def matrix_set_diag_v2(input: AnyTensor, diagonal: AnyTensor, k: torch.Tensor) -> AnyTensor:
    low, high = _band(k)
    return _set_diagonals(input, diagonal, low, high)


def _set_diagonals(input: AnyTensor, diagonal: AnyTensor, low: int, high: int) -> AnyTensor:
    if input.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {bracketed(input.shape)}")
    rows, columns = input.shape[-2:]
    _check_in_matrix(rows, columns, low, high)
    longest = min(rows + min(high, 0), columns - max(low, 0))
    wanted = (*input.shape[:-2], *([high - low + 1] if low != high else []), longest)
    if tuple(diagonal.shape) != wanted:
        raise invalid(
            "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to the longests diagonal "
            "in range "
            f"[lower_diag_index:upper_diag_index].\nInput shape: {bracketed(input.shape)}\nDiagonal shape: {bracketed(diagonal.shape)}\n"
            f"Expected diagonal shape: {bracketed(wanted)}"
        )
    return _put(input.copy() if is_text(input) else input.clone(), diagonal, low, high)
