"""The math family is whole: each op type has a kernel, a shape rule, and a gradient where TensorFlow has one."""

import pytest

from everflow.framework import registry as rules
from everflow.kernels import registry as kernels

UNARY = (
    "Abs Acos Acosh Angle Asin Asinh Atan Atanh BesselI0e BesselI1e Cast Ceil CheckNumerics ComplexAbs Conj Cos Cosh Digamma Erf Erfc "
    "Exp Expm1 Floor Imag Inv Lgamma Log Log1p Neg Real Reciprocal Rint Round Rsqrt Sigmoid Sign Sin Sinh Sqrt Square Tan Tanh"
).split()
BINARY = (
    "Add AddV2 Atan2 Complex Div DivNoNan FloorDiv FloorMod Igamma Igammac InvGrad Maximum Minimum Mul MulNoNan NextAfter Polygamma Pow "
    "RealDiv ReciprocalGrad RsqrtGrad SigmoidGrad SqrtGrad SquaredDifference Sub TanhGrad TruncateDiv Xdivy Xlogy Zeta"
).split()
MANY = (
    "AccumulateNV2 AddN ArgMax ArgMin BatchMatMul BatchMatMulV2 Betainc Cross Cumprod Cumsum CumulativeLogsumexp MatMul Max Mean Min Prod "
    "SegmentMax SegmentMean SegmentMin SegmentSum SparseMatMul SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN "
    "SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments Sum UnsortedSegmentMax UnsortedSegmentMin "
    "UnsortedSegmentProd UnsortedSegmentSum FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel "
    "QuantizeAndDequantizeV2 QuantizeAndDequantizeV3"
).split()
NOT_DIFFERENTIABLE = (
    "ApproximateEqual BitwiseAnd BitwiseOr BitwiseXor Equal EuclideanNorm Greater GreaterEqual Invert LeftShift Less LessEqual LinSpace "
    "LogicalAnd LogicalNot LogicalOr NotEqual PopulationCount Range RightShift"
).split()
WITHOUT_GRADIENT = (
    "All Any Bincount Bucketize ClipByValue CompareAndBitpack Dequantize FakeQuantWithMinMaxArgsGradient HistogramFixedWidth IgammaGradA "
    "IsFinite IsInf IsNan Mod QuantizeDownAndShrinkRange QuantizeV2 QuantizedAdd QuantizedMatMul QuantizedMul RequantizationRange "
    "Requantize SegmentProd SparseSegmentMeanGrad SparseSegmentSqrtNGrad TruncateMod FakeQuantWithMinMaxVarsGradient "
    "FakeQuantWithMinMaxVarsPerChannelGradient"
).split()
EVERY = UNARY + BINARY + MANY + NOT_DIFFERENTIABLE + WITHOUT_GRADIENT


@pytest.mark.parametrize("op_type", EVERY)
def test_kernel_and_shape_rule(op_type):
    assert kernels.lookup(op_type) is not None
    assert rules.find_shape_rule(op_type) is not None


@pytest.mark.parametrize("op_type", UNARY + BINARY + MANY)
def test_gradient(op_type):
    assert callable(rules.find_gradient(op_type))


def test_no_gradient():
    assert all(rules.find_gradient(op_type) is None for op_type in NOT_DIFFERENTIABLE)
    for op_type in WITHOUT_GRADIENT:
        with pytest.raises(LookupError):
            rules.find_gradient(op_type)
