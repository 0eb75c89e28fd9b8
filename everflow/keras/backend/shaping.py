"""The backend's functions that move elements without changing them: reshaping, joining, repeating, padding, looking up."""

from __future__ import annotations

import numpy as np

from everflow.keras.backend.config import normalize_data_format
from everflow.keras.backend.values import is_sparse, named, ndim, to_dense
from everflow.ops import array, math
from everflow.ops.array import constants as constant_ops
from everflow.ops.image.resize import ResizeMethod, resize_images_v2
from everflow.ops.sparse.functions import sparse_concat, sparse_reshape
from everflow.ops.variables.resource import is_resource_variable

transpose = named(
    "transpose",
    """The axes in reverse order.

Args:
    x: A tensor, or what can be made one.

Returns:
    A tensor.

Example:
    >>> tf.keras.backend.transpose(tf.ones([2, 3])).shape.as_list()
    [3, 2]
""",
    lambda x: array.transpose(x),
)
permute_dimensions = named(
    "permute_dimensions",
    """The axes in another order.

    Args:
        x: A tensor, or what can be made one.
        pattern: The axes in their new order.

    Returns:
        A tensor.

    Example:
        >>> tf.keras.backend.permute_dimensions(tf.ones([2, 3, 4]), (2, 0, 1)).shape.as_list()
        [4, 2, 3]
    """,
    lambda x, pattern: array.transpose(x, perm=pattern),
)


def reshape(x, shape):
    """The same elements in another shape.

    Args:
        x: A tensor, or what can be made one.
        shape: The lengths of the axes.

    Returns:
        A tensor.

    Example:
        >>> tf.keras.backend.reshape(tf.ones([2, 3]), (3, 2)).shape.as_list()
        [3, 2]
    """
    return sparse_reshape(x, shape) if is_sparse(x) else array.reshape(x, shape)


flatten = named(
    "flatten",
    """All elements in one row.

Args:
    x: A tensor, or what can be made one.

Returns:
    A vector.

Example:
    >>> sess.run(tf.keras.backend.flatten(tf.constant([[1, 2], [3, 4]])))
    array([1, 2, 3, 4], dtype=int32)
""",
    lambda x: array.reshape(x, [-1]),
)


def batch_flatten(x):
    """For each element of the batch, all of its elements in one row.

    Args:
        x: A tensor, or what can be made one.

    Returns:
        A matrix.

    Example:
        >>> K = tf.keras.backend
        >>> K.int_shape(K.batch_flatten(K.ones((2, 3, 4))))
        (2, 12)
    """
    return array.reshape(x, array.stack([-1, math.reduce_prod(array.shape(x)[1:])]))


expand_dims = named(
    "expand_dims",
    """One more axis, of size one.

Args:
    x: A tensor, or what can be made one.
    axis: Where the new axis is put.

Returns:
    A tensor with one axis more.

Example:
    >>> tf.keras.backend.expand_dims(tf.ones([2, 3])).shape.as_list()
    [2, 3, 1]
""",
    lambda x, axis=-1: array.expand_dims(x, axis),
)
squeeze = named(
    "squeeze",
    """One axis of size one less.

Args:
    x: A tensor, or what can be made one.
    axis: The axis.

Returns:
    A tensor.

Example:
    >>> tf.keras.backend.squeeze(tf.ones([2, 1, 3]), 1).shape.as_list()
    [2, 3]
""",
    lambda x, axis: array.squeeze(x, [axis]),
)
stack = named(
    "stack",
    """Tensors of one shape along a new axis.

Args:
    x: The tensors.
    axis: Where the new axis is put.

Returns:
    A tensor.

Example:
    >>> sess.run(tf.keras.backend.stack([tf.constant([1, 2]), tf.constant([3, 4])]))
    array([[1, 2],
           [3, 4]], dtype=int32)
""",
    lambda x, axis=0: array.stack(x, axis=axis),
)


def concatenate(tensors, axis=-1):
    """Tensors one after the other along an axis.

    Args:
        tensors: The tensors.
        axis: The axis to work along; negative ones count from the last.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.keras.backend.concatenate([tf.constant([[1, 2]]), tf.constant([[3]])]))
        array([[1, 2, 3]], dtype=int32)
    """
    if axis < 0:
        rank = ndim(tensors[0])
        axis = axis % rank if rank else 0
    sparse = [is_sparse(tensor) for tensor in tensors]
    if len(sparse) == sum(sparse):
        return sparse_concat(axis, tensors)
    return array.concat([to_dense(tensor) for tensor in tensors], axis)


def repeat(x, n):
    """A matrix repeated along a new second axis: (samples, size) becomes (samples, n, size).

    Args:
        x: A matrix.
        n: How often.

    Returns:
        A tensor.

    Raises:
        AssertionError: If it is no matrix.

    Example:
        >>> tf.keras.backend.repeat(tf.ones([2, 3]), 4).shape.as_list()
        [2, 4, 3]
    """
    if ndim(x) != 2:
        raise AssertionError(f"K.repeat takes a tensor of two dimensions, not of {ndim(x)}")
    return array.tile(array.expand_dims(x, 1), array.stack([1, n, 1]))


def repeat_elements(x, rep, axis):
    """Each slice along an axis repeated in place, as np.repeat does.

    Args:
        x: A tensor, or what can be made one.
        rep: How often.
        axis: The axis.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.keras.backend.repeat_elements(tf.constant([1, 2]), 2, 0))
        array([1, 1, 2, 2], dtype=int32)
    """
    sizes = x.shape.as_list()
    if sizes[axis] is not None:
        parts = array.split(value=x, num_or_size_splits=sizes[axis], axis=axis)
        return concatenate([part for part in parts for _ in range(rep)], axis)
    # The size isn't known: a new axis next to it is repeated, then both become one.
    if axis < 0:
        axis += len(sizes)
    shape = array.shape(x)
    factors = np.ones(len(sizes) + 1, dtype="int32")
    factors[axis + 1] = rep
    repeated = array.tile(array.expand_dims(x, axis=axis + 1), factors)
    repeated = array.reshape(repeated, shape * constant_ops.constant(np.delete(factors, axis)))
    repeated.set_shape(sizes)
    return repeated


def tile(x, n):
    """x repeated n times along each axis.

    Args:
        x: A tensor, or what can be made one.
        n: How often, for each axis.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.keras.backend.tile(tf.constant([1, 2]), 2))
        array([1, 2, 1, 2], dtype=int32)
    """
    return array.tile(x, [n] if isinstance(n, int) else n)


def reverse(x, axes):
    """The elements along axes in reverse order.

    Args:
        x: A tensor, or what can be made one.
        axes: The axis or axes.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.keras.backend.reverse(tf.constant([1, 2, 3]), 0))
        array([3, 2, 1], dtype=int32)
    """
    return array.reverse(x, [axes] if isinstance(axes, int) else axes)


def arange(start, stop=None, step=1, dtype="int32"):
    """Numbers from start to before stop; with one argument, from zero to before it.

    Args:
        start: The first number; where alone, the limit.
        stop: Where it ends.
        step: From a number to the next.
        dtype: The type of the elements.

    Returns:
        A vector.

    Example:
        >>> sess.run(tf.keras.backend.arange(1, 7, 2))
        array([1, 3, 5], dtype=int32)
    """
    if stop is None and start < 0:
        start = 0
    result = math.range(start, limit=stop, delta=step, name="arange")
    return result if dtype == "int32" else math.cast(result, dtype)


def gather(reference, indices):
    """The rows of a tensor at these indices.

    Args:
        reference: The tensor.
        indices: Whole numbers.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.keras.backend.gather(tf.constant([10, 20, 30]), [2, 0]))
        array([30, 10], dtype=int32)
    """
    if is_resource_variable(reference):
        return reference.sparse_read(indices)
    return array.gather(reference, indices)


def one_hot(indices, num_classes):
    """Integers as rows of zeros with a single one.

    Args:
        indices: Whole numbers.
        num_classes: How many classes there are.

    Returns:
        A tensor with one axis more.

    Example:
        >>> sess.run(tf.keras.backend.one_hot(tf.constant([0, 2]), 3))
        array([[1., 0., 0.],
               [0., 0., 1.]], dtype=float32)
    """
    return array.one_hot(indices, depth=num_classes, axis=-1)


# --- padding and resizing ------------------------------------------------------------------------


def temporal_padding(x, padding=(1, 1)):
    """Zeros before and after the middle axis of a tensor of three.

    Args:
        x: A tensor, or what can be made one.
        padding: How many before and after.

    Returns:
        A tensor.

    Raises:
        AssertionError: If it isn't two numbers.

    Example:
        >>> tf.keras.backend.temporal_padding(tf.ones([1, 4, 3]), (2, 1)).shape.as_list()
        [1, 7, 3]
    """
    if len(padding) != 2:
        raise AssertionError(f"`padding` has two numbers, not {padding}")
    return array.pad(x, [[0, 0], [padding[0], padding[1]], [0, 0]])


def _spatial_padding(x, padding, data_format):
    data_format = normalize_data_format(data_format)
    if any(len(pair) != 2 for pair in padding):
        raise AssertionError(f"`padding` has a pair of numbers for each axis, not {padding}")
    spatial = [list(pair) for pair in padding]
    return array.pad(x, [[0, 0], [0, 0], *spatial] if data_format == "channels_first" else [[0, 0], *spatial, [0, 0]])


spatial_2d_padding = named(
    "spatial_2d_padding",
    """Zeros around images.

    Args:
        x: A tensor, or what can be made one.
        padding: How many before and after, of rows and columns.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.

    Returns:
        A tensor.

    Raises:
        ValueError: If the data format, padding or mode isn't known.

    Example:
        >>> tf.keras.backend.spatial_2d_padding(tf.ones([1, 2, 2, 3])).shape.as_list()
        [1, 4, 4, 3]
    """,
    lambda x, padding=((1, 1), (1, 1)), data_format=None: _spatial_padding(x, padding, data_format),
)
spatial_3d_padding = named(
    "spatial_3d_padding",
    """Zeros around volumes.

    Args:
        x: A tensor, or what can be made one.
        padding: How many before and after, of planes, rows and columns.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.

    Returns:
        A tensor.

    Raises:
        ValueError: If the data format, padding or mode isn't known.

    Example:
        >>> tf.keras.backend.spatial_3d_padding(tf.ones([1, 2, 2, 2, 3])).shape.as_list()
        [1, 4, 4, 4, 3]
    """,
    lambda x, padding=((1, 1), (1, 1), (1, 1)), data_format=None: _spatial_padding(x, padding, data_format),
)


def resize_images(x, height_factor, width_factor, data_format, interpolation="nearest"):
    """Images made larger by whole factors.

    Args:
        x: A tensor, or what can be made one.
        height_factor: How many times each row is repeated.
        width_factor: How many times each column is repeated.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        interpolation: `nearest` or `bilinear`.

    Returns:
        A tensor.

    Raises:
        ValueError: If the data format, padding or mode isn't known.

    Example:
        >>> tf.keras.backend.resize_images(tf.ones([1, 2, 2, 3]), 2, 3, "channels_last").shape.as_list()
        [1, 4, 6, 3]
    """
    if data_format == "channels_first":
        rows, columns = 2, 3
    elif data_format == "channels_last":
        rows, columns = 1, 2
    else:
        raise ValueError(f"Invalid `data_format` argument: {data_format}")
    known = [x.shape.as_list()[axis] for axis in (rows, columns)]
    size = array.shape(x)[rows : columns + 1] * constant_ops.constant(
        np.array([height_factor, width_factor], dtype="int32")
    )
    if data_format == "channels_first":
        x = permute_dimensions(x, [0, 2, 3, 1])
    methods = {"nearest": ResizeMethod.NEAREST_NEIGHBOR, "bilinear": ResizeMethod.BILINEAR}
    if interpolation not in methods:
        raise ValueError(f"Images are resized by {' or '.join(methods)} interpolation, not by {interpolation!r}.")
    x = resize_images_v2(x, size, method=methods[interpolation])
    if data_format == "channels_first":
        x = permute_dimensions(x, [0, 3, 1, 2])
    height, width = (
        None if size is None else size * factor for size, factor in zip(known, (height_factor, width_factor))
    )
    x.set_shape((None, None, height, width) if data_format == "channels_first" else (None, height, width, None))
    return x


def resize_volumes(x, depth_factor, height_factor, width_factor, data_format):
    """Volumes made larger by whole factors.

    Args:
        x: A tensor, or what can be made one.
        depth_factor: How many times each plane is repeated.
        height_factor: How many times each row is repeated.
        width_factor: How many times each column is repeated.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.

    Returns:
        A tensor.

    Raises:
        ValueError: If the data format, padding or mode isn't known.

    Example:
        >>> tf.keras.backend.resize_volumes(tf.ones([1, 2, 2, 2, 3]), 1, 2, 3, "channels_last").shape.as_list()
        [1, 2, 4, 6, 3]
    """
    axes = {"channels_first": (2, 3, 4), "channels_last": (1, 2, 3)}.get(data_format)
    if axes is None:
        raise ValueError("Invalid data_format: " + str(data_format))
    for factor, axis in zip((depth_factor, height_factor, width_factor), axes):
        x = repeat_elements(x, factor, axis=axis)
    return x
