"""Activations, softmax over any axis, biases, dense layers by hand, and what few ops are built of them."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.operation import Tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array
from everflow.ops import math as math_ops
from everflow.ops.array.basic import either
from everflow.ops.control_flow import cond
from everflow.ops.gradients.custom import custom_gradient
from everflow.ops.shape_rules import like_first, like_first_two

_UNARY = """Element-wise: {meaning}.

Args:
    features: A tensor, or what can be made one.
    name: The name of the operation in the graph.

Returns:
    A tensor of the same shape.

Example:
    >>> sess.run(tf.nn.{function_name}([-1.0, 2.0]))
    {gives}
"""


def _unary(op_type, function_name, meaning, *, gives):
    def build(features, name=None):
        return getattr(raw, op_type)(features=features, name=name)

    build.__name__ = build.__qualname__ = function_name
    build.__doc__ = _UNARY.format(meaning=meaning, function_name=function_name, gives=gives)
    return build


relu = _unary("Relu", "relu", "`max(x, 0)`", gives="array([0., 2.], dtype=float32)")
elu = _unary(
    "Elu", "elu", "`exp(x) - 1` where x is negative, else x", gives="array([-0.63212055,  2.        ], dtype=float32)"
)
selu = _unary(
    "Selu",
    "selu",
    "elu scaled so that deep layers keep mean 0 and variance 1",
    gives="array([-1.1113307,  2.101402 ], dtype=float32)",
)
softplus = _unary("Softplus", "softplus", "`log(1 + exp(x))`", gives="array([0.3132617, 2.126928 ], dtype=float32)")
softsign = _unary("Softsign", "softsign", "`x / (1 + |x|)`", gives="array([-0.5      ,  0.6666667], dtype=float32)")


def relu6(features, name=None):
    """`min(max(x, 0), 6)`.

    Args:
        features: The tensor.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.nn.relu6([-1.0, 2.0, 9.0]))
        array([0., 2., 6.], dtype=float32)
    """
    with name_scope(name, "Relu6", [features]) as name:
        features = convert_to_tensor(features, name="features")
        return raw.Relu6(features=features, name=name)


def leaky_relu(features, alpha=0.2, name=None):
    """x where it is positive, else `alpha * x`. Integers become float32.

    Args:
        features: The tensor.
        alpha: The slope where x is negative.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Raises:
        TypeError: If `alpha` is a tensor.

    Example:
        >>> sess.run(tf.nn.leaky_relu([-1.0, 2.0]))
        array([-0.2,  2. ], dtype=float32)
    """
    with name_scope(name, "LeakyRelu", [features, alpha]) as name:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = math_ops.cast(features, dtypes.float32)
        if isinstance(alpha, Tensor) or hasattr(alpha, "dtype") and hasattr(alpha, "op"):
            raise TypeError(f"Expected float for argument 'alpha' not {alpha!r}.")
        return raw.LeakyRelu(features=features, alpha=float(alpha), name=name)


def crelu(features, name=None, axis=-1):
    """relu of x and relu of -x side by side: twice as many channels.

    Args:
        features: The tensor.
        name: The name of the operation in the graph.
        axis: The axis to work along; negative ones count from the last.

    Returns:
        A tensor twice as long along the axis.

    Example:
        >>> sess.run(tf.nn.crelu([[-1.0, 2.0]]))
        array([[0., 2., 1., 0.]], dtype=float32)
    """
    with name_scope(name, "CRelu", [features]) as name:
        features = convert_to_tensor(features, name="features")
        both = array.concat([features, -features], axis, name=name)
        return relu(both)


@custom_gradient
def swish(features):
    """`x * sigmoid(x)`. Its gradient computes the sigmoid again rather than keep it.

    Args:
        features: The tensor.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.nn.swish([-1.0, 2.0]))
        array([-0.26894143,  1.761594  ], dtype=float32)
    """
    features = convert_to_tensor(features, name="features")

    def grad(dy):
        with control_dependencies([dy]):
            sigmoid = math_ops.sigmoid(features)
        return dy * (sigmoid * (1.0 + features * (1.0 - sigmoid)))

    return features * math_ops.sigmoid(features), grad


def relu_layer(x, weights, biases, name=None):
    """`relu(x @ weights + biases)`.

    Args:
        x: A matrix [batch, in].
        weights: A matrix [in, out].
        biases: A vector [out].
        name: The name of the operation in the graph.

    Returns:
        A matrix [batch, out].

    Example:
        >>> sess.run(tf.nn.relu_layer([[1.0, 2.0]], [[1.0, -1.0], [1.0, -1.0]], [0.5, 0.5]))
        array([[3.5, 0. ]], dtype=float32)
    """
    with name_scope(name, "relu_layer", [x, weights, biases]) as name:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return relu(bias_add(math_ops.matmul(x, weights), biases), name=name)


def xw_plus_b(x, weights, biases, name=None):
    """`x @ weights + biases`.

    Args:
        x: A matrix [batch, in].
        weights: A matrix [in, out].
        biases: A vector [out].
        name: The name of the operation in the graph.

    Returns:
        A matrix [batch, out].

    Example:
        >>> sess.run(tf.nn.xw_plus_b([[1.0, 2.0]], [[1.0], [1.0]], [0.5]))
        array([[3.5]], dtype=float32)
    """
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as name:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return bias_add(math_ops.matmul(x, weights), biases, name=name)


def bias_add(value, bias, data_format=None, name=None):
    """Add a vector along the channels: the last dimension, or the second with a `data_format` that starts with "NC".

    Args:
        value: The tensor.
        bias: The vector.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the shape of `value`.

    Raises:
        ValueError: If the data format isn't known.

    Example:
        >>> sess.run(tf.nn.bias_add([[1.0, 2.0], [3.0, 4.0]], [10.0, 20.0]))
        array([[11., 22.],
               [13., 24.]], dtype=float32)
    """
    with name_scope(name, "BiasAdd", [value, bias]) as name:
        if data_format is not None:
            if data_format.startswith("NC"):
                data_format = "NCHW"
            elif data_format.startswith("N") and data_format.endswith("C"):
                data_format = "NHWC"
            else:
                raise ValueError(
                    f"data_format must be N...C or NC..., with channels last or first, not {data_format!r}"
                )
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype, name="bias")
        return raw.BiasAdd(value=value, bias=bias, data_format=data_format or "NHWC", name=name)


def softmax(logits, axis=None, name=None, dim=None):
    """`exp(x) / sum(exp(x))` along an axis, the last one by default.

    Args:
        logits: Scores before a softmax or sigmoid.
        axis: The axis of classes; the last if None.
        name: The name of the operation in the graph.
        dim: An older name of `axis`.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.math.softmax([[1.0, 3.0]]))
        array([[0.11920291, 0.880797  ]], dtype=float32)
    """
    axis = either("axis", axis, "dim", dim)
    return _softmax(logits, raw.Softmax, -1 if axis is None else axis, name)


def log_softmax(logits, axis=None, name=None, dim=None):
    """`x - log(sum(exp(x)))` along an axis, the last one by default.

    Args:
        logits: Scores before a softmax or sigmoid.
        axis: The axis of classes; the last if None.
        name: The name of the operation in the graph.
        dim: An older name of `axis`.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.math.log_softmax([[1.0, 3.0]]))
        array([[-2.126928  , -0.12692805]], dtype=float32)
    """
    axis = either("axis", axis, "dim", dim)
    return _softmax(logits, raw.LogSoftmax, -1 if axis is None else axis, name)


def _softmax(logits, compute, axis, name):
    """The kernels go over the last axis; another one is swapped with it, before and after."""
    logits = convert_to_tensor(logits)
    rank = logits.shape.rank
    known = axis if isinstance(axis, int) else None
    if known == -1 or (known is not None and rank is not None and known == rank - 1):
        return compute(logits=logits, name=name)
    if known is not None and rank is not None and not -rank <= known < rank:
        raise InvalidArgumentError(
            None, None, f"Dimension (dim) must be in the range [{-rank}, {rank}) for logits of rank {rank}"
        )
    if rank is None:
        raise TypeError("The rank of the logits must be known for a softmax over an axis other than the last")
    axis = _from_start(axis, array.rank(logits))
    input_rank = array.rank(logits)
    axis = axis % rank
    last_first = _swap_with_last(logits, axis, math_ops.subtract(input_rank, 1))
    output = compute(logits=last_first)
    output = _swap_with_last(output, axis, math_ops.subtract(input_rank, 1), name=name)
    output.set_shape(logits.shape)
    return output


def _from_start(axis, rank):
    """An axis counted from the start, where it may be counted from the end."""
    if isinstance(axis, Tensor):
        return array.where(axis < 0, axis + rank, axis)
    return axis if axis >= 0 else axis + rank


def _swap_with_last(x, axis, last, name=None):
    order = array.concat([math_ops.range(axis), [last], math_ops.range(axis + 1, last), [axis]], 0)
    return array.transpose(x, order, name=name or "transpose")


def zero_fraction(value, name=None):
    """The share of entries that are zero, as a float32 scalar.

    Args:
        value: Numbers.
        name: The name of the operation in the graph.

    Returns:
        A scalar.

    Example:
        >>> sess.run(tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0]))
        np.float32(0.5)
    """
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        size = array.size(value, out_type=dtypes.int64)
        # Counting in int32 is quicker, and safe up to its largest number.
        nonzero = cond(
            size <= dtypes.int32.max,
            true_fn=lambda: math_ops.cast(_count_nonzero(value, dtypes.int32), dtypes.int64),
            false_fn=lambda: _count_nonzero(value, dtypes.int64),
        )
        with name_scope("counts_to_fraction"):
            zeros = size - nonzero
            fraction = math_ops.cast(zeros, dtypes.float32) / math_ops.cast(size, dtypes.float32)
        return array.identity(fraction, "fraction")


def _count_nonzero(value, dtype=dtypes.int64):
    with name_scope("count_nonzero"):
        differ = math_ops.not_equal(value, array.zeros([], dtype=value.dtype))
        return math_ops.reduce_sum(math_ops.cast(differ, dtype), name="nonzero_count")


# Static shapes


shape_rule("Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign")(like_first)
shape_rule("ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad")(
    like_first_two
)


@shape_rule("Softmax", "LogSoftmax")
def _at_least_vector(op):
    return op.inputs[0].shape.with_rank_at_least(1)


@shape_rule("BiasAdd", "BiasAddV1")
def _bias_add_shape(op):
    value, bias = op.inputs[0].shape.with_rank_at_least(2), op.inputs[1].shape.with_rank(1)
    if value.rank is None:
        return value
    axis = 1 if op.attrs.get("data_format") == b"NCHW" else value.rank - 1
    dims = value.dims
    dims[axis] = dims[axis].merge_with(bias.dims[0])
    return TensorShape(dims)


@shape_rule("BiasAddGrad")
def _bias_add_grad_shape(op):
    grad = op.inputs[0].shape.with_rank_at_least(2)
    if grad.rank is None:
        return TensorShape([None])
    return TensorShape([grad.dims[1 if op.attrs["data_format"] == b"NCHW" else -1]])
