"""Variables, placeholders and constants of Keras, what is known of them, and their values in Keras's session."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes, nest
from everflow.framework.composites import SparseTensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly
from everflow.framework.shapes import TensorShape
from everflow.keras.backend.config import floatx
from everflow.keras.backend.state import get_graph, get_session, track_variable
from everflow.ops import array, math
from everflow.ops.array import constants as constant_ops
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.ragged import placeholder as ragged_placeholder
from everflow.ops.random import distributions as random
from everflow.ops.sparse.functions import sparse_placeholder, sparse_tensor_to_dense
from everflow.ops.variables.resource import ResourceVariable
from everflow.ops.variables.variable import Variable


def named(name, doc, function):
    """A public function that only hands on to another one: a lambda, with its name and what it does."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def variable(value, dtype=None, name=None, constraint=None):
    """A variable with this first value, which Keras's session initialises by itself.

    >>> K = tf.keras.backend
    >>> K.get_value(K.variable([[1, 2]]))
    array([[1., 2.]], dtype=float32)
    """
    if dtype is None:
        dtype = floatx()
    if hasattr(value, "tocoo"):
        return _sparse_constant(value)
    result = ResourceVariable(value, dtype=dtypes.as_dtype(dtype), name=name, constraint=constraint)
    if isinstance(value, np.ndarray):
        result._keras_shape = value.shape
    elif hasattr(value, "shape"):
        result._keras_shape = int_shape(value)
    track_variable(result)
    return result


def _sparse_constant(matrix):
    """A SparseTensor from a matrix of scipy.sparse."""
    matrix = matrix.tocoo()
    indices = np.stack([matrix.row, matrix.col], axis=1).astype("int64")
    return SparseTensor(indices=indices, values=matrix.data, dense_shape=matrix.shape)


def constant(value, dtype=None, shape=None, name=None):
    """A constant, of the default float type where no other is given."""
    return constant_ops.constant(value, dtype=floatx() if dtype is None else dtype, shape=shape, name=name)


def placeholder(shape=None, ndim=None, dtype=None, sparse=False, name=None, ragged=False):
    """A tensor that is fed, of the default float type unless told; `ndim` stands for that many unknown sizes."""
    if sparse and ragged:
        raise ValueError("A placeholder is either sparse or ragged: it can't be both.")
    if dtype is None:
        dtype = floatx()
    if not shape and ndim:
        shape = (None,) * ndim
    with get_graph().as_default():
        if sparse:
            return sparse_placeholder(dtype, shape=shape, name=name)
        if ragged:
            return ragged_placeholder(dtype=dtype, ragged_rank=len(shape) - 1, name=name)
        return constant_ops.placeholder(dtype, shape=shape, name=name)


def is_placeholder(x):
    """Whether x is fed rather than computed."""
    try:
        return x.op.type == "Placeholder"
    except AttributeError:
        return False


def _filled(build, shape, dtype, name):
    if dtype is None:
        dtype = floatx()
    dtype = dtypes.as_dtype(dtype)
    value = build(shape=shape, dtype=dtype, name=name)
    return variable(value, dtype=dtype, name=name) if value.shape.is_fully_defined() else value


zeros = named(
    "zeros",
    "A variable of zeros, or a tensor of them where the shape is only known when it runs.",
    lambda shape, dtype=None, name=None: _filled(array.zeros, shape, dtype, name),
)
ones = named(
    "ones",
    "A variable of ones, or a tensor of them where the shape is only known when it runs.",
    lambda shape, dtype=None, name=None: _filled(array.ones, shape, dtype, name),
)


def eye(size, dtype=None, name=None):
    """A variable that is the identity matrix of this size."""
    dtype = dtypes.as_dtype(floatx() if dtype is None else dtype)
    return variable(linalg.eye(size, dtype=dtype), dtype, name)


zeros_like = named(
    "zeros_like",
    "Zeros in the shape of x.",
    lambda x, dtype=None, name=None: array.zeros_like(x, dtype=dtype, name=name),
)
ones_like = named(
    "ones_like", "Ones in the shape of x.", lambda x, dtype=None, name=None: array.ones_like(x, dtype=dtype, name=name)
)
identity = named("identity", "The same values under another name.", lambda x, name=None: array.identity(x, name=name))


def _random_variable(draw, shape, first, second, dtype, name, seed):
    dtype = dtypes.as_dtype(floatx() if dtype is None else dtype)
    if seed is None:
        # Taken from numpy, so that np.random.seed makes a program repeat itself.
        seed = np.random.randint(int(10e8))
    return variable(draw(shape, first, second, dtype=dtype, seed=seed), dtype=dtype, name=name)


def random_uniform_variable(shape, low, high, dtype=None, name=None, seed=None):
    """A variable whose first values are drawn uniformly from [low, high)."""
    return _random_variable(random.random_uniform, shape, low, high, dtype, name, seed)


def random_normal_variable(shape, mean, scale, dtype=None, name=None, seed=None):
    """A variable whose first values are drawn from a normal distribution."""
    return _random_variable(random.random_normal, shape, mean, scale, dtype, name, seed)


# --- what is known of a tensor -------------------------------------------------------------------


def is_sparse(tensor):
    """Whether this is a SparseTensor."""
    return isinstance(tensor, SparseTensor)


def to_dense(tensor):
    """A sparse tensor made dense; others as they are."""
    return sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


def is_keras_tensor(x):
    """Whether a Keras layer (or Input) made this tensor."""
    if not isinstance(x, (Tensor, Variable, SparseTensor)) and not hasattr(x, "flat_values"):
        raise ValueError(f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor instance.")
    return hasattr(x, "_keras_history")


def dtype(x):
    """The name of a tensor's dtype."""
    return x.dtype.base_dtype.name


def int_shape(x):
    """The shape as a tuple of ints and Nones; None where not even the rank is known."""
    shape = x.shape
    return shape if isinstance(shape, tuple) else None if shape.ndims is None else tuple(shape.as_list())


def ndim(x):
    """The number of dimensions; None where it isn't known."""
    shape = x.shape
    return len(shape) if isinstance(shape, tuple) else shape.ndims


shape = named("shape", "The shape as a tensor.", lambda x: array.shape(x))


def count_params(x):
    """The number of elements of a tensor whose shape is known."""
    return np.prod(TensorShape(x.shape).as_list())


# --- values in the session -----------------------------------------------------------------------


def eval(x):
    """The value of a variable or tensor.

    >>> K = tf.keras.backend
    >>> K.eval(K.constant([1, 2]) * 2)
    array([2., 4.], dtype=float32)
    """
    return get_value(to_dense(x))


def get_value(x):
    """The value of a variable."""
    if not isinstance(x, (Tensor, Variable)):
        return x
    if hasattr(x, "numpy") and executing_eagerly():
        return x.numpy()
    return x.eval(session=get_session((x,)))


def batch_get_value(tensors):
    """The values of several variables, in one run."""
    if executing_eagerly():
        return [x.numpy() for x in tensors]
    return get_session(tensors).run(list(tensors)) if len(tensors) else []


def set_value(x, value):
    """Set a variable from a numpy array."""
    batch_set_value([(x, value)])


def batch_set_value(tuples):
    """Set several variables, given as pairs (variable, value), in one run."""
    pairs = [(x, np.asarray(value, dtype=dtype(x))) for x, value in tuples]
    if executing_eagerly():
        for x, value in pairs:
            x.assign(value)
        return
    if not pairs:
        return
    feeds, assigns = {}, []
    for x, value in pairs:
        # Drawn once for each variable, so that setting weights again and again doesn't grow the graph.
        if not hasattr(x, "_assign_placeholder"):
            with x.op.graph.as_default():
                unknown = constant_ops.placeholder(x.dtype.base_dtype, shape=[None] * value.ndim)
                x._assign_placeholder, x._assign_op = unknown, x.assign(unknown)
        assigns.append(x._assign_op)
        feeds[x._assign_placeholder] = value
    get_session([x for x, _ in pairs]).run(assigns, feed_dict=feeds)


update = named("update", "An op that sets a variable.", lambda x, new_x: x.assign(new_x))
update_add = named("update_add", "An op that adds to a variable.", lambda x, increment: x.assign_add(increment))
update_sub = named("update_sub", "An op that subtracts from a variable.", lambda x, decrement: x.assign_sub(decrement))


def moving_average_update(x, value, momentum):
    """An op that moves a variable towards a value, keeping `momentum` of what it was."""
    # tf.train is built on layers: it can't be loaded before this module is.
    from everflow.train.moving_averages import assign_moving_average

    return assign_moving_average(x, value, momentum, zero_debias=True)


def flatten_to_tensors(values):
    """The leaves of a structure, variables as tensors that hold their values."""
    return [array.identity(v) if isinstance(v, Variable) else v for v in nest.flatten(values)]


def cast(x, dtype):
    """A tensor in another dtype."""
    return math.cast(x, dtype)
