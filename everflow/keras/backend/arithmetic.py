"""The backend's arithmetic: element by element, reductions, comparisons and products of matrices."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.keras.backend.config import floatx
from everflow.keras.backend.values import int_shape, is_sparse, named, ndim
from everflow.ops import array, math
from everflow.ops.math import clip as clip_ops
from everflow.ops.nn.normalization import l2_normalize as _l2_normalize
from everflow.ops.sparse.functions import sparse_tensor_dense_matmul

# --- one element at a time -----------------------------------------------------------------------


_OF_ONE = """{meaning}, element by element.

Args:
    x: A tensor.

Returns:
    A tensor of the same shape.

Example:
    >>> sess.run(tf.keras.backend.{name}(tf.constant({at})))
    {gives}
"""
_OF_TWO = """{meaning}, element by element.

Args:
    x: A tensor.
    y: A tensor; shapes broadcast.

Returns:
    A tensor of the shape that both broadcast to.

Example:
    >>> sess.run(tf.keras.backend.{name}(tf.constant([1, 2, 3]), 2))
    {gives}
"""


def _of_one(name, meaning, *, at, gives):
    """A function of one tensor. `at` some values it `gives` others: its example."""
    document = _OF_ONE.format(meaning=meaning, name=name, at=at, gives=gives)
    return named(name, document, lambda x: getattr(math, name)(x))


def _of_two(name, meaning, *, gives):
    """A function of two tensors. At [1, 2, 3] and 2 it `gives` something: its example."""
    document = _OF_TWO.format(meaning=meaning, name=name, gives=gives)
    return named(name, document, lambda x, y: getattr(math, name)(x, y))


abs = _of_one("abs", "Absolute values", at="[-1.5, 2.0]", gives="array([1.5, 2. ], dtype=float32)")
cos = _of_one("cos", "Cosines", at="[0.0, 1.0]", gives="array([1.        , 0.54030234], dtype=float32)")
exp = _of_one("exp", "Exponentials", at="[0.0, 1.0]", gives="array([1.       , 2.7182817], dtype=float32)")
log = _of_one("log", "Logarithms", at="[1.0, 2.0]", gives="array([0.       , 0.6931472], dtype=float32)")
round = _of_one(
    "round", "Nearest integers, halves to the even one", at="[-1.5, 2.0]", gives="array([-2.,  2.], dtype=float32)"
)
sign = _of_one("sign", "Signs", at="[-1.5, 2.0]", gives="array([-1.,  1.], dtype=float32)")
sin = _of_one("sin", "Sines", at="[0.0, 1.0]", gives="array([0.        , 0.84147096], dtype=float32)")
square = _of_one("square", "Squares", at="[-1.5, 2.0]", gives="array([2.25, 4.  ], dtype=float32)")


def constant_to_tensor(x, dtype):
    """A Python number as a constant of this dtype."""
    return convert_to_tensor(x, dtype=dtype)


def sqrt(x):
    """Square roots, element by element; those of negative numbers are zero.

    Args:
        x: A tensor, or what can be made one.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.keras.backend.sqrt(tf.constant([4.0, -1.0])))
        array([2., 0.], dtype=float32)
    """
    zero = constant_to_tensor(0.0, x.dtype.base_dtype)
    infinity = constant_to_tensor(np.inf, x.dtype.base_dtype)
    return math.sqrt(clip_ops.clip_by_value(x, zero, infinity))


pow = named(
    "pow",
    """Powers, element by element.

Args:
    x: A tensor, or what can be made one.
    a: The power.

Returns:
    A tensor of the same shape.

Example:
    >>> sess.run(tf.keras.backend.pow(tf.constant([2, 3]), 2))
    array([4, 9], dtype=int32)
""",
    lambda x, a: math.pow(x, a),
)


def clip(x, min_value, max_value):
    """Values brought within bounds.

    Args:
        x: A tensor, or what can be made one.
        min_value: The lower bound.
        max_value: The upper bound; None for none.

    Returns:
        A tensor of the same shape.

    Raises:
        TypeError: If there is no lower bound.

    Example:
        >>> sess.run(tf.keras.backend.clip(tf.constant([-1.0, 0.5, 7.0]), 0.0, 1.0))
        array([0. , 0.5, 1. ], dtype=float32)
    """
    if isinstance(min_value, (int, float)) and isinstance(max_value, (int, float)) and max_value < min_value:
        max_value = min_value
    if min_value is None:
        raise TypeError("`min_value` is a number; only `max_value` may be None, for no bound.")
    if max_value is None:
        max_value = np.inf
    lowest = constant_to_tensor(min_value, x.dtype.base_dtype)
    highest = constant_to_tensor(max_value, x.dtype.base_dtype)
    return clip_ops.clip_by_value(x, lowest, highest)


# --- comparisons ---------------------------------------------------------------------------------


equal = _of_two("equal", "Whether x == y", gives="array([False,  True, False])")
not_equal = _of_two("not_equal", "Whether x != y", gives="array([ True, False,  True])")
greater = _of_two("greater", "Whether x > y", gives="array([False, False,  True])")
greater_equal = _of_two("greater_equal", "Whether x >= y", gives="array([False,  True,  True])")
less = _of_two("less", "Whether x < y", gives="array([ True, False, False])")
less_equal = _of_two("less_equal", "Whether x <= y", gives="array([ True,  True, False])")
maximum = _of_two("maximum", "The larger of x and y", gives="array([2, 2, 3], dtype=int32)")
minimum = _of_two("minimum", "The smaller of x and y", gives="array([1, 2, 2], dtype=int32)")


# --- reductions ----------------------------------------------------------------------------------


def _as_float(x):
    return math.cast(x, floatx()) if x.dtype.base_dtype == dtypes.bool else x


def _as_bool(x):
    return math.cast(x, dtypes.bool)


_REDUCTION = """{meaning} along axes.

Args:
    x: A tensor.
    axis: The axis or axes to reduce; all of them if None.
    keepdims: Whether axes that are reduced stay, with the length 1.

Returns:
    A tensor without these axes.

Example:
    >>> sess.run(tf.keras.backend.{name}(tf.constant([[1.0, 2.0], [3.0, 6.0]]), axis=1))
    {gives}
"""


def _reduction(name, meaning, prepared=lambda x: x, compute=None, *, gives):
    """A reduction; of [[1, 2], [3, 6]] along axis 1 it `gives` something: its example."""
    reduce = getattr(math, compute or f"reduce_{name}")
    return named(
        name,
        _REDUCTION.format(meaning=meaning, name=name, gives=gives),
        lambda x, axis=None, keepdims=False: reduce(prepared(x), axis=axis, keepdims=keepdims),
    )


max = _reduction("max", "The largest value", gives="array([2., 6.], dtype=float32)")
min = _reduction("min", "The smallest value", gives="array([1., 3.], dtype=float32)")
sum = _reduction("sum", "The sum", gives="array([3., 9.], dtype=float32)")
prod = _reduction("prod", "The product", gives="array([ 2., 18.], dtype=float32)")
mean = _reduction(
    "mean", "The mean, of truth values how many are true,", _as_float, gives="array([1.5, 4.5], dtype=float32)"
)
var = _reduction("var", "The variance", _as_float, "reduce_variance", gives="array([0.25, 2.25], dtype=float32)")
std = _reduction("std", "The standard deviation", _as_float, gives="array([0.5, 1.5], dtype=float32)")
any = _reduction("any", "Whether anything is true", _as_bool, gives="array([ True,  True])")
all = _reduction("all", "Whether everything is true", _as_bool, gives="array([ True,  True])")
logsumexp = _reduction(
    "logsumexp", "The logarithm of the sum of exponentials", gives="array([2.3132617, 6.0485873], dtype=float32)"
)


argmax = named(
    "argmax",
    """Where the largest value along an axis is.

Args:
    x: A tensor, or what can be made one.
    axis: The axis to work along; negative ones count from the last.

Returns:
    A tensor of int64 without that axis.

Example:
    >>> sess.run(tf.keras.backend.argmax(tf.constant([[1.0, 9.0], [7.0, 3.0]])))
    array([1, 0])
""",
    lambda x, axis=-1: math.argmax(x, axis),
)
argmin = named(
    "argmin",
    """Where the smallest value along an axis is.

Args:
    x: A tensor, or what can be made one.
    axis: The axis to work along; negative ones count from the last.

Returns:
    A tensor of int64 without that axis.

Example:
    >>> sess.run(tf.keras.backend.argmin(tf.constant([[1.0, 9.0], [7.0, 3.0]])))
    array([0, 1])
""",
    lambda x, axis=-1: math.argmin(x, axis),
)
cumsum = named(
    "cumsum",
    """Sums of everything up to here along an axis.

Args:
    x: A tensor, or what can be made one.
    axis: The axis to work along; negative ones count from the last.

Returns:
    A tensor of the same shape.

Example:
    >>> sess.run(tf.keras.backend.cumsum(tf.constant([2, 3, 4])))
    array([2, 5, 9], dtype=int32)
""",
    lambda x, axis=0: math.cumsum(x, axis=axis),
)
cumprod = named(
    "cumprod",
    """Products of everything up to here along an axis.

    Args:
        x: A tensor, or what can be made one.
        axis: The axis to work along; negative ones count from the last.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.keras.backend.cumprod(tf.constant([2, 3, 4])))
        array([ 2,  6, 24], dtype=int32)
    """,
    lambda x, axis=0: math.cumprod(x, axis=axis),
)
l2_normalize = named(
    "l2_normalize",
    """Values scaled to length one along an axis.

    Args:
        x: A tensor, or what can be made one.
        axis: The axis; all elements together if None.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.keras.backend.l2_normalize(tf.constant([3.0, 4.0])))
        array([0.6, 0.8], dtype=float32)
    """,
    lambda x, axis=None: _l2_normalize(x, axis=axis),
)


# --- products ------------------------------------------------------------------------------------


def _sizes(x):
    """The shape, with tensors for sizes that are known when it runs only."""
    return [dynamic if known is None else known for known, dynamic in zip(int_shape(x), array.unstack(array.shape(x)))]


def dot(x, y):
    """The matrix product; for more dimensions, that of the last axis of x and the one before the last of y.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.

    Returns:
        A tensor.

    Example:
        >>> K = tf.keras.backend
        >>> K.int_shape(K.dot(K.ones((2, 3, 4)), K.ones((4, 5))))
        (2, 3, 5)
    """
    if ndim(x) is not None and (ndim(x) > 2 or ndim(y) > 2):
        x_sizes, y_sizes = tuple(_sizes(x)), tuple(_sizes(y))
        axes = list(range(ndim(y)))
        axes = [axes.pop(-2), *axes]
        rows = array.reshape(x, [-1, x_sizes[-1]])
        columns = array.reshape(array.transpose(y, perm=axes), [y_sizes[-2], -1])
        return array.reshape(math.matmul(rows, columns), x_sizes[:-1] + y_sizes[:-2] + y_sizes[-1:])
    if is_sparse(x):
        return sparse_tensor_dense_matmul(x, y)
    return math.matmul(x, y)


def batch_dot(x, y, axes=None):
    """The product of each element of a batch with its counterpart, along the given axes.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        axes: The axis of each to sum along; the last of x and the one before the last of y if None.

    Returns:
        A tensor.

    Example:
        >>> K = tf.keras.backend
        >>> K.int_shape(K.batch_dot(K.ones((4, 2, 3)), K.ones((4, 3, 5))))
        (4, 2, 5)
    """
    if isinstance(axes, int):
        axes = (axes, axes)
    x_rank, y_rank = ndim(x), ndim(y)
    if axes is None:
        axes = [x_rank - 1, y_rank - 2]
    # The shorter one gets axes of size one at the end, which the result loses again.
    missing = y_rank - x_rank
    if missing < 0:
        y = array.reshape(y, array.concat([array.shape(y), [1] * -missing], axis=0))
    elif missing > 0:
        x = array.reshape(x, array.concat([array.shape(x), [1] * missing], axis=0))
    if ndim(x) == 2 and ndim(y) == 2:
        if axes[0] == axes[1]:
            result = math.reduce_sum(math.multiply(x, y), axes[0])
        else:
            result = math.reduce_sum(math.multiply(array.transpose(x, [1, 0]), y), axes[1])
    else:
        adjoint_x = None if axes[0] == ndim(x) - 1 else True
        adjoint_y = True if axes[1] == ndim(y) - 1 else None
        result = math.matmul(x, y, adjoint_a=adjoint_x, adjoint_b=adjoint_y)
    if missing:
        start = x_rank + y_rank - 3 if missing < 0 else x_rank - 1
        result = array.squeeze(result, list(range(start, start + (missing if missing > 0 else -missing))))
    return array.expand_dims(result, 1) if ndim(result) == 1 else result
