"""Variables cut into parts, and the partitioners that say how `get_variable` cuts them."""

from __future__ import annotations

import math

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor, register_tensor_conversion_function
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.shapes import TensorShape, as_shape
from everflow.ops import array
from everflow.ops.variables.variable import check_conversion


class PartitionedVariable:
    """Several variables that together hold one tensor, cut along one axis."""

    def __init__(self, name, shape, dtype, variable_list, partitions):
        if not isinstance(variable_list, (list, tuple)):
            raise TypeError(f"variable_list must be a list of variables, not {variable_list!r}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(f"partitions is not a list or tuple: {partitions}")
        if not all(p >= 1 for p in partitions):
            raise ValueError(f"partition values must be positive: {partitions}")
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        for variable in variable_list:
            info = variable._get_save_slice_info()
            if info is None:
                raise ValueError(f"{variable.name} doesn't say which part of a whole it is (save_slice_info)")
            if list(as_shape(shape).as_list()) != list(info.full_shape):
                raise ValueError(f"{variable.name} is part of a whole of shape {info.full_shape}, not {shape}")
        self._name = name
        self._shape = as_shape(shape)
        self._dtype = dtype
        self._variable_list = sorted(variable_list, key=lambda v: v._get_save_slice_info().var_offset)
        self._partitions = list(partitions)

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    shape = property(lambda self: self._shape)

    def __iter__(self):
        return iter(self._variable_list)

    def __len__(self):
        axes = self._partition_axes()
        if len(axes) > 1:
            raise ValueError(f"Cannot get a length for {len(axes)} > 1 partition axes")
        return len(self._variable_list)

    def _partition_axes(self):
        """The axes that are cut, [0] where none is."""
        return [i for i, count in enumerate(self._partitions) if count > 1] or [0]

    def _concat(self):
        if len(self._variable_list) == 1:
            with name_scope(None):
                return array.identity(self._variable_list[0], name=self._name)
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(f"Cannot concatenate along more than one dimension: {axes}.")
        with name_scope(self._name + "/ConcatPartitions/"):
            whole = array.concat(self._variable_list, axes[0])
        with name_scope(None):
            return array.identity(whole, name=self._name)

    def as_tensor(self):
        """The whole tensor, joined anew at each call, outside of any loop or control dependency."""
        with control_dependencies(None):
            return self._concat()

    def _get_variable_list(self):
        return self._variable_list

    def _get_partitions(self):
        return self._partitions

    def get_shape(self):
        """The whole tensor's static shape."""
        return self._shape

    def _apply(self, method, value, **kwargs):
        """Call a method of each part with its share of `value`: a PartitionedVariable, a list, or a tensor to be cut."""
        axes = self._partition_axes()
        if isinstance(value, (list, tuple, PartitionedVariable)):
            shares = list(value)
        else:
            axis = axes[0]
            sizes = [v.shape.as_list()[axis] for v in self._variable_list]
            shares = array.split(value, sizes, axis=axis)
        return [getattr(v, method)(share, **kwargs) for v, share in zip(self._variable_list, shares, strict=True)]

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Set the whole; one result for each part."""
        return self._apply("assign", value, use_locking=use_locking, name=name, read_value=read_value)

    def assign_add(self, value, use_locking=False, name=None, read_value=True):
        """Add to the whole; one result for each part."""
        return self._apply("assign_add", value, use_locking=use_locking, name=name, read_value=read_value)

    def assign_sub(self, value, use_locking=False, name=None, read_value=True):
        """Subtract from the whole; one result for each part."""
        return self._apply("assign_sub", value, use_locking=use_locking, name=name, read_value=read_value)


def _to_tensor(variable, dtype=None, name=None, as_ref=False):
    check_conversion(variable, dtype)
    if as_ref:
        raise NotImplementedError(f"The parts of {variable.name} have no ref together; take one of its variables")
    return variable.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _to_tensor)


# --- partitioners -------------------------------------------------------------------------


def fixed_size_partitioner(num_shards, axis=0):
    """A partitioner that makes a fixed number of parts along an axis.

    Args:
        num_shards: How many parts.
        axis: The axis that is cut.

    Returns:
        A function of shape and dtype.

    Example:
        >>> with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
        ...     v = tf.get_variable("v", [4, 3])
        >>> [part.shape.as_list() for part in v]
        [[2, 3], [2, 3]]
    """

    def partitioner(shape, **unused):
        count = min(num_shards, shape.dims[axis].value)
        return [count if i == axis else 1 for i in range(shape.ndims)]

    return partitioner


def _bytes_of_element(dtype, bytes_per_string):
    return bytes_per_string if dtype.base_dtype == dtypes.string else dtype.size


def variable_axis_size_partitioner(max_shard_bytes, axis=0, bytes_per_string_element=16, max_shards=None):
    """A partitioner that keeps every part below a number of bytes.

    Args:
        max_shard_bytes: The most bytes of a part.
        axis: The axis that is cut.
        bytes_per_string_element: How many bytes a string counts.
        max_shards: The most parts.

    Returns:
        A function of shape and dtype.

    Raises:
        ValueError: If a number is not positive.

    Example:
        >>> cut = tf.variable_axis_size_partitioner(max_shard_bytes=32)
        >>> cut(shape=tf.TensorShape([8, 2]), dtype=tf.float32)
        [2, 1]
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError(
            f"Sizes in bytes must be positive; got max_shard_bytes={max_shard_bytes}, bytes_per_string_element={bytes_per_string_element}"
        )
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape, dtype):
        if not isinstance(shape, TensorShape) or not shape.is_fully_defined():
            raise ValueError(f"The shape must be a TensorShape that is fully defined, not {shape!r}")
        _check_axis(axis, shape)
        size = _bytes_of_element(dtypes.as_dtype(dtype), bytes_per_string_element)
        partitions = [1] * shape.ndims
        slice_bytes = size * (shape.num_elements() / shape.dims[axis].value)
        # A part holds at least one slice.
        slices = max(1, math.floor(max_shard_bytes / slice_bytes))
        count = int(math.ceil(shape.dims[axis].value / slices))
        partitions[axis] = min(max_shards, count) if max_shards else count
        return partitions

    return partitioner


def _check_axis(axis, shape):
    if axis >= len(shape):
        raise ValueError(f"A variable of shape {shape} has no axis {axis} along which it could be cut.")


def min_max_variable_partitioner(max_partitions=1, axis=0, min_slice_size=256 << 10, bytes_per_string_element=16):
    """A partitioner that makes up to `max_partitions` parts of at least `min_slice_size` bytes.

    Args:
        max_partitions: The most parts.
        axis: The axis that is cut.
        min_slice_size: The least bytes of a part.
        bytes_per_string_element: How many bytes a string counts.

    Returns:
        A function of shape and dtype.

    Example:
        >>> cut = tf.min_max_variable_partitioner(max_partitions=4, min_slice_size=16)
        >>> cut(shape=tf.TensorShape([8, 2]), dtype=tf.float32)
        [4, 1]
    """

    def partitioner(shape, dtype):
        _check_axis(axis, shape)
        size = _bytes_of_element(dtypes.as_dtype(dtype), bytes_per_string_element)
        partitions = [1] * shape.ndims
        total_bytes = shape.num_elements() * size
        count = max(1, math.ceil(total_bytes / min_slice_size))
        partitions[axis] = int(max(1, min(shape.dims[axis].value, max_partitions, count)))
        return partitions

    return partitioner


def create_partitioned_variables(
    shape, slicing, initializer, dtype=dtypes.float32, trainable=True, collections=None, name=None, reuse=None
):
    """Deprecated: a list of variables that hold the parts of a tensor, cut as `slicing` says.

    Args:
        shape: The lengths of the axes.
        slicing: Into how many parts each axis is cut: one number may be more than 1.
        initializer: What makes the first value: an initializer, or a tensor.
        dtype: The type of the elements.
        trainable: Whether the variables are among those that optimizers train.
        collections: The graph's collections to add the result to.
        name: The name of the operation in the graph.
        reuse: Whether variables that are there are used again: True, None to do as the scope around, or
            `tf.AUTO_REUSE`.

    Returns:
        A list of variables.

    Raises:
        ValueError: If more than one axis is cut, or parts have different sizes.

    Example:
        >>> parts = tf.create_partitioned_variables([4, 2], [2, 1], tf.zeros_initializer())
        >>> [part.shape.as_list() for part in parts]
        [[2, 2], [2, 2]]
    """
    from everflow.ops.variables.scope import get_variable, variable_scope  # builds on this module

    if len(shape) != len(slicing):
        raise ValueError(f"slicing must have a number for each size of shape; got {slicing} for {shape}")
    if len(shape) < 1:
        raise ValueError(f"A scalar can't be cut into parts; got the shape {shape}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        if not callable(initializer):
            given = getattr(initializer, "dtype", dtype)
            initializer = convert_to_tensor(initializer, dtype=given)
            dtype = initializer.dtype.base_dtype
        whole = get_variable(
            None,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=trainable,
            partitioner=lambda **unused: slicing,
            collections=collections,
        )
        return list(whole)
