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

transpose = named("transpose", "The axes in reverse order.", lambda x: array.transpose(x))
permute_dimensions = named(
    "permute_dimensions", "The axes in another order.", lambda x, pattern: array.transpose(x, perm=pattern)
)


def reshape(x, shape):
    """The same elements in another shape."""
    return sparse_reshape(x, shape) if is_sparse(x) else array.reshape(x, shape)


flatten = named("flatten", "All elements in one row.", lambda x: array.reshape(x, [-1]))


def batch_flatten(x):
    """For each element of the batch, all of its elements in one row."""
    return array.reshape(x, array.stack([-1, math.reduce_prod(array.shape(x)[1:])]))


expand_dims = named("expand_dims", "One more axis, of size one.", lambda x, axis=-1: array.expand_dims(x, axis))
squeeze = named("squeeze", "One axis of size one less.", lambda x, axis: array.squeeze(x, [axis]))
stack = named("stack", "Tensors of one shape along a new axis.", lambda x, axis=0: array.stack(x, axis=axis))


def concatenate(tensors, axis=-1):
    """Tensors one after the other along an axis."""
    if axis < 0:
        rank = ndim(tensors[0])
        axis = axis % rank if rank else 0
    sparse = [is_sparse(tensor) for tensor in tensors]
    if len(sparse) == sum(sparse):
        return sparse_concat(axis, tensors)
    return array.concat([to_dense(tensor) for tensor in tensors], axis)


def repeat(x, n):
    """A matrix repeated along a new second axis: (samples, size) becomes (samples, n, size)."""
    if ndim(x) != 2:
        raise AssertionError(f"K.repeat takes a tensor of two dimensions, not of {ndim(x)}")
    return array.tile(array.expand_dims(x, 1), array.stack([1, n, 1]))


def repeat_elements(x, rep, axis):
    """Each slice along an axis repeated in place, as np.repeat does."""
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
    """x repeated n times along each axis."""
    return array.tile(x, [n] if isinstance(n, int) else n)


def reverse(x, axes):
    """The elements along axes in reverse order."""
    return array.reverse(x, [axes] if isinstance(axes, int) else axes)


def arange(start, stop=None, step=1, dtype="int32"):
    """Numbers from start to before stop; with one argument, from zero to before it."""
    if stop is None and start < 0:
        start = 0
    result = math.range(start, limit=stop, delta=step, name="arange")
    return result if dtype == "int32" else math.cast(result, dtype)


def gather(reference, indices):
    """The rows of a tensor at these indices."""
    if is_resource_variable(reference):
        return reference.sparse_read(indices)
    return array.gather(reference, indices)


def one_hot(indices, num_classes):
    """Integers as rows of zeros with a single one."""
    return array.one_hot(indices, depth=num_classes, axis=-1)


# --- padding and resizing ------------------------------------------------------------------------


def temporal_padding(x, padding=(1, 1)):
    """Zeros before and after the middle axis of a tensor of three."""
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
    "Zeros around images.",
    lambda x, padding=((1, 1), (1, 1)), data_format=None: _spatial_padding(x, padding, data_format),
)
spatial_3d_padding = named(
    "spatial_3d_padding",
    "Zeros around volumes.",
    lambda x, padding=((1, 1), (1, 1), (1, 1)), data_format=None: _spatial_padding(x, padding, data_format),
)


def resize_images(x, height_factor, width_factor, data_format, interpolation="nearest"):
    """Images made larger by whole factors."""
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
    """Volumes made larger by whole factors."""
    axes = {"channels_first": (2, 3, 4), "channels_last": (1, 2, 3)}.get(data_format)
    if axes is None:
        raise ValueError("Invalid data_format: " + str(data_format))
    for factor, axis in zip((depth_factor, height_factor, width_factor), axes):
        x = repeat_elements(x, factor, axis=axis)
    return x
