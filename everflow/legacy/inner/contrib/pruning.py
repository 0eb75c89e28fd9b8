"""What tf.contrib.model_pruning has inside of its module `pruning_utils`."""

from __future__ import annotations

from everflow.contrib.model_pruning.masks import _variable
from everflow.ops import array
from everflow.ops.nn.atrous import pool
from everflow.ops.variables import initializers
from everflow.ops.variables.assign import assign

__all__ = [
    "determine_partitioned_axis",
    "expand_tensor",
    "factorized_pool",
    "kronecker_product",
    "partitioned_variable_assign",
    "variable_assign",
    "weight_mask_variable",
    "weight_threshold_variable",
]


def weight_mask_variable(var, scope):
    """The mask of weights, of ones at first."""
    return _variable("mask", scope, var.shape, initializers.ones_initializer(), var.dtype)


def weight_threshold_variable(var, scope):
    """The threshold below which weights are masked."""
    return _variable("threshold", scope, [], initializers.zeros_initializer(), var.dtype)


def kronecker_product(mat1, mat2):
    """The matrix of blocks `mat1[i, j] * mat2`."""
    (rows, columns), (inner_rows, inner_columns) = (matrix.shape.as_list() for matrix in (mat1, mat2))
    blocks = mat1[:, None, :, None] * mat2[None, :, None, :]
    return array.reshape(blocks, [rows * inner_rows, columns * inner_columns])


def expand_tensor(tensor, block_dims):
    """A matrix with a block of equal numbers for each of its numbers."""
    if tensor.shape.ndims != 2:
        raise ValueError("Input tensor must be rank 2")
    if len(block_dims) != 2:
        raise ValueError(f"block_dims must have two numbers, not {block_dims}")
    height, width = block_dims
    if height == width == 1:
        return tensor
    return kronecker_product(tensor, array.ones([height, width], dtype=tensor.dtype))


def factorized_pool(input_tensor, window_shape, pooling_type, strides, padding, name=None):
    """Pooling of an image, first within rows and then within columns."""
    if input_tensor.shape.ndims != 2:
        raise ValueError("factorized_pool() accepts tensors of rank 2 only")
    height, width = input_tensor.shape
    image = array.reshape(input_tensor, [1, height, width, 1])
    for window, stride in (
        ([1, window_shape[1]], [1, strides[1]]),
        ([window_shape[0], 1], [strides[0], 1]),
    ):
        image = pool(image, window, pooling_type, padding, strides=stride, name=name)
    return array.squeeze(image, axis=[0, 3])


def determine_partitioned_axis(partitioned_variable):
    """The axis along which a variable is cut."""
    whole = partitioned_variable.shape.as_list()
    parts = list(partitioned_variable)
    if len(parts) == 1:
        return 0
    part = parts[0].shape.as_list()
    return next(axis for axis, size in enumerate(whole) if size != part[axis])


def variable_assign(var, new_value):
    """An op that sets a variable."""
    return assign(var, new_value, name=f"{var.op.name}_assign")


def partitioned_variable_assign(partitioned_var, new_value):
    """Ops that set the parts of a variable."""
    axis = determine_partitioned_axis(partitioned_var)
    parts = list(partitioned_var)
    sizes = array.stack([part.shape.as_list()[axis] for part in parts])
    values = array.split(new_value, sizes, axis=axis)
    return [variable_assign(part, value) for part, value in zip(parts, values, strict=True)]
