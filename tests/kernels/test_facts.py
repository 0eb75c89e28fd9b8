"""What is declared of kernels agrees with their definitions and with itself, and holds what planning knew of op types
before.
"""

import pytest

from everflow.framework import dtypes, op_defs
from everflow.kernels import registry
from everflow.kernels.array import basic as array
from everflow.kernels.facts import FRESH, SHARE, Effect, Memory, Waits

KERNELS = {name: registry.lookup(name) for name in registry.names()}
FACTS = {name: entry.facts for name, entry in KERNELS.items()}
DEFINITIONS = {name: op_defs.find(name) for name in KERNELS}


def _having(test) -> set:
    return {name for name, facts in FACTS.items() if test(facts)}


# --- what planning knew -------------------------------------------------------------------------

ALWAYS_FRESH = """
    Abs Acos Acosh Add AddV2 ApproximateEqual ArgMax ArgMin Asin Asinh Atan Atan2 Atanh AvgPool AvgPool3D
    AvgPoolGrad BatchMatMul BatchMatMulV2 BiasAdd BiasAddGrad ConcatV2 Conv2D Conv2DBackpropFilter Conv2DBackpropInput
    Conv3D Cos Cosh Cross DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput
    Div DivNoNan Elu EluGrad Equal Erf Erfc Exp Expm1 FloorDiv FloorMod Gather GatherNd GatherV2 Greater GreaterEqual Inv InvGrad IsFinite
    IsInf IsNan L2Loss LRN LeakyRelu LeakyReluGrad Less LessEqual Lgamma LinSpace Log Log1p LogSoftmax LogicalAnd LogicalNot LogicalOr
    MatMul MaxPool MaxPoolGrad Maximum Minimum Mod Mul MulNoNan Multinomial Neg NotEqual OneHot Pow
    RandomStandardNormal RandomUniform RandomUniformInt Rank RealDiv Reciprocal ReciprocalGrad Relu6Grad ReluGrad ResourceGather
    Rsqrt RsqrtGrad SegmentSum Select SelectV2 Selu SeluGrad Shape ShapeN Sigmoid SigmoidGrad Sign Sin Sinh Size Softmax
    SoftmaxCrossEntropyWithLogits Softplus SoftplusGrad Softsign SoftsignGrad SparseSoftmaxCrossEntropyWithLogits Sqrt SqrtGrad Square
    SquaredDifference Sub Tan Tanh TanhGrad TopKV2 TruncateDiv TruncateMod TruncatedNormal UnsortedSegmentSum Where Xdivy Xlogy
    _AddProduct _AddScaled _Conv2DBias _MatMulBias _SubScaled _SumOfMatMuls _SumOfRows _SumOfSlices
"""
FRESH_OR_INPUT = """
    Identity Reshape Squeeze ExpandDims Transpose StopGradient PreventGradient Snapshot Slice StridedSlice Split SplitV Unpack Cast
    BroadcastTo AddN AccumulateNV2 All Any Ceil Cumprod Cumsum Floor FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 FusedBatchNormGrad
    FusedBatchNormGradV2 FusedBatchNormGradV3 Max Mean Min MirrorPad Pack Pad PadV2 Prod Relu Relu6 ReverseV2 Rint Round Sum Tile Fill
"""
COPIES_IN_TENSORFLOW = (
    "BroadcastTo ConjugateTranspose DiagPart MatrixDiagPart Slice Split SplitV StridedSlice Transpose Unpack"
)
# Corrected: these give views of their input here, and were taken for sharing it in TensorFlow as well, which copies.
ALSO_COPY = {"Tile", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"}
SAFE = """
    Abs Add AddV2 All Any BatchMatMul BatchMatMulV2 Cast Ceil ConcatV2 Cos Equal Erf Exp ExpandDims Floor Greater GreaterEqual IsFinite
    IsInf IsNan Less LessEqual Log Log1p LogSoftmax LogicalAnd LogicalNot LogicalOr MatMul Max Maximum Mean Min Minimum Mul Neg NotEqual
    OneHot RealDiv Reciprocal Relu Rsqrt Select SelectV2 Sigmoid Sign Sin Softmax Softplus Sqrt Square SquaredDifference Squeeze Sub Sum
    Tanh Tile Transpose
"""
LOCKING = """
    AssignVariableOp AssignAddVariableOp AssignSubVariableOp CountUpTo ResourceCountUpTo ResourceStridedSliceAssign RngSkip
    ResourceScatterAdd ResourceScatterDiv ResourceScatterMax ResourceScatterMin ResourceScatterMul ResourceScatterSub ResourceScatterUpdate
    StatefulRandomBinomial StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniform StatefulUniformFullInt
    StatefulUniformInt ZeroVarInitializer _MoveTowards _ScaleRef _ScaleResource _StepRef _StepResource
"""
PUTTING = """
    QueueEnqueue QueueEnqueueMany QueueEnqueueV2 QueueEnqueueManyV2 QueueClose QueueCloseV2 BarrierInsertMany AccumulatorApplyGradient
    ResourceAccumulatorApplyGradient SparseAccumulatorApplyGradient Stage
    MapStage OrderedMapStage
"""
TAKING = """
    QueueDequeue QueueDequeueMany QueueDequeueUpTo QueueDequeueV2 QueueDequeueManyV2 QueueDequeueUpToV2 ReaderRead ReaderReadV2
    ReaderReadUpTo ReaderReadUpToV2 BarrierTakeMany AccumulatorTakeGradient ResourceAccumulatorTakeGradient
    SparseAccumulatorTakeGradient Unstage MapUnstage MapUnstageNoKey OrderedMapUnstage OrderedMapUnstageNoKey
"""
ITERATING = "MakeIterator IteratorGetNext IteratorGetNextSync IteratorGetNextAsOptional"
PASSING = (
    "RefIdentity IsVariableInitialized ReadVariableOp ResourceGather ResourceGatherNd VariableShape VarIsInitializedOp"
)
RENAMES = "Identity StopGradient PreventGradient Snapshot RefIdentity"
# What stacks and arrays take, by position; TensorArrays were left out of it: a variable written after its value was put
# there changed that.
KEEPING = {
    **{"StackPush": (1,), "StackPushV2": (1,), "_RunningSumOfMatMuls": (1, 2), "_RunningSumOfRows": (1,)},
    **{
        f"TensorArray{name}{form}": (at,)
        for name, at in (("Write", 2), ("Scatter", 2), ("Split", 1))
        for form in ("V2", "V3")
    },
}

# Whose last bits may differ with another number of threads: at any size, and from how many values on.
BOUND = """
    MatMul BatchMatMul BatchMatMulV2 SparseMatMul Einsum SparseTensorDenseMatMul TridiagonalMatMul
    _MatMulBias _MatMulColumns _SumOfMatMuls _RunningSumOfMatMuls
    Conv2D _Conv2DBias Conv2DBackpropInput Conv2DBackpropFilter FusedPadConv2D FusedResizeAndPadConv2D
    Conv3D Conv3DBackpropInput Conv3DBackpropInputV2 Conv3DBackpropFilter Conv3DBackpropFilterV2
    DepthwiseConv2dNative DepthwiseConv2dNativeBackpropInput DepthwiseConv2dNativeBackpropFilter
    FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3
    BlockLSTM BlockLSTMV2 BlockLSTMGrad LSTMBlockCell LSTMBlockCellGrad GRUBlockCell GRUBlockCellGrad
    CudnnRNN CudnnRNNV2 CudnnRNNV3 CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3
    Cholesky CholeskyGrad Lu Qr Svd SelfAdjointEig SelfAdjointEigV2 MatrixDeterminant LogMatrixDeterminant MatrixInverse MatrixSolve
    MatrixSolveLs MatrixTriangularSolve MatrixExponential MatrixLogarithm MatrixSquareRoot BatchCholesky BatchCholeskyGrad
    BatchMatrixDeterminant BatchMatrixInverse BatchMatrixSolve BatchMatrixSolveLs BatchMatrixTriangularSolve BatchSelfAdjointEig
    BatchSelfAdjointEigV2 BatchSvd
    FFT FFT2D FFT3D IFFT IFFT2D IFFT3D RFFT RFFT2D RFFT3D IRFFT IRFFT2D IRFFT3D
    BatchFFT BatchFFT2D BatchFFT3D BatchIFFT BatchIFFT2D BatchIFFT3D
    Case For If PartitionedCall RemoteCall StatefulPartitionedCall StatelessIf StatelessWhile SymbolicGradient While EagerPyFunc
    IteratorGetNext IteratorGetNextSync IteratorGetNextAsOptional
    AdjustHsvInYiq BatchFunction BlockLSTMGradV2 MapDefun MaskedMatmul WALSComputePartialLhsAndRhs
    XlaConv XlaDot XlaEinsum XlaIf XlaReduce XlaReduceWindow XlaSelectAndScatter XlaSelfAdjointEig XlaSvd XlaWhile
"""
BOUND_IF_LARGE = """
    Sigmoid Softplus SoftplusGrad Elu EluGrad Selu SeluGrad Sinh Cosh Atanh Atan2 Pow Igamma Igammac IgammaGradA Betainc Rsqrt BesselI0e
    BesselI1e SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits Softmax LogSoftmax LRN LRNGrad CumulativeLogsumexp
    ResizeBilinear ResizeBilinearGrad ResizeBicubic ResizeBicubicGrad _SumOfRows _RunningSumOfRows
"""


def test_threads():
    assert _having(lambda facts: facts.threads_matter_from == 0) == set(BOUND.split())
    assert _having(lambda facts: facts.threads_matter_from == SHARE) == set(BOUND_IF_LARGE.split())
    assert _having(lambda facts: facts.threads_matter_from not in (None, 0, SHARE)) == {"L2Loss"}
    assert FACTS["L2Loss"].threads_matter_from < SHARE


def test_what_calls_functions_says_that_threads_matter():
    calling = {name for name, entry in KERNELS.items() if entry.function.__module__ == "everflow.kernels.functions"} - {
        "FakeParam"
    }
    assert calling and all(FACTS[name].threads_matter_from == 0 for name in calling)


def test_memory():
    assert {name for name in ALWAYS_FRESH.split() if FACTS[name].result != FRESH} == set()
    assert {name for name in FRESH_OR_INPUT.split() if FACTS[name].result.memory is Memory.UNKNOWN} == set()
    views = {
        name
        for name in {*FRESH_OR_INPUT.split(), *COPIES_IN_TENSORFLOW.split()}
        if FACTS[name].result.memory is Memory.VIEW
    }
    assert views == {*COPIES_IN_TENSORFLOW.split(), *ALSO_COPY}


def test_what_can_not_fail():
    assert set(SAFE.split()) <= _having(lambda facts: not facts.fails)
    dividing = {"Div", "FloorDiv", "FloorMod", "Mod", "TruncateDiv", "TruncateMod", "Pow"}
    assert not _having(lambda facts: not facts.fails) & {
        *dividing,
        "Gather",
        "GatherV2",
        "GatherNd",
        "Reshape",
        "CheckNumerics",
        "EnsureShape",
    }


def test_locks_and_waiting():
    assert _having(lambda facts: facts.locks) == set(LOCKING.split())
    assert _having(lambda facts: facts.waits is Waits.PUTS) == set(PUTTING.split())
    assert _having(lambda facts: facts.waits is Waits.TAKES) == set(TAKING.split())
    assert _having(lambda facts: facts.first) == set(ITERATING.split())


def test_what_is_kept_and_taken_as_a_number():
    assert {name: FACTS[name].keeps for name in KEEPING} == KEEPING
    assert {"TensorArrayReadV3", "TensorArrayWriteV3"} <= _having(lambda facts: facts.numbers == (1,))


def test_variables_that_are_only_looked_at():
    assert all(FACTS[name].writes == () for name in PASSING.split())
    assert all(FACTS[name].result.memory is Memory.SAME and FACTS[name].result.of == (0,) for name in RENAMES.split())
    assert FACTS["ReadVariableOp"].result.memory is Memory.VIEW


# --- definitions and kernels ----------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
def test_positions_are_those_of_arguments(name):
    facts, definition = FACTS[name], DEFINITIONS[name]
    positions = {*facts.result.of, *(facts.writes or ()), *facts.keeps, *facts.numbers}
    if definition is not None:
        assert all(0 <= position < len(definition.inputs) for position in positions)
        variables = {i for i, a in enumerate(definition.inputs) if a.is_ref or a.type is dtypes.resource}
        assert set(facts.writes or ()) <= variables
        # A list-valued or a numeric argument never comes as a Python number.
        assert all(not definition.inputs[i].is_list for i in facts.numbers)


@pytest.mark.parametrize("name", [name for name, definition in DEFINITIONS.items() if definition is not None])
def test_what_is_given_a_variable_says_what_it_does_to_it(name):
    refs = [i for i, a in enumerate(DEFINITIONS[name].inputs) if a.is_ref]
    facts = FACTS[name]
    if refs and not KERNELS[name].once:  # the definitions of these are not stateful, so nothing else would say it
        assert facts.effect is not None and facts.writes is not None
    if facts.writes:
        assert facts.effect is Effect.ACTS or (facts.effect is None and DEFINITIONS[name].is_stateful)
    if facts.effect in (Effect.PURE, Effect.READS, Effect.RANDOM):
        assert not facts.writes and facts.waits is Waits.NEVER and not facts.keeps


def test_what_promises_nothing_has_state_or_calls_functions():
    unknown = _having(lambda facts: facts.result.memory is Memory.UNKNOWN)
    for name in unknown & {n for n, d in DEFINITIONS.items() if d is not None and d.outputs}:
        definition = DEFINITIONS[name]
        assert (
            definition.is_stateful
            or FACTS[name].effect is Effect.ACTS
            or any("func" in a.type for a in definition.attrs)
        ), name


def test_what_hands_on_its_input_is_not_called_fresh():
    handing_on = [name for name, entry in KERNELS.items() if entry.function is array.identity]
    assert handing_on and all(FACTS[name].result.memory is Memory.SAME for name in handing_on)
