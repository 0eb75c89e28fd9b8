"""Products of matrices, batches of matrices and vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.math.dtypes import shape_text
from everflow.kernels.math.products import is_surely_small, multiply
from everflow.kernels.registry import library, specialize
from everflow.native.lowering import lowers
from everflow.native.values import product as matrix_product

if TYPE_CHECKING:
    from everflow.kernels.context import Node
    from everflow.native.values import Value as Expression


@library("MatMul", fails=False)
def matmul(a: torch.Tensor, b: torch.Tensor, *, transpose_a: bool, transpose_b: bool) -> torch.Tensor:
    for index, matrix in enumerate((a, b)):
        if matrix.dim() != 2:
            raise InvalidArgumentError(
                None, None, f"In[{index}] is not a matrix. Instead it has shape {shape_text(matrix)}"
            )
    left, right = a.mT if transpose_a else a, b.mT if transpose_b else b
    if left.shape[1] != right.shape[0]:
        raise InvalidArgumentError(
            None,
            None,
            f"Matrix size-incompatible: In[0]: {shape_text(a)}, In[1]: {shape_text(b)}",
        )
    return multiply(left, right)


@specialize("MatMul")
def _matmul_of_node(node: Node) -> Callable | None:
    """ATen's own function: its message for shapes that don't fit is clear enough."""
    transposes = bool(node.attrs["transpose_a"]), bool(node.attrs["transpose_b"])
    return _SMALL[transposes] if is_surely_small(node) else _MATMULS[transposes]


_MATMULS: dict[tuple[bool, bool], Callable[..., torch.Tensor]] = {
    (False, False): multiply,
    (False, True): lambda a, b: multiply(a, b.t()),
    (True, False): lambda a, b: multiply(a.t(), b),
    (True, True): lambda a, b: multiply(a.t(), b.t()),
}
_SMALL: dict[tuple[bool, bool], Callable[..., torch.Tensor]] = {
    (False, False): torch.mm,
    (False, True): lambda a, b: torch.mm(a, b.t()),
    (True, False): lambda a, b: torch.mm(a.t(), b),
    (True, True): lambda a, b: torch.mm(a.t(), b.t()),
}


@library("BatchMatMulV2", fails=False)
def batch_matmul(x: torch.Tensor, y: torch.Tensor, *, adj_x: bool, adj_y: bool) -> torch.Tensor:
    for index, batch in enumerate((x, y)):
        if batch.dim() < 2:
            raise InvalidArgumentError(None, None, f"In[{index}] ndims must be >= 2: {batch.dim()}")
    left, right = _adjoint(x) if adj_x else x, _adjoint(y) if adj_y else y
    try:
        return multiply(left, right) if left.dim() == right.dim() == 2 else torch.matmul(left, right)
    except RuntimeError:
        raise _misfit(x, y, left, right, adj_x, adj_y) from None


def _misfit(
    x: torch.Tensor, y: torch.Tensor, left: torch.Tensor, right: torch.Tensor, adj_x: bool, adj_y: bool
) -> InvalidArgumentError:
    shapes = shape_text(x), shape_text(y)
    if left.shape[-1] != right.shape[-2]:
        sizes = f"{left.shape[-1]} vs. {right.shape[-2]}"
        return InvalidArgumentError(
            None, None, f"In[0] mismatch In[1] shape: {sizes}: {shapes[0]} {shapes[1]} {int(adj_x)} {int(adj_y)}"
        )
    return InvalidArgumentError(
        None, None, f"In[0] and In[1] must have compatible batch dimensions: {shapes[0]} vs. {shapes[1]}"
    )


@library("BatchMatMul", fails=False)
def batch_matmul_of_equal_batches(x: torch.Tensor, y: torch.Tensor, *, adj_x: bool, adj_y: bool) -> torch.Tensor:
    if x.dim() != y.dim():
        raise InvalidArgumentError(
            None, None, f"In[0] and In[1] has different ndims: {shape_text(x)} vs. {shape_text(y)}"
        )
    for axis, (size_x, size_y) in enumerate(zip(x.shape[:-2], y.shape[:-2], strict=True)):
        if size_x != size_y:
            raise InvalidArgumentError(
                None,
                None,
                f"In[0].dim({axis}) and In[1].dim({axis}) must be the same: {shape_text(x)} vs {shape_text(y)}",
            )
    return batch_matmul(x, y, adj_x=adj_x, adj_y=adj_y)


def _adjoint(x: torch.Tensor) -> torch.Tensor:
    return x.mH if x.is_complex() else x.mT


@library("SparseMatMul")
def sparse_matmul(a: torch.Tensor, b: torch.Tensor, *, transpose_a: bool, transpose_b: bool) -> torch.Tensor:
    """The sparseness of the inputs is a hint only; both sides become float32."""
    return matmul(a.to(torch.float32), b.to(torch.float32), transpose_a=transpose_a, transpose_b=transpose_b)


# --- as expressions -------------------------------------------------------------------------------

# Multiplications of a product up to which a call of the library takes longer than the loops do, and up to which it is
# better shared by threads that are awake already than by the library's own.
SMALL, SHORT = 1 << 15, 1 << 23


def product(a: Expression, b: Expression, transpose_a: bool, transpose_b: bool, most: int = SHORT) -> Expression | None:
    """A product of small matrices. (Which sums are taken first is open; a library's order depends on the shapes, too.)"""
    if a.dtype.kind != "f" or len(a.shape) != 2 or len(b.shape) != 2:
        return None
    a = a.permute([1, 0]) if transpose_a else a
    rows, inner = a.shape
    columns = b.shape[0 if transpose_b else 1]
    count = rows * inner * columns
    if b.shape[1 if transpose_b else 0] != inner or count > most:
        return None
    if count > SMALL:
        return matrix_product(a, b.permute([1, 0]) if transpose_b else b)
    # The innermost loop goes through memory in order.
    if transpose_b:
        return (a.reshape([rows, 1, inner]) * b.reshape([1, columns, inner])).reduce("sum", [2])
    return (a.reshape([rows, inner, 1]) * b.reshape([1, inner, columns])).reduce("sum", [1])


@lowers("MatMul")
def _lower_matmul(a: Expression, b: Expression, *, transpose_a: bool, transpose_b: bool) -> Expression | None:
    return product(a, b, transpose_a, transpose_b)


@lowers("BatchMatMul", "BatchMatMulV2")
def _lower_batch_matmul(x: Expression, y: Expression, *, adj_x: bool, adj_y: bool) -> Expression | None:
    if x.dtype.kind != "f" or len(x.shape) < 2 or x.shape[:-2] != y.shape[:-2]:
        return None
    axes = [*range(len(x.shape) - 2), len(x.shape) - 1, len(x.shape) - 2]
    x, y = (v.permute(axes) if turned else v for v, turned in ((x, adj_x), (y, adj_y)))
    if x.size * y.shape[-1] > SHORT or x.shape[-1] != y.shape[-2]:
        return None
    return matrix_product(x, y)
