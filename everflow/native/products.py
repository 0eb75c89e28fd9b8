"""Products of matrices in machine code, by the BLAS that is there anyway: as calls, and as steps of regions."""

from __future__ import annotations

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
) -> None:
    """Call the BLAS for a product of [rows, inner] and [inner, columns]; `sizes` are rows, columns, inner, the last of
    them an address if it is not known before. `adds`: to what is there. It sees the transposed of all three.
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
        _constant(b.module, I32, columns),
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

    def write(self) -> None:
        """Write the call into the region's function."""
        left, right = self.value.sources
        sizes = left.shape[0], right.shape[1], left.shape[1]
        to = self.region.pointer(self.value)
        multiply(self.region.builder, self.value.dtype, sizes, self._matrix(left), self._matrix(right), to)

    def _matrix(self, factor: Value) -> Matrix:
        access = self.loads[factor]
        known = as_matrix(access, factor.shape)
        assert known is not None, factor
        place = I64(access.offset * factor.dtype.itemsize)
        address = self.region.builder.gep(self.region.pointer(access.base), [place], source_etype=_BYTE)
        return Matrix(address, *known)
