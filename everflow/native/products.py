"""Products of matrices in machine code, by the BLAS that is there anyway: as calls, and as steps of regions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from llvmlite import ir

from everflow.native.nest_code import I32, I64, POINTER, VOID
from everflow.native.nests import Access, as_matrix, contiguous, located
from everflow.native.values import Value

if TYPE_CHECKING:
    from everflow.native.codegen import Region

_BYTE = ir.IntType(8)
# Rows or columns from which a product is worth cutting, and entries of a vector.
FEWEST, VECTOR = 64, 16
_GEMM = {np.dtype(np.float32): ("sgemm_", ir.FloatType()), np.dtype(np.float64): ("dgemm_", ir.DoubleType())}


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix by rows: where it begins, entries from row to row, and whether it is meant transposed."""

    address: ir.Value
    stride: int
    is_transposed: bool = False


def multiply(
    b: ir.IRBuilder,
    dtype: np.dtype,
    sizes: tuple[int, int, int | ir.Value],
    left: Matrix,
    right: Matrix,
    to: ir.Value,
    *,
    adds: bool = False,
    to_stride: int | None = None,
) -> None:
    """Call the BLAS for a product of [rows, inner] and [inner, columns]; `sizes` are rows, columns, inner, the last of
    them an address if it is not known before. `adds`: to what is there; `to_stride`: entries from row to row there. It
    sees the transposed of all three.
    """
    rows, columns, inner = sizes
    name, number = _GEMM[dtype]
    arguments = [
        _constant(b.module, _BYTE, ord("T" if right.is_transposed else "N")),
        _constant(b.module, _BYTE, ord("T" if left.is_transposed else "N")),
        *(_constant(b.module, I32, size) for size in (columns, rows)),
        _constant(b.module, I32, inner) if isinstance(inner, int) else inner,
        _constant(b.module, number, 1.0),
        right.address,
        _constant(b.module, I32, right.stride),
        left.address,
        _constant(b.module, I32, left.stride),
        _constant(b.module, number, 1.0 if adds else 0.0),
        to,
        _constant(b.module, I32, to_stride or columns),
    ]
    if name not in b.module.globals:
        ir.Function(b.module, ir.FunctionType(VOID, [POINTER] * len(arguments)), name)
    b.call(b.module.globals[name], arguments)


def _constant(module: ir.Module, kind: ir.Type, value: float) -> ir.GlobalVariable:
    """A constant that lies in memory, since Fortran takes everything by address."""
    name = f"constant_{kind}_{value}"
    if name not in module.globals:
        made = ir.GlobalVariable(module, kind, name)
        made.linkage, made.global_constant, made.initializer = "internal", True, ir.Constant(kind, value)
    return module.globals[name]


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a product's result: from a row to another, from a column to another."""

    row: int
    last_row: int
    column: int
    last_column: int


class ProductStep:
    """A product among the nests of a region."""

    tables: tuple[Value, ...] = ()

    def __init__(self, region: Region, value: Value) -> None:
        self.region, self.value = region, value
        self.loads = {s: located(s, region.stored, within=region.within) for s in value.sources}
        self.stores = {value: Access(value, 0, contiguous(value.shape))}

    @property
    def written(self) -> set[Value]:
        return {self.region.holder(self.value)}

    @property
    def memories(self) -> set[Value]:
        return {self.region.holder(v) for v in (self.value, *(a.base for a in self.loads.values()))}

    @property
    def work(self) -> int:
        return math.prod(self.value.shape) * self.value.sources[0].shape[1]

    def whole(self) -> Cut:
        rows, columns = self.value.shape
        return Cut(0, rows, 0, columns)

    def parts(self) -> list[Cut]:
        """The halves of the result that two threads may compute, by columns or by rows; all of it where both are few."""
        rows, columns = self.value.shape
        if columns >= FEWEST:
            middle = _middle(columns)
            return [Cut(0, rows, 0, middle), Cut(0, rows, middle, columns)]
        if rows >= FEWEST:
            middle = _middle(rows)
            return [Cut(0, middle, 0, columns), Cut(middle, rows, 0, columns)]
        return [self.whole()]

    def write(self, cut: Cut) -> None:
        """Write the call for a part of the result into the region's function."""
        left, right = self.value.sources
        columns = self.value.shape[1]
        sizes = cut.last_row - cut.row, cut.last_column - cut.column, left.shape[1]
        to = self._moved(self.region.pointer(self.value), cut.row * columns + cut.column)
        matrices = self._matrix(left, cut.row, 0), self._matrix(right, 0, cut.column)
        multiply(self.region.builder, self.value.dtype, sizes, *matrices, to, to_stride=columns)

    def _matrix(self, factor: Value, row: int, column: int) -> Matrix:
        """A factor from a row and a column on."""
        access = self.loads[factor]
        known = as_matrix(access, factor.shape)
        assert known is not None, factor
        stride, is_transposed = known
        place = column * stride + row if is_transposed else row * stride + column
        return Matrix(self._moved(self.region.pointer(access.base), access.offset + place), *known)

    def _moved(self, address: ir.Value, entries: int) -> ir.Value:
        place = I64(entries * self.value.dtype.itemsize)
        return self.region.builder.gep(address, [place], source_etype=_BYTE) if entries else address


def _middle(size: int) -> int:
    """About half, of whole vectors."""
    return -(-size // 2 // VECTOR) * VECTOR
