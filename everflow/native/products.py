"""Products of matrices in machine code, by the BLAS that is there anyway: as calls, and as steps of regions."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from llvmlite import ir

from everflow.native.nest_code import I32, I64, POINTER, VOID, loop
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
    """A part of a product's result: from a row to another, from a column to another, and, where there are many, from a
    place on the first axis to another.
    """

    row: int
    last_row: int
    column: int
    last_column: int
    first: int = 0
    last: int = 1


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
        return math.prod(self.value.shape) * self.value.sources[0].shape[-1]

    def whole(self) -> Cut:
        rows, columns = self.value.shape[-2:]
        return Cut(0, rows, 0, columns, 0, self._many[0] if self._many else 1)

    def parts(self) -> list[Cut]:
        """The halves of the result that two threads may compute: half of many products, of the columns, or of the rows;
        all of it where these are few.
        """
        whole = self.whole()
        if whole.last > 1:
            middle = whole.last // 2
            return [replace(whole, last=middle), replace(whole, first=middle)]
        if whole.last_column >= FEWEST:
            middle = _middle(whole.last_column)
            return [replace(whole, last_column=middle), replace(whole, column=middle)]
        if whole.last_row >= FEWEST:
            middle = _middle(whole.last_row)
            return [replace(whole, last_row=middle), replace(whole, row=middle)]
        return [whole]

    @property
    def _many(self) -> tuple[int, ...]:
        """How many products there are along each of the leading axes."""
        return self.value.shape[:-2]

    def write(self, cut: Cut) -> None:
        """Write the calls for a part of the result into the region's function."""
        left, right = self.value.sources
        b, columns = self.region.builder, self.value.shape[-1]
        sizes = cut.last_row - cut.row, cut.last_column - cut.column, left.shape[-1]
        with contextlib.ExitStack() as loops:
            indices = []
            for axis, count in enumerate(self._many):
                begin, end = (cut.first, cut.last) if axis == 0 else (0, count)
                indices.append(loops.enter_context(loop(b, I64(begin), I64(end))))
            to = self._at(self.stores[self.value], cut.row * columns + cut.column, indices)
            matrices = self._matrix(left, cut.row, 0, indices), self._matrix(right, 0, cut.column, indices)
            multiply(b, self.value.dtype, sizes, *matrices, to, to_stride=columns)

    def _matrix(self, factor: Value, row: int, column: int, indices: list[ir.Value]) -> Matrix:
        """A factor from a row and a column on."""
        access = self.loads[factor]
        known = as_matrix(access, factor.shape)
        assert known is not None, factor
        stride, is_transposed = known
        place = column * stride + row if is_transposed else row * stride + column
        return Matrix(self._at(access, place, indices), *known)

    def _at(self, access: Access, entries: int, indices: list[ir.Value]) -> ir.Value:
        """The address so many entries behind where an access begins, for these places on the leading axes."""
        b, size = self.region.builder, self.value.dtype.itemsize
        place = I64((access.offset + entries) * size)
        for index, stride in zip(indices, access.strides, strict=False):
            place = b.add(place, b.mul(index, I64(stride * size)))
        return b.gep(self.region.pointer(access.base), [place], source_etype=_BYTE)


def _middle(size: int) -> int:
    """About half, of whole vectors."""
    return -(-size // 2 // VECTOR) * VECTOR
