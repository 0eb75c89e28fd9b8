"""Which number types the math kernels take, and how unsigned types that torch can't compute with are carried.

TensorFlow's definitions allow more types than its CPU kernels compute; a graph with such a node fails when it is run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from everflow.framework.errors import UnimplementedError
from everflow.kernels.registry import TypesError, specialize

if TYPE_CHECKING:
    from everflow.kernels.context import Node

_WIDER = {torch.uint16: torch.int32, torch.uint32: torch.int64, torch.uint64: torch.int64}

# attribute, types without a kernel, op types
_REFUSED = [
    ("T", "int32 int64", "Acos Asin Atan Inv Reciprocal Tan"),
    ("T", "int16 uint16 uint32 uint64 uint8", "ApproximateEqual"),
    ("T", "bfloat16", "BesselI0e BesselI1e LinSpace"),
    ("T", "qint32 qint8 quint8 uint32 uint64", "Cumprod Cumsum EuclideanNorm SegmentMean SegmentProd SegmentSum"),
    ("T", "uint32 uint64", "PopulationCount SegmentMax SegmentMin SparseSegmentSum SparseSegmentSumWithNumSegments"),
    ("T", "qint32 qint8 quint8", "AddN ArgMax ArgMin ClipByValue Equal Max Mean Min NotEqual Prod Sum"),
    ("T", "complex64 complex128", "ArgMax ArgMin FloorDiv Max Min Round"),
    ("T", "uint16", "Greater GreaterEqual Less LessEqual"),
    ("T", "int16 uint16", "RealDiv"),
    ("Tidx", "bfloat16", "Range"),
    (
        "Tidx",
        "int64",
        "SparseSegmentMean SparseSegmentMeanGrad SparseSegmentMeanWithNumSegments SparseSegmentSqrtN SparseSegmentSqrtNGrad "
        "SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments",
    ),
    ("Tinput", "qint16 qint8 quint16 quint8", "QuantizeDownAndShrinkRange Requantize RequantizationRange"),
    ("out_type", "qint16 qint32 qint8 quint16", "QuantizeDownAndShrinkRange"),
    ("out_type", "qint16 qint32 quint16", "Requantize"),
    ("T1", "qint16 qint32 qint8 quint16", "QuantizedAdd QuantizedMatMul QuantizedMul"),
    ("T2", "qint16 qint32 qint8 quint16", "QuantizedAdd QuantizedMatMul QuantizedMul"),
    ("Toutput", "qint16 qint8 quint16 quint8", "QuantizedAdd QuantizedMatMul QuantizedMul"),
]
# What XLA's kernels, which TensorFlow falls back on, know of but can't do.
_UNIMPLEMENTED = {"Acos", "Asin", "Atan", "ClipByValue"}

# Kernels for unsigned types, where the general one is torch's own function and can't take them.
for_unsigned: dict = {}

_refused_by_op: dict[str, list[tuple[str, frozenset[str]]]] = {}
for _attribute, _types, _ops in _REFUSED:
    for _op in _ops.split():
        _refused_by_op.setdefault(_op, []).append((_attribute, frozenset(_types.split())))


@specialize(*_refused_by_op, *_UNIMPLEMENTED - set(_refused_by_op))
def refuse_types(node: Node) -> Callable | None:
    """Raise for a node whose types have no kernel, and choose the kernel for unsigned types; the general one serves the
    others.
    """
    if node.type in _UNIMPLEMENTED and node.attrs["T"].is_complex:
        raise UnimplementedError(None, None, f"{node.type} of {node.attrs['T'].name} is not implemented")
    for attribute, types in _refused_by_op.get(node.type, ()):
        dtype = node.attrs[attribute]
        if dtype.name in types:
            raise TypesError(
                None,
                None,
                f"No OpKernel was registered to support Op '{node.type}' used by {{{{node {node.name}}}}} "
                f"with these attrs: [{attribute}={dtype.enum_name}]\nRegistered devices: [CPU]",
            )
    return for_unsigned.get(node.type) if "T" in node.attrs and node.attrs["T"].is_unsigned else None


def widened(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """`function`, computed in a wider signed type where torch lacks one for an unsigned type, and brought back."""

    @functools.wraps(function)
    def on_any_type(x: torch.Tensor, *others: torch.Tensor | int, **keywords: Any) -> torch.Tensor:
        wide = _WIDER.get(x.dtype)
        if wide is None:
            return function(x, *others, **keywords)
        wider = [o.to(wide) if isinstance(o, torch.Tensor) and o.dtype is x.dtype else o for o in others]
        result = function(x.to(wide), *wider, **keywords)
        return result.to(x.dtype) if result.dtype is wide else result

    return on_any_type


_SIGN_BIT = torch.iinfo(torch.int64).min


def comparable(x: torch.Tensor) -> torch.Tensor:
    """Unsigned numbers as signed ones of the same order, for torch to compare; other tensors as they are."""
    if x.dtype is torch.uint64:
        return x.view(torch.int64) ^ _SIGN_BIT
    wide = _WIDER.get(x.dtype)
    return x if wide is None else x.to(wide)


def from_comparable(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """What `comparable` made, in its own type again."""
    if dtype is torch.uint64:
        return (x ^ _SIGN_BIT).view(dtype)
    return x.to(dtype)


def lowest(dtype: torch.dtype) -> float:
    """The lowest finite value of a torch type."""
    return torch.finfo(dtype).min if dtype.is_floating_point else torch.iinfo(dtype).min


def highest(dtype: torch.dtype) -> float:
    """The highest finite value of a torch type."""
    return torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(dtype).max


def shape_text(tensor: torch.Tensor) -> str:
    """A shape as TensorFlow's messages write it: "[2,3]"."""
    return "[" + ",".join(str(size) for size in tensor.shape) + "]"
