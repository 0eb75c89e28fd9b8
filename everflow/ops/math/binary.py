"""Element-wise math of two inputs, and the operators that tensors get from it."""

from __future__ import annotations

import inspect

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices, SparseTensor
from everflow.framework.conversion import convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, as_shape, broadcast, unknown_shape
from everflow.ops.array import basic as array
from everflow.ops.array import constants
from everflow.ops.array.ragged_rows import ragged_form, takes_ragged
from everflow.ops.math import elementwise
from everflow.ops.math import matrix as math_matrix
from everflow.ops.shape_rules import attribute_shape

# Op types whose result has the shape that their two inputs broadcast to.
_BROADCAST: list[str] = []


_BINARY = """Element-wise: {meaning}.

Args:
    {first}: A tensor, or what can be made one.
    {second}: A tensor of the same type; shapes broadcast.
    name: The name of the operation in the graph.

Returns:
    A tensor of the shape that both broadcast to.

Example:
    >>> sess.run(tf.{public}({at}))
    {gives}
"""


def binary_function(function_name, op_type, meaning, inputs=("x", "y"), space="", *, at, gives):
    """A build function of two inputs, called by these names, that programs find in the namespace `space`. `at` some
    values it `gives` others: its example.
    """

    def build(*args, **keywords):
        if len(args) == 3:  # the name, by position
            *args, keywords["name"] = args
        return getattr(raw, op_type)(*args, **keywords)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    build.__signature__ = inspect.Signature(
        [*(inspect.Parameter(n, kind) for n in inputs), inspect.Parameter("name", kind, default=None)]
    )
    build.__name__ = build.__qualname__ = function_name
    first, second = inputs
    build.__doc__ = _BINARY.format(
        meaning=meaning, first=first, second=second, public=space + function_name, at=at, gives=gives
    )
    _BROADCAST.append(op_type)
    return takes_ragged(2)(build)


add = binary_function(
    "add", "Add", "x + y, with broadcasting; joins strings", at="[1, 2], 10", gives="array([11, 12], dtype=int32)"
)
subtract = binary_function(
    "subtract", "Sub", "x - y, with broadcasting", at="[1, 2], 10", gives="array([-9, -8], dtype=int32)"
)
multiply = binary_function(
    "multiply", "Mul", "x * y, with broadcasting", at="[1, 2], 10", gives="array([10, 20], dtype=int32)"
)
realdiv = binary_function(
    "realdiv", "RealDiv", "x / y for real types", at="[1.0, 3.0], 2.0", gives="array([0.5, 1.5], dtype=float32)"
)
truncatediv = binary_function(
    "truncatediv",
    "TruncateDiv",
    "x / y for integers, rounded towards zero",
    at="[7, -7], 2",
    gives="array([ 3, -3], dtype=int32)",
)
floor_div = binary_function(
    "floor_div", "FloorDiv", "x / y rounded down", at="[7, -7], 2", gives="array([ 3, -4], dtype=int32)"
)
truncatemod = binary_function(
    "truncatemod",
    "TruncateMod",
    "the remainder of x / y, with the sign of x",
    at="[7, -7], 3",
    gives="array([ 1, -1], dtype=int32)",
)
floormod = binary_function(
    "floormod",
    "FloorMod",
    "the remainder of x / y, with the sign of y",
    at="[7, -7], 3",
    gives="array([1, 2], dtype=int32)",
)
maximum = binary_function(
    "maximum", "Maximum", "the larger of both", at="[1, 5], [3, 3]", gives="array([3, 5], dtype=int32)"
)
minimum = binary_function(
    "minimum", "Minimum", "the smaller of both", at="[1, 5], [3, 3]", gives="array([1, 3], dtype=int32)"
)
squared_difference = binary_function(
    "squared_difference",
    "SquaredDifference",
    "(x - y) squared",
    at="[1.0, 5.0], 3.0",
    gives="array([4., 4.], dtype=float32)",
)
atan2 = binary_function(
    "atan2",
    "Atan2",
    "the angle of the point (x, y)",
    inputs=("y", "x"),
    at="[1.0, -1.0], [1.0, -1.0]",
    gives="array([ 0.7853982, -2.3561945], dtype=float32)",
)
nextafter = binary_function(
    "nextafter",
    "NextAfter",
    "the float next to x1 on the way to x2",
    inputs=("x1", "x2"),
    space="math.",
    at="[1.0], [2.0]",
    gives="array([1.0000001], dtype=float32)",
)
igamma = binary_function(
    "igamma",
    "Igamma",
    "the lower regularised incomplete gamma function",
    inputs=("a", "x"),
    at="2.0, [1.0, 3.0]",
    gives="array([0.26424113, 0.8008517 ], dtype=float32)",
)
igammac = binary_function(
    "igammac",
    "Igammac",
    "the upper regularised incomplete gamma function",
    inputs=("a", "x"),
    at="2.0, [1.0, 3.0]",
    gives="array([0.7357589 , 0.19914828], dtype=float32)",
)
polygamma = binary_function(
    "polygamma",
    "Polygamma",
    "the polygamma function of order a at x",
    inputs=("a", "x"),
    at="1.0, [1.0, 2.0]",
    gives="array([1.644934  , 0.64493406], dtype=float32)",
)
zeta = binary_function(
    "zeta",
    "Zeta",
    "the Hurwitz zeta function",
    inputs=("x", "q"),
    at="2.0, [1.0, 2.0]",
    gives="array([1.644934  , 0.64493406], dtype=float32)",
)
xlogy = binary_function(
    "xlogy",
    "Xlogy",
    "x * log(y), and 0 where x is 0",
    space="math.",
    at="[0.0, 2.0], [0.0, 3.0]",
    gives="array([0.       , 2.1972246], dtype=float32)",
)
xdivy = binary_function(
    "xdivy",
    "Xdivy",
    "x / y, and 0 where x is 0",
    space="math.",
    at="[0.0, 2.0], [0.0, 4.0]",
    gives="array([0. , 0.5], dtype=float32)",
)
equal = binary_function("equal", "Equal", "whether x == y", at="[1, 2, 3], 2", gives="array([False,  True, False])")
not_equal = binary_function(
    "not_equal", "NotEqual", "whether x != y", at="[1, 2, 3], 2", gives="array([ True, False,  True])"
)
less = binary_function("less", "Less", "whether x < y", at="[1, 2, 3], 2", gives="array([ True, False, False])")
less_equal = binary_function(
    "less_equal", "LessEqual", "whether x <= y", at="[1, 2, 3], 2", gives="array([ True,  True, False])"
)
greater = binary_function(
    "greater", "Greater", "whether x > y", at="[1, 2, 3], 2", gives="array([False, False,  True])"
)
greater_equal = binary_function(
    "greater_equal", "GreaterEqual", "whether x >= y", at="[1, 2, 3], 2", gives="array([False,  True,  True])"
)
logical_and = binary_function(
    "logical_and",
    "LogicalAnd",
    "whether both are true",
    at="[True, True], [True, False]",
    gives="array([ True, False])",
)
logical_or = binary_function(
    "logical_or",
    "LogicalOr",
    "whether at least one is true",
    at="[False, True], [False, False]",
    gives="array([False,  True])",
)
mod = floormod

# What integers are divided in.
_DIVIDED_AS = {
    **dict.fromkeys([dtypes.uint8, dtypes.int8, dtypes.uint16, dtypes.int16], dtypes.float32),
    **dict.fromkeys([dtypes.int32, dtypes.int64], dtypes.float64),
    **dict.fromkeys(
        [dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128]
    ),
}


@takes_ragged(2)
def pow(x, y, name=None):
    """x to the power y, with broadcasting. Integers can't have negative powers.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the shape that `x` and `y` broadcast to.

    Example:
        >>> sess.run(tf.pow([2.0, 3.0], [3.0, 2.0]))
        array([8., 9.], dtype=float32)
    """
    return raw.Pow(x, y, name=name)


@takes_ragged(2)
def truediv(x, y, name=None):
    """x / y as Python 3 divides: 8- and 16-bit integers in float32, other integers in float64.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the shape that `x` and `y` broadcast to.

    Raises:
        TypeError: If `x` and `y` have different types, or can't be divided.

    Example:
        >>> sess.run(tf.truediv(7, 2))
        np.float64(3.5)
    """
    with name_scope(name, "truediv", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y")
        kind, other = x.dtype.base_dtype, y.dtype.base_dtype
        if kind != other:
            raise TypeError(f"Both sides of a division must have the same dtype; got {kind!r} and {other!r}")
        if kind not in _DIVIDED_AS:
            raise TypeError(f"Invalid dtype {kind!r} in __truediv__")
        dtype = _DIVIDED_AS[kind]
        if dtype is not None:
            x, y = elementwise.cast(x, dtype), elementwise.cast(y, dtype)
        return raw.RealDiv(x, y, name=scope)


def divide(x, y, name=None):
    """x / y as Python divides.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the shape that `x` and `y` broadcast to.

    Example:
        >>> sess.run(tf.divide(tf.constant([7, -7]), 2))
        array([ 3.5, -3.5])
    """
    return x / y if name is None else truediv(x, y, name=name)


def div(x, y, name=None):
    """x / y as Python 2 divides: integers are rounded down.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the shape that `x` and `y` broadcast to.

    Example:
        >>> sess.run(tf.div([7, -7], 2))
        array([ 3, -4], dtype=int32)
    """
    with name_scope(name, "div", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        if x.dtype.is_floating or x.dtype.is_complex:
            return raw.RealDiv(x, y, name=scope)
        return raw.FloorDiv(x, y, name=scope)


@takes_ragged(2)
def floordiv(x, y, name=None):
    """x / y rounded down, for integers and floats.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the shape that `x` and `y` broadcast to.

    Example:
        >>> sess.run(tf.floordiv([7, -7], 2))
        array([ 3, -4], dtype=int32)
    """
    with name_scope(name, "floordiv", [x, y]) as scope:
        return raw.FloorDiv(x, y, name=scope)


@takes_ragged(2)
def div_no_nan(x, y, name=None):
    """x / y, and 0 where y is 0.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the shape that `x` and `y` broadcast to.

    Example:
        >>> sess.run(tf.div_no_nan([1.0, 2.0], [0.0, 4.0]))
        array([0. , 0.5], dtype=float32)
    """
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        return raw.DivNoNan(x, y, name=scope)


def reciprocal_no_nan(x, name=None):
    """1 / x, and 0 where x is 0.

    Args:
        x: A tensor, or what can be made one.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.math.reciprocal_no_nan([0.0, 2.0]))
        array([0. , 0.5], dtype=float32)
    """
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return raw.DivNoNan(constants.constant(1, dtype=x.dtype.base_dtype, name="one"), x, name=scope)


def multiply_no_nan(x, y, name=None):
    """x * y, and 0 where y is 0 even if x is infinite or NaN.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the shape that `x` and `y` broadcast to.

    Example:
        >>> sess.run(tf.math.multiply_no_nan([float("nan"), 2.0], [0.0, 3.0]))
        array([0., 6.], dtype=float32)
    """
    with name_scope(name, "multiply_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        return raw.MulNoNan(x, y, name=scope)


@takes_ragged(2)
def logical_xor(x, y, name="LogicalXor"):
    """Element-wise: whether exactly one is true.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the shape that `x` and `y` broadcast to.

    Example:
        >>> sess.run(tf.logical_xor([True, True], [True, False]))
        array([False,  True])
    """
    return raw.LogicalAnd(raw.LogicalOr(x, y), raw.LogicalNot(raw.LogicalAnd(x, y)), name=name)


def scalar_mul(scalar, x, name=None):
    """A scalar times a tensor or IndexedSlices.

    Args:
        scalar: The number, or a scalar tensor.
        x: A tensor, or what can be made one.
        name: The name of the operation in the graph.

    Returns:
        The product, of the kind of `x`.

    Raises:
        ValueError: If `scalar` is not a scalar.

    Example:
        >>> sess.run(tf.scalar_mul(2.0, tf.constant([1.0, 2.0])))
        array([2., 4.], dtype=float32)
    """
    scalar = convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if scalar.shape.rank != 0:
        raise ValueError(f"Only scalar multiply works, got shape {scalar.shape}")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(raw.Mul(scalar, x.values, name=name), x.indices, x.dense_shape)
    return raw.Mul(scalar, x, name=name)


def add_n(inputs, name=None):
    """The sum of tensors of one shape. A single one is returned as it is.

    Args:
        inputs: A list of tensors of one type and shape.
        name: The name of the operation in the graph.

    Returns:
        A tensor of that shape.

    Example:
        >>> sess.run(tf.add_n([[1, 2], [3, 4], [5, 6]]))
        array([ 9, 12], dtype=int32)
    """
    if inputs is not None:
        iter(inputs)  # what can't be iterated over raises by itself
        if isinstance(inputs, (list, tuple)) and (form := ragged_form("elementwise", *inputs)):
            return form(lambda terms: add_n(terms, name), [inputs], (), {})
    inputs = _terms(inputs, (Tensor, IndexedSlices))
    if len(inputs) == 1:
        values = convert_to_tensor(inputs[0]) if isinstance(inputs[0], IndexedSlices) else inputs[0]
        return array.identity(values, name=name) if name else values
    return raw.AddN(inputs, name=name)


def _terms(inputs, kinds):
    """What is to be added up, converted; ValueError unless these are one or more of the kinds."""
    terms = convert_n_to_tensor_or_indexed_slices(inputs) if inputs and isinstance(inputs, (list, tuple)) else []
    if not terms or not all(isinstance(x, kinds) for x in terms):
        raise ValueError(f"A sum is of at least one Tensor, in a list, all alike in dtype and shape; got {inputs!r}")
    return terms


def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """The sum of tensors of one shape, which TensorFlow adds up as they come in.

    `shape` and `tensor_dtype` are checked against the inputs.

    Args:
        inputs: The tensors, all of one type and shape.
        shape: The shape that the tensors must have.
        tensor_dtype: The type that the tensors must have.
        name: The name of the operation in the graph.

    Returns:
        A tensor of that shape.

    Raises:
        TypeError: If the tensors are not of `tensor_dtype`.
        ValueError: If there are no tensors, or they differ in type or shape.

    Example:
        >>> sess.run(tf.accumulate_n([[1, 2], [3, 4]]))
        array([4, 6], dtype=int32)
    """
    inputs = _terms(inputs, Tensor)
    if any(x.dtype != inputs[0].dtype for x in inputs):
        raise ValueError(f"Tensors to add up must be of one dtype, not of {[x.dtype.name for x in inputs]}")
    shape = as_shape(shape) if shape is not None else unknown_shape()
    for tensor in inputs:
        shape = shape.merge_with(tensor.shape)
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) != inputs[0].dtype:
        raise TypeError(
            f"The tensors are of dtype {inputs[0].dtype.name}, not {tensor_dtype}, which was given as tensor_dtype"
        )
    if len(inputs) == 1:
        return inputs[0] if name is None else array.identity(inputs[0], name=name)
    return raw.AccumulateNV2(inputs, name=name, shape=shape)


# Operators. The function does the work; the operator converts its other side within the scope that bears its name.
def _left_operator(function, op_name, reflected):
    def operator(x, y):
        with name_scope(None, op_name, [x, y]) as scope:
            if not isinstance(y, (Tensor, SparseTensor)):
                try:
                    y = convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
                except TypeError:
                    # The other side may know what to do with a tensor.
                    if hasattr(type(y), reflected):
                        return NotImplemented
                    raise
            return function(x, y, name=scope)

    return operator


def _right_operator(function, op_name):
    def operator(y, x):
        with name_scope(None, op_name, [x, y]) as scope:
            x = convert_to_tensor(x, dtype=y.dtype.base_dtype, name="x")
            return function(x, y, name=scope)

    return operator


def _add_operator(x, y, name):
    return (raw.Add if x.dtype == dtypes.string else raw.AddV2)(x, y, name=name)


def _multiply_operator(x, y, name):
    if isinstance(y, SparseTensor):
        values = raw.SparseDenseCwiseMul(y.indices, y.values, y.dense_shape, x, name=name)
        return SparseTensor(y.indices, values, y.dense_shape)
    return raw.Mul(x, y, name=name)


def _raw_operator(op_type):
    return lambda x, y, name: getattr(raw, op_type)(x, y, name=name)


for _python_name, _op_name, _function in [
    ("add", "add", _add_operator),
    ("sub", "sub", _raw_operator("Sub")),
    ("mul", "mul", _multiply_operator),
    ("div", "div", lambda x, y, name: div(x, y, name=name)),
    ("truediv", "truediv", truediv),
    ("floordiv", "floordiv", _raw_operator("FloorDiv")),
    ("mod", "mod", _raw_operator("FloorMod")),
    ("pow", "pow", _raw_operator("Pow")),
    ("matmul", "matmul", lambda x, y, name: math_matrix.matmul(x, y, name=name)),
    ("and", "and", _raw_operator("LogicalAnd")),
    ("or", "or", _raw_operator("LogicalOr")),
    ("xor", "xor", logical_xor),
]:
    Tensor._override_operator(f"__{_python_name}__", _left_operator(_function, _op_name, f"__r{_python_name}__"))
    Tensor._override_operator(f"__r{_python_name}__", _right_operator(_function, _op_name))

for _operator, _function in {"__lt__": less, "__le__": less_equal, "__gt__": greater, "__ge__": greater_equal}.items():
    Tensor._override_operator(_operator, lambda x, y, function=_function: function(x, y))

Tensor._override_operator("__invert__", lambda x: raw.LogicalNot(x))
Tensor._override_operator("__neg__", lambda x: elementwise.negative(x))
Tensor._override_operator("__abs__", lambda x: elementwise.abs(x))


def _sparse_operator(op_type, op_name):
    """A sparse tensor by a dense one: only the values that are there change."""

    def operator(sparse, y):
        with name_scope(None, op_name, [sparse.indices, sparse.values, sparse.dense_shape, y]) as scope:
            y = convert_to_tensor(y, dtype=sparse.dtype.base_dtype, name="y")
            x, dtype = sparse.values, _DIVIDED_AS.get(sparse.dtype.base_dtype) if op_name == "truediv" else None
            if dtype is not None:
                x, y = raw.Cast(x=x, DstT=dtype), raw.Cast(x=y, DstT=dtype)
            values = getattr(raw, op_type)(sparse.indices, x, sparse.dense_shape, y, name=scope)
            return SparseTensor(sparse.indices, values, sparse.dense_shape)

    return operator


SparseTensor._override_operator("__mul__", _sparse_operator("SparseDenseCwiseMul", "mul"))
SparseTensor._override_operator("__div__", _sparse_operator("SparseDenseCwiseDiv", "div"))
SparseTensor._override_operator("__truediv__", _sparse_operator("SparseDenseCwiseDiv", "truediv"))


@shape_rule(
    *(op_type for op_type in _BROADCAST if op_type not in ("Equal", "NotEqual")),
    *("AddV2", "Div", "Mod", "Pow", "DivNoNan", "MulNoNan", "Complex", "IgammaGradA"),
    *("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"),
)
def broadcast_shape(op):
    """The shape that both inputs broadcast to."""
    a, b, *_ = op._inputs
    return broadcast(a._shape, b._shape)


@shape_rule("Equal", "NotEqual")
def _equality_shape(op):
    """As others; where shapes that don't fit are no error, the result may be a scalar unless they surely fit."""
    a, b = op.inputs[0].shape, op.inputs[1].shape
    if not op.attrs["incompatible_shape_error"] and a.rank is not None and b.rank is not None:
        for x, y in zip(reversed(a.as_list()), reversed(b.as_list()), strict=False):
            if 1 not in (x, y) and (x is None or x != y):
                return unknown_shape()
    return broadcast(a, b)


shape_rule("AccumulateNV2", "FakeParam")(attribute_shape)


@shape_rule("AddN")
def _add_n_shape(op):
    shape = op.inputs[-1].shape
    for tensor in reversed(op.inputs[:-1]):
        shape = tensor.shape.merge_with(shape)
    return TensorShape(shape)
