"""What arithmetic becomes for all iterations of a loop at once."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.ops import array, math
from everflow.ops.control_flow.conditionals import cond
from everflow.ops.parallel_for.array_rules import behind_first, flattened, unflattened
from everflow.ops.parallel_for.vectorizer import rule, stacked

_ELEMENTWISE = """
    Abs Acos Acosh Add AddV2 Angle Asin Asinh Atan Atan2 Atanh BesselI0e BesselI1e BitwiseAnd BitwiseOr BitwiseXor Ceil Complex ComplexAbs Conj
    Cos Cosh Digamma Div DivNoNan Elu Equal Erf Erfc Exp Expm1 Floor FloorDiv FloorMod Greater GreaterEqual Igamma IgammaGradA Igammac Imag Inv
    Invert IsFinite IsInf IsNan LeftShift Less LessEqual Lgamma Log Log1p LogicalAnd LogicalNot LogicalOr Maximum Minimum Mod Mul MulNoNan
    Neg NotEqual Polygamma Pow Real RealDiv Reciprocal Relu Relu6 RightShift Rint Round Rsqrt Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt
    Square SquaredDifference Sub Tan Tanh TruncateDiv TruncateMod Xdivy Xlogy Zeta ApproximateEqual
""".split()
_GRADIENTS = """
    EluGrad Relu6Grad ReluGrad ReciprocalGrad RsqrtGrad SeluGrad SigmoidGrad SoftplusGrad SoftsignGrad SqrtGrad TanhGrad
""".split()


@rule(*_ELEMENTWISE)
def _elementwise(inputs):
    return stacked(inputs.op_like(inputs.aligned()).outputs[0])


@rule(*_GRADIENTS)
def _elementwise_gradient(inputs):
    return stacked(inputs.op_like(inputs.all_stacked()).outputs[0])


@rule("AddN")
def _add_n(inputs):
    return stacked(math.add_n(inputs.all_stacked()))


@rule("Cast")
def _cast(inputs):
    return stacked(inputs.op_like([inputs.stacked(0)]).outputs[0])


@rule("Sum", "Prod", "Max", "Min", "Mean", "All", "Any")
def _reduction(inputs):
    tensor = inputs.stacked(0)
    return stacked(inputs.op_like([tensor, behind_first(inputs.same(1))]).outputs[0])


@rule("Cumsum", "Cumprod")
def _cumulative(inputs):
    tensor = inputs.stacked(0)
    return stacked(inputs.op_like([tensor, behind_first(inputs.same(1))]).outputs[0])


@rule("Cross")
def _cross(inputs):
    return stacked(math.cross(*inputs.all_stacked()))


@rule("MatMul")
def _matmul(inputs):
    transpose_a, transpose_b = inputs.attrs["transpose_a"], inputs.attrs["transpose_b"]
    a, b = inputs.tensor(0), inputs.tensor(1)
    if not inputs.is_stacked(1):
        return stacked(_rows_times(a, b, transpose_a, transpose_b))
    if not inputs.is_stacked(0):
        return stacked(_times_columns(a, b, transpose_a, transpose_b))
    return stacked(math.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b))


def _rows_times(a, b, transpose_a, transpose_b):
    """Matrices of iterations times one: the rows of all below each other."""
    if transpose_a:
        a = array.transpose(a, [0, 2, 1])
    count, rows, inner = _sizes(a)
    product = math.matmul(array.reshape(a, [count * rows, inner]), b, transpose_b=transpose_b)
    return array.reshape(product, [count, rows, -1])


def _times_columns(a, b, transpose_a, transpose_b):
    """One matrix times those of iterations: the columns of all beside each other."""
    if transpose_b:
        b = array.transpose(b, [2, 0, 1])
    else:
        shape = array.shape(b)
        # With one row, or one iteration, the values are in this order already.
        order = cond(math.equal(math.minimum(shape[0], shape[1]), 1), lambda: [0, 1, 2], lambda: [1, 0, 2])
        new_shape = array.stack([shape[1], shape[0], shape[2]])
        b = array.reshape(array.transpose(b, order), new_shape)
    inner, count, columns = _sizes(b)
    product = math.matmul(a, array.reshape(b, [inner, count * columns]), transpose_a=transpose_a)
    return array.transpose(array.reshape(product, [-1, count, columns]), [1, 0, 2])


def _sizes(tensor):
    """The sizes of three dimensions, as numbers where all are known."""
    if tensor.shape.is_fully_defined():
        return tensor.shape.as_list()
    return [array.reshape(size, []) for size in array.split(array.shape(tensor), 3)]


@rule("BatchMatMul")
def _batch_matmul(inputs):
    x, y = inputs.all_stacked()
    return stacked(math.matmul(x, y, adjoint_a=inputs.attrs["adj_x"], adjoint_b=inputs.attrs["adj_y"]))


@rule("BatchMatMulV2")
def _batch_matmul_v2(inputs):
    x, y = inputs.aligned()
    return stacked(math.matmul(x, y, adjoint_a=inputs.attrs["adj_x"], adjoint_b=inputs.attrs["adj_y"]))


@rule("UnsortedSegmentSum")
def _unsorted_segment_sum(inputs):
    data, ids = inputs.all_stacked([0, 1])
    segments = inputs.same(2)
    shape = array.shape(ids)
    count = shape[0]
    # Each iteration sums into segments of its own.
    ones = array.ones_like(shape)[1:]
    starts = segments * math.range(count)
    ids = ids + math.cast(array.reshape(starts, array.concat([[count], ones], axis=0)), ids.dtype)
    total = math.cast(segments, dtypes.int64) * math.cast(count, dtypes.int64)
    sums = raw.UnsortedSegmentSum(data=data, segment_ids=ids, num_segments=total)
    return stacked(array.reshape(sums, array.concat([[count, -1], array.shape(sums)[1:]], axis=0)))


@rule("Cholesky")
def _cholesky(inputs):
    return stacked(inputs.op_like([inputs.stacked(0)]).outputs[0])


@rule("MatrixTriangularSolve")
def _triangular_solve(inputs):
    return stacked(inputs.op_like(inputs.all_stacked()).outputs[0])


@rule("RandomUniform", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal")
def _random(inputs):
    shape = array.concat([inputs.length, inputs.same(0)], axis=0)
    return stacked(inputs.op_like([shape, *[inputs.same(i) for i in range(1, len(inputs))]]).outputs[0])


@rule("RandomGamma", "RandomPoissonV2")
def _random_of_parameters(inputs):
    """Samples stand before what they are samples of, so that iterations of parameters have to come to the front."""
    shape = inputs.same(0)
    if not inputs.is_stacked(1):
        return stacked(inputs.op_like([array.concat([inputs.length, shape], axis=0), inputs.same(1)]).outputs[0])
    made = inputs.op_like([shape, inputs.stacked(1)]).outputs[0]
    before = array.size(shape)
    order = array.concat([[before], math.range(before), math.range(before + 1, array.rank(made))], axis=0)
    return stacked(array.transpose(made, order))


@rule("Multinomial")
def _multinomial(inputs):
    logits = flattened(inputs.all_stacked([0])[0])
    return stacked(unflattened(inputs, inputs.op_like([logits, inputs.same(1)]).outputs[0]))
