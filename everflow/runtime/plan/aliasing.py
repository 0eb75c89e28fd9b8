"""Which op types give fresh memory, and so whose buffer a value may share: what may be handed out, and what must be copied."""

from __future__ import annotations

from everflow.runtime.plan.program import FEED, VALUE, Node, Program, is_ref

# Results of these are always new memory that nobody else holds. Types not named here may give back an input or a view of one.
FRESH = frozenset(
    """
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
    """.split()
)


def roots(program: Program) -> dict[tuple[Node, int], frozenset]:
    """Edge → the edges whose memory it may share (itself alone for a fresh result)."""
    found: dict[tuple[Node, int], frozenset] = {}
    for node in program.nodes:
        if node.type in FRESH or node.type in (FEED, VALUE) or not node.inputs:
            for i in range(len(node.output_dtypes)):
                found[node, i] = frozenset([(node, i)])
            continue
        shared = frozenset().union(*(found.get(e, frozenset([e])) for e in node.inputs))
        for i in range(len(node.output_dtypes)):
            found[node, i] = shared | {(node, i)}
    return found


def fetches_to_copy(program: Program) -> list[bool]:
    """For each fetch, whether its value must be copied before the caller may own it."""
    shared = roots(program)
    seen: set = set()
    result = []
    for fetch in program.fetches:
        if not isinstance(fetch, tuple) or fetch[0].type == FEED:
            result.append(False)
            continue
        mine = shared[fetch]
        owned = fetch[0].type in FRESH and not is_ref(*fetch) and not (mine & seen)
        if not owned:
            # Views of fresh results are ours too, unless another fetch looks at the same memory.
            owned = not (mine & seen) and all(n.type in FRESH or n.type in VIEWS for n, _ in mine)
        seen |= mine
        result.append(not owned)
    return result


# Results of these are fresh, an input, or a view of one, and nothing else.
VIEWS = frozenset(
    """
    Identity Reshape Squeeze ExpandDims Transpose StopGradient PreventGradient Snapshot Slice StridedSlice Split SplitV Unpack Cast
    BroadcastTo AddN AccumulateNV2 All Any Ceil Cumprod Cumsum Floor FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 FusedBatchNormGrad
    FusedBatchNormGradV2 FusedBatchNormGradV3 Max Mean Min MirrorPad Pack Pad PadV2 Prod Relu Relu6 ReverseV2 Rint Round Sum Tile Fill
    """.split()
)


def variable_of(node: Node, position: int = 0):
    """The node that made the variable behind a ref or resource input, followed through ops that pass it on."""
    source, output = node.inputs[position]
    while source.inputs and (is_ref(source, output) or source.output_dtypes[output].name == "resource"):
        source, output = source.inputs[0]
    return source


# Views here, but copies in TensorFlow: what they gave of a ref variable stays as it was when the variable is written afterwards.
_COPIES_OF_REFS = frozenset(
    "BroadcastTo ConjugateTranspose DiagPart MatrixDiagPart Slice Split SplitV StridedSlice Transpose Unpack".split()
)


def _keeps_what_it_read(node: Node) -> bool:
    if node.type == "StridedSlice":
        # Whole rows from the front dimension share the variable's memory in TensorFlow too.
        strides = node.constant_input(3)
        return strides is None or strides.tolist() != [1] or bool(node.attrs["shrink_axis_mask"] or node.attrs["new_axis_mask"])
    return node.type in _COPIES_OF_REFS


_KEEPING = ("StackPush", "StackPushV2", "_RunningSumOfMatMuls", "_RunningSumOfRows")


def snapshots_to_copy(program: Program, order: list[Node], writers: dict[Node, list[Node]]) -> set[Node]:
    """The reads of variables that must be copied, since a write comes before the last use of what they gave.

    Reads are those of resource variables, and of ref variables the ops that copy in TensorFlow. `writers`: variable node → the nodes
    that write it.
    """
    if not writers:
        return set()
    shared = roots(program)
    reads: dict[Node, set[Node]] = {}
    for node in order:
        if node.type == "ReadVariableOp":
            reads[node] = {variable_of(node)}
        elif node.type in _COPIES_OF_REFS:
            variables = {root[0] for edge in node.inputs for root in shared.get(edge, ()) if is_ref(*root) and root[0] in writers}
            if variables and _keeps_what_it_read(node):
                reads[node] = variables
    if not reads:
        return set()
    place = {node: i for i, node in enumerate(order)}
    last_use: dict[Node, int] = {}
    for node in order:
        for edge in node.inputs:
            for source, _ in shared.get(edge, ()):
                if source in reads and source is not node:
                    # What goes onto a stack is used whenever it is popped, and no edge leads there; what a sum waits with, when it is added up.
                    used = len(order) if node.type in _KEEPING else place[node]
                    last_use[source] = max(last_use.get(source, -1), used)
    for fetch in program.fetches:
        if isinstance(fetch, tuple):
            for source, _ in shared[fetch]:
                last_use[source] = len(order)
    result = set()
    for node, variables in reads.items():
        last = last_use.get(node, -1)
        for variable in variables:
            if any(w.frame or node.frame or place[node] < place[w] < last for w in writers.get(variable, ())):
                result.add(node)
    return result
