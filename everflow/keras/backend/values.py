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

    Args:
        value: A number, list or array.
        dtype: The type, or its name; `floatx()` if None.
        name: Its name.
        constraint: A function that gives the variable back as it may be, applied after each step of an optimizer.

    Returns:
        A variable.

    Example:
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
    """A constant, of the default float type where no other is given.

    Args:
        value: A number, list or array.
        dtype: The type, or its name; `floatx()` if None.
        shape: The shape; that of the value if None.
        name: Its name.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.keras.backend.constant([1, 2]))
        array([1., 2.], dtype=float32)
    """
    return constant_ops.constant(value, dtype=floatx() if dtype is None else dtype, shape=shape, name=name)


def placeholder(shape=None, ndim=None, dtype=None, sparse=False, name=None, ragged=False):
    """A tensor that is fed, of the default float type unless told; `ndim` stands for that many unknown sizes.

    Args:
        shape: The shape; None for any, None in it for sizes that may be any.
        ndim: The rank, where no shape is given.
        dtype: The type, or its name; `floatx()` if None.
        sparse: Whether it is a SparseTensor.
        name: Its name.
        ragged: Whether it is a RaggedTensor.

    Returns:
        A tensor.

    Raises:
        ValueError: If it is to be sparse and ragged.

    Example:
        >>> tf.keras.backend.placeholder(ndim=2).shape.as_list()
        [None, None]
    """
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
            sizes = list(shape)[1:]
            # Axes are ragged up to the first of a known size.
            rank = next((i for i, size in enumerate(sizes) if size is not None), len(sizes))
            return ragged_placeholder(dtype=dtype, ragged_rank=rank, value_shape=sizes[rank:], name=name)
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
    """A variable of zeros, or a tensor of them where the shape is only known when it runs.

    Args:
        shape: The lengths of the axes.
        dtype: The type, or its name; `floatx()` if None.
        name: Its name.

    Returns:
        A variable, or a tensor.

    Example:
        >>> tf.keras.backend.eval(tf.keras.backend.zeros((2, 2)))
        array([[0., 0.],
               [0., 0.]], dtype=float32)
    """,
    lambda shape, dtype=None, name=None: _filled(array.zeros, shape, dtype, name),
)
ones = named(
    "ones",
    """A variable of ones, or a tensor of them where the shape is only known when it runs.

    Args:
        shape: The lengths of the axes.
        dtype: The type, or its name; `floatx()` if None.
        name: Its name.

    Returns:
        A variable, or a tensor.

    Example:
        >>> tf.keras.backend.eval(tf.keras.backend.ones((2, 2)))
        array([[1., 1.],
               [1., 1.]], dtype=float32)
    """,
    lambda shape, dtype=None, name=None: _filled(array.ones, shape, dtype, name),
)


def eye(size, dtype=None, name=None):
    """A variable that is the identity matrix of this size.

    Args:
        size: How many rows.
        dtype: The type of the elements.
        name: Its name.

    Returns:
        A variable.

    Example:
        >>> K = tf.keras.backend
        >>> K.get_value(K.eye(2))
        array([[1., 0.],
               [0., 1.]], dtype=float32)
    """
    dtype = dtypes.as_dtype(floatx() if dtype is None else dtype)
    return variable(linalg.eye(size, dtype=dtype), dtype, name)


zeros_like = named(
    "zeros_like",
    """Zeros in the shape of x.

    Args:
        x: A tensor, or what can be made one.
        dtype: The type, or its name; that of x if None.
        name: Its name.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.keras.backend.zeros_like(tf.constant([1, 2])))
        array([0, 0], dtype=int32)
    """,
    lambda x, dtype=None, name=None: array.zeros_like(x, dtype=dtype, name=name),
)
ones_like = named(
    "ones_like",
    """Ones in the shape of x.

    Args:
        x: A tensor, or what can be made one.
        dtype: The type, or its name; that of x if None.
        name: Its name.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.keras.backend.ones_like(tf.constant([1, 2])))
        array([1, 1], dtype=int32)
    """,
    lambda x, dtype=None, name=None: array.ones_like(x, dtype=dtype, name=name),
)
identity = named("identity", "The same values under another name.", lambda x, name=None: array.identity(x, name=name))


def _random_variable(draw, shape, first, second, dtype, name, seed):
    dtype = dtypes.as_dtype(floatx() if dtype is None else dtype)
    if seed is None:
        # Taken from numpy, so that np.random.seed makes a program repeat itself.
        seed = np.random.randint(int(10e8))
    return variable(draw(shape, first, second, dtype=dtype, seed=seed), dtype=dtype, name=name)


def random_uniform_variable(shape, low, high, dtype=None, name=None, seed=None):
    """A variable whose first values are drawn uniformly from [low, high).

    Args:
        shape: The lengths of the axes.
        low: The lower bound.
        high: The upper bound, which is not reached.
        dtype: The type, or its name; `floatx()` if None.
        name: Its name.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        A variable.

    Example:
        >>> tf.keras.backend.random_uniform_variable((2, 3), 0.0, 1.0).shape.as_list()
        [2, 3]
    """
    return _random_variable(random.random_uniform, shape, low, high, dtype, name, seed)


def random_normal_variable(shape, mean, scale, dtype=None, name=None, seed=None):
    """A variable whose first values are drawn from a normal distribution.

    Args:
        shape: The lengths of the axes.
        mean: The mean.
        scale: The standard deviation.
        dtype: The type, or its name; `floatx()` if None.
        name: Its name.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        A variable.

    Example:
        >>> tf.keras.backend.random_normal_variable((2, 3), 0.0, 1.0).shape.as_list()
        [2, 3]
    """
    return _random_variable(random.random_normal, shape, mean, scale, dtype, name, seed)


# --- what is known of a tensor -------------------------------------------------------------------


def is_sparse(tensor):
    """Whether this is a SparseTensor.

    Args:
        tensor: The tensor.

    Returns:
        A bool.

    Example:
        >>> tf.keras.backend.is_sparse(tf.constant(1.0))
        False
    """
    return isinstance(tensor, SparseTensor)


def to_dense(tensor):
    """A sparse tensor made dense; others as they are.

    Args:
        tensor: The tensor.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.keras.backend.to_dense(tf.SparseTensor([[1]], [5], [3])))
        array([0, 5, 0], dtype=int32)
    """
    return sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


def is_keras_tensor(x):
    """Whether a Keras layer (or Input) made this tensor."""
    if not isinstance(x, (Tensor, Variable, SparseTensor)) and not hasattr(x, "flat_values"):
        raise ValueError(f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor instance.")
    return hasattr(x, "_keras_history")


def dtype(x):
    """The name of a tensor's dtype.

    Args:
        x: A tensor, or what can be made one.

    Returns:
        A string.

    Example:
        >>> tf.keras.backend.dtype(tf.constant(1.0))
        'float32'
    """
    return x.dtype.base_dtype.name


def int_shape(x):
    """The shape as a tuple of ints and Nones; None where not even the rank is known.

    Args:
        x: A tensor, or what can be made one.

    Returns:
        A tuple, or None.

    Example:
        >>> tf.keras.backend.int_shape(tf.placeholder(tf.float32, [None, 3]))
        (None, 3)
    """
    shape = x.shape
    return shape if isinstance(shape, tuple) else None if shape.ndims is None else tuple(shape.as_list())


def ndim(x):
    """The number of dimensions; None where it isn't known.

    Args:
        x: A tensor, or what can be made one.

    Returns:
        A number, or None.

    Example:
        >>> tf.keras.backend.ndim(tf.ones([2, 3]))
        2
    """
    shape = x.shape
    return len(shape) if isinstance(shape, tuple) else shape.ndims


shape = named(
    "shape",
    """The shape as a tensor.

Args:
    x: A tensor, or what can be made one.

Returns:
    A vector.

Example:
    >>> sess.run(tf.keras.backend.shape(tf.ones([2, 3])))
    array([2, 3], dtype=int32)
""",
    lambda x: array.shape(x),
)


def count_params(x):
    """The number of elements of a tensor whose shape is known.

    Args:
        x: A tensor, or what can be made one.

    Returns:
        A number.

    Example:
        >>> tf.keras.backend.count_params(tf.ones([2, 3]))
        np.int64(6)
    """
    return np.prod(TensorShape(x.shape).as_list())


# --- values in the session -----------------------------------------------------------------------


def eval(x):
    """The value of a variable or tensor.

    Args:
        x: A tensor, or what can be made one.

    Returns:
        An array.

    Example:
        >>> K = tf.keras.backend
        >>> K.eval(K.constant([1, 2]) * 2)
        array([2., 4.], dtype=float32)
    """
    return get_value(to_dense(x))


def get_value(x):
    """The value of a variable.

    Args:
        x: The variable.

    Returns:
        An array.

    Example:
        >>> tf.keras.backend.get_value(tf.keras.backend.variable([1.0, 2.0]))
        array([1., 2.], dtype=float32)
    """
    if not isinstance(x, (Tensor, Variable)):
        return x
    if hasattr(x, "numpy") and executing_eagerly():
        return x.numpy()
    return x.eval(session=get_session((x,)))


def batch_get_value(tensors):
    """The values of several variables, in one run.

    Args:
        tensors: The variables.

    Returns:
        A list of arrays.

    Raises:
        RuntimeError: Inside of a function that is traced.

    Example:
        >>> K = tf.keras.backend
        >>> K.batch_get_value([K.variable(1.0), K.variable(2.0)])
        [np.float32(1.0), np.float32(2.0)]
    """
    if executing_eagerly():
        return [x.numpy() for x in tensors]
    return get_session(tensors).run(list(tensors)) if len(tensors) else []


def set_value(x, value):
    """Set a variable from a numpy array.

    Args:
        x: The variable.
        value: The value.

    Returns:
        None.

    Example:
        >>> K = tf.keras.backend
        >>> v = K.variable(1.0)
        >>> K.set_value(v, 5.0)
        >>> K.get_value(v)
        np.float32(5.0)
    """
    batch_set_value([(x, value)])


def batch_set_value(tuples):
    """Set several variables, given as pairs (variable, value), in one run.

    Args:
        tuples: The pairs.

    Returns:
        None.

    Example:
        >>> K = tf.keras.backend
        >>> v = K.variable(1.0)
        >>> K.batch_set_value([(v, 5.0)])
        >>> K.get_value(v)
        np.float32(5.0)
    """
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


update = named(
    "update",
    """An op that sets a variable.

Args:
    x: The variable.
    new_x: The new value.

Returns:
    An operation, or the variable's new value.

Example:
    >>> K = tf.keras.backend
    >>> v = K.variable(1.0)
    >>> _ = K.get_value(v)
    >>> sess.run(K.update(v, 5.0))
    np.float32(5.0)
""",
    lambda x, new_x: x.assign(new_x),
)
update_add = named(
    "update_add",
    """An op that adds to a variable.

Args:
    x: The variable.
    increment: What is added.

Returns:
    An operation, or the variable's new value.

Example:
    >>> K = tf.keras.backend
    >>> v = K.variable(1.0)
    >>> _ = K.get_value(v)
    >>> sess.run(K.update_add(v, 2.0))
    np.float32(3.0)
""",
    lambda x, increment: x.assign_add(increment),
)
update_sub = named(
    "update_sub",
    """An op that subtracts from a variable.

Args:
    x: The variable.
    decrement: What is subtracted.

Returns:
    An operation, or the variable's new value.

Example:
    >>> K = tf.keras.backend
    >>> v = K.variable(1.0)
    >>> _ = K.get_value(v)
    >>> sess.run(K.update_sub(v, 2.0))
    np.float32(-1.0)
""",
    lambda x, decrement: x.assign_sub(decrement),
)


def moving_average_update(x, value, momentum):
    """An op that moves a variable towards a value, keeping `momentum` of what it was.

    Args:
        x: The variable.
        value: The new value.
        momentum: What is kept of the old one.

    Returns:
        An operation.

    Example:
        >>> K = tf.keras.backend
        >>> v = K.variable(1.0)
        >>> update = K.moving_average_update(v, 2.0, 0.9)
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(update)
        np.float32(1.9999995)
    """
    # tf.train is built on layers: it can't be loaded before this module is.
    from everflow.train.moving_averages import assign_moving_average

    return assign_moving_average(x, value, momentum, zero_debias=True)


def flatten_to_tensors(values):
    """The leaves of a structure, variables as tensors that hold their values."""
    return [array.identity(v) if isinstance(v, Variable) else v for v in nest.flatten(values)]


def cast(x, dtype):
    """A tensor in another dtype.

    Args:
        x: A tensor, or what can be made one.
        dtype: The type, or its name.

    Returns:
        A tensor of the same shape.

    Example:
        >>> tf.keras.backend.cast(tf.constant([1, 2]), "float64").dtype
        tf.float64
    """
    return math.cast(x, dtype)
