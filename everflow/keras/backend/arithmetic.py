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


def _of_one(name, meaning):
    return named(name, f"{meaning}, element by element.", lambda x: getattr(math, name)(x))


def _of_two(name, meaning):
    return named(name, f"{meaning}, element by element.", lambda x, y: getattr(math, name)(x, y))


abs = _of_one("abs", "Absolute values")
cos = _of_one("cos", "Cosines")
exp = _of_one("exp", "Exponentials")
log = _of_one("log", "Logarithms")
round = _of_one("round", "Nearest integers, halves to the even one")
sign = _of_one("sign", "Signs")
sin = _of_one("sin", "Sines")
square = _of_one("square", "Squares")


def constant_to_tensor(x, dtype):
    """A Python number as a constant of this dtype."""
    return convert_to_tensor(x, dtype=dtype)


def sqrt(x):
    """Square roots, element by element; those of negative numbers are zero."""
    zero = constant_to_tensor(0.0, x.dtype.base_dtype)
    infinity = constant_to_tensor(np.inf, x.dtype.base_dtype)
    return math.sqrt(clip_ops.clip_by_value(x, zero, infinity))


pow = named("pow", "Powers, element by element.", lambda x, a: math.pow(x, a))


def clip(x, min_value, max_value):
    """Values brought within bounds; None stands for no bound."""
    if isinstance(min_value, (int, float)) and isinstance(max_value, (int, float)) and max_value < min_value:
        max_value = min_value
    if min_value is None:
        min_value = -np.inf
    if max_value is None:
        max_value = np.inf
    lowest = constant_to_tensor(min_value, x.dtype.base_dtype)
    highest = constant_to_tensor(max_value, x.dtype.base_dtype)
    return clip_ops.clip_by_value(x, lowest, highest)


# --- comparisons ---------------------------------------------------------------------------------


equal = _of_two("equal", "Whether x == y")
not_equal = _of_two("not_equal", "Whether x != y")
greater = _of_two("greater", "Whether x > y")
greater_equal = _of_two("greater_equal", "Whether x >= y")
less = _of_two("less", "Whether x < y")
less_equal = _of_two("less_equal", "Whether x <= y")
maximum = _of_two("maximum", "The larger of x and y")
minimum = _of_two("minimum", "The smaller of x and y")


# --- reductions ----------------------------------------------------------------------------------


def _as_float(x):
    return math.cast(x, floatx()) if x.dtype.base_dtype == dtypes.bool else x


def _as_bool(x):
    return math.cast(x, dtypes.bool)


def _reduction(name, meaning, prepared=lambda x: x, compute=None):
    reduce = getattr(math, compute or f"reduce_{name}")
    return named(
        name,
        f"{meaning} along axes.",
        lambda x, axis=None, keepdims=False: reduce(prepared(x), axis=axis, keepdims=keepdims),
    )


max = _reduction("max", "The largest value")
min = _reduction("min", "The smallest value")
sum = _reduction("sum", "The sum")
prod = _reduction("prod", "The product")
mean = _reduction("mean", "The mean, of truth values how many are true,", _as_float)
var = _reduction("var", "The variance", _as_float, "reduce_variance")
std = _reduction("std", "The standard deviation", _as_float)
any = _reduction("any", "Whether anything is true", _as_bool)
all = _reduction("all", "Whether everything is true", _as_bool)
logsumexp = _reduction("logsumexp", "The logarithm of the sum of exponentials")


argmax = named("argmax", "Where the largest value along an axis is.", lambda x, axis=-1: math.argmax(x, axis))
argmin = named("argmin", "Where the smallest value along an axis is.", lambda x, axis=-1: math.argmin(x, axis))
cumsum = named("cumsum", "Sums of everything up to here along an axis.", lambda x, axis=0: math.cumsum(x, axis=axis))
cumprod = named(
    "cumprod", "Products of everything up to here along an axis.", lambda x, axis=0: math.cumprod(x, axis=axis)
)
l2_normalize = named(
    "l2_normalize", "Values scaled to length one along an axis.", lambda x, axis=None: _l2_normalize(x, axis=axis)
)


# --- products ------------------------------------------------------------------------------------


def _sizes(x):
    """The shape, with tensors for sizes that are known when it runs only."""
    return [dynamic if known is None else known for known, dynamic in zip(int_shape(x), array.unstack(array.shape(x)))]


def dot(x, y):
    """The matrix product; for more dimensions, that of the last axis of x and the one before the last of y.

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

    >>> K = tf.keras.backend
    >>> K.int_shape(K.batch_dot(K.ones((32, 20, 1)), K.ones((32, 30, 20)), axes=(1, 2)))
    (32, 1, 30)
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
