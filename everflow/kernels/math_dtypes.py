"""Which number types the math kernels take, and how unsigned types that torch can't compute with are carried.

TensorFlow's definitions allow more types than its CPU kernels compute; a graph with such a node fails when it is run.
"""

from __future__ import annotations

import functools

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import specialize

_WIDER = {torch.uint16: torch.int32, torch.uint32: torch.int64, torch.uint64: torch.int64}

# attribute, types without a kernel, op types
_REFUSED = [
    ("T", "bfloat16 complex128 complex64 float16 int32 int64", "Acos Asin Atan"),
    ("T", "bfloat16 float16", "Acosh Asinh Atan2 Atanh Cosh QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 Rint Sinh"),
    ("T", "bfloat16", "FloorMod Mod TruncateMod"),
    (
        "T",
        "qint32 qint8 quint8 uint32 uint64",
        "AddN Cumprod Cumsum EuclideanNorm Mean Prod SegmentMean SegmentProd SegmentSum Sum UnsortedSegmentProd UnsortedSegmentSum",
    ),
    (
        "T",
        "bfloat16 complex128 complex64 float16 int16 int32 int64 int8 qint32 qint8 quint8 uint16 uint32 uint64 uint8",
        "ApproximateEqual",
    ),
    ("T", "complex128 complex64 qint32 qint8 quint8 uint32 uint64", "ArgMax ArgMin Max Min"),
    (
        "T",
        "bfloat16",
        "BatchMatMul BatchMatMulV2 BesselI0e BesselI1e Ceil Cos Digamma Erf Erfc Exp Expm1 Floor InvGrad IsFinite IsInf Lgamma "
        "LinSpace Log1p Pow ReciprocalGrad Rsqrt RsqrtGrad Sigmoid SigmoidGrad Sign Sin SquaredDifference Tanh TanhGrad",
    ),
    ("T", "bfloat16 complex128 complex64 qint32 qint8 quint8 uint32 uint64", "ClipByValue"),
    ("T", "uint32 uint64", "Cross PopulationCount SegmentMax SegmentMin UnsortedSegmentMax UnsortedSegmentMin"),
    ("T", "uint32 uint64", "SparseSegmentSum SparseSegmentSumWithNumSegments"),
    ("T", "int8", "Div"),
    ("T", "qint32 qint8 quint8", "Equal NotEqual"),
    ("T", "bfloat16 complex128 complex64", "FloorDiv Round"),
    ("T", "uint16 uint32 uint64", "Greater GreaterEqual Less LessEqual"),
    ("T", "bfloat16 int32 int64", "Inv Reciprocal Tan"),
    ("T", "int16 int32 int64 int8 uint16 uint8", "RealDiv"),
    ("T", "bfloat16 complex128 complex64 float16 float32 float64 int8", "TruncateDiv"),
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

_refused_by_op: dict[str, list[tuple[str, frozenset[str]]]] = {}
for _attribute, _types, _ops in _REFUSED:
    for _op in _ops.split():
        _refused_by_op.setdefault(_op, []).append((_attribute, frozenset(_types.split())))


@specialize(*_refused_by_op)
def refuse_types(node):
    """Raise for a node whose types have no kernel; the general kernel serves the others."""
    for attribute, types in _refused_by_op[node.type]:
        dtype = node.attrs[attribute]
        if dtype.name in types:
            raise InvalidArgumentError(
                None,
                None,
                f"No OpKernel was registered to support Op '{node.type}' used by {{{{node {node.name}}}}} "
                f"with these attrs: [{attribute}={dtype.enum_name}]\nRegistered devices: [CPU]",
            )


def widened(function):
    """`function`, computed in a wider signed type where torch lacks one for an unsigned type, and brought back."""

    @functools.wraps(function)
    def on_any_type(x, *others, **keywords):
        wide = _WIDER.get(x.dtype)
        if wide is None:
            return function(x, *others, **keywords)
        others = [o.to(wide) if isinstance(o, torch.Tensor) and o.dtype is x.dtype else o for o in others]
        result = function(x.to(wide), *others, **keywords)
        return result.to(x.dtype) if result.dtype is wide else result

    return on_any_type


def lowest(dtype: torch.dtype):
    """The lowest finite value of a torch type."""
    return torch.finfo(dtype).min if dtype.is_floating_point else torch.iinfo(dtype).min


def highest(dtype: torch.dtype):
    """The highest finite value of a torch type."""
    return torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(dtype).max


def shape_text(tensor) -> str:
    """A shape as TensorFlow's messages write it: "[2,3]"."""
    return "[" + ",".join(str(size) for size in tensor.shape) + "]"
