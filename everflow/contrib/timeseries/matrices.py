"""Matrices of state space models: powers and their sums, blocks, Toeplitz form, and products of a batch with one matrix."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.shapes import unknown_shape
from everflow.ops import array, math
from everflow.ops.array.diagonals import diag
from everflow.ops.control_flow import while_loop
from everflow.ops.control_flow.maps import scan
from everflow.ops.linalg.decompositions import eye


def batch_times_matrix(batch, matrix, adj_x=False, adj_y=False):
    """Each matrix of a batch times one matrix, as a single product of all their rows.

    Args:
        batch: The left factors, `[batch, n, m]`.
        matrix: The right factor, `[m, k]`.
        adj_x: Whether the left factors are transposed.
        adj_y: Whether the right factor is.
    """
    batch, matrix = convert_to_tensor(batch), convert_to_tensor(matrix)
    if batch.shape.ndims != 3 or matrix.shape.ndims != 2:
        raise AssertionError(
            f"A batch of matrices and one matrix are wanted, not shapes {batch.shape} and {matrix.shape}"
        )
    if adj_x:
        batch = array.transpose(batch, [0, 2, 1])
    sizes = array.shape(batch)
    outer = [sizes[axis] if known is None else known for axis, known in enumerate(batch.shape.as_list()[:2])]
    product = math.matmul(array.reshape(batch, [-1, sizes[2]]), matrix, adjoint_b=adj_y)
    columns = product.shape.as_list()[1]
    return array.reshape(product, [*outer, array.shape(product)[1] if columns is None else columns])


def matrix_times_batch(matrix, batch, adj_x=False, adj_y=False):
    """One matrix times each of a batch: the transposed product of transposed factors.

    Args:
        matrix: The left factor, `[n, m]`.
        batch: The right factors, `[batch, m, k]`.
        adj_x: Whether the left factor is transposed.
        adj_y: Whether the right factors are.
    """
    return array.transpose(batch_times_matrix(batch, matrix, adj_x=not adj_y, adj_y=not adj_x), [0, 2, 1])


def batch_matrix_pow(matrices, powers):
    """Each matrix raised to a power of its own, by squaring.

    Args:
        matrices: `[batch, n, n]`.
        powers: Integers, `[batch]`, none below zero.
    """

    def squared(factors, left, found):
        even = math.equal(left % 2, array.zeros(array.shape(left), left.dtype))
        taken = array.where(even, found, math.matmul(found, factors))
        squares = math.matmul(factors, factors)
        more = left > 1
        halved = (left - left % 2) // 2
        found = array.where(more, taken, found)
        return array.where(more, squares, factors), array.where(more, halved, left), found

    powers = math.cast(powers, dtypes.int32)
    unit = array.expand_dims(diag(array.ones([array.shape(matrices)[1]], dtype=matrices.dtype)), 0)
    unit = array.tile(unit, [array.shape(matrices)[0], 1, 1])
    factors, left, found = while_loop(
        lambda _, left, __: math.reduce_any(left > array.ones_like(left)), squared, [matrices, powers, unit]
    )
    # A power of zero never met the loop; any other leaves one factor to multiply.
    return array.where(math.equal(left, array.zeros_like(left)), unit, math.matmul(factors, found))


def matrix_to_powers(matrix, powers):
    """One matrix raised to several powers: `[powers, n, n]`."""
    alike = array.tile(array.expand_dims(matrix, 0), [array.size(powers), 1, 1])
    return batch_matrix_pow(alike, powers)


def power_sums_tensor(array_size, power_matrix, multiplier):
    """`[array_size + 1, n, n]`: at `i` the sum of `A^j M (A^j)^T` over `j < i`, where A is `power_matrix` and M `multiplier`.

    Args:
        array_size: How many terms the last sum has.
        power_matrix: The matrix whose powers are taken, `[n, n]`.
        multiplier: The matrix between them, `[n, n]`.
    """
    array_size = math.cast(array_size, dtypes.int32)
    power_matrix, multiplier = convert_to_tensor(power_matrix), convert_to_tensor(multiplier)
    unit = eye(array.shape(power_matrix)[0], dtype=power_matrix.dtype)
    powers = scan(lambda before, _: math.matmul(before, power_matrix), math.range(array_size - 1), initializer=unit)
    first = array.expand_dims(multiplier, 0)
    others = math.matmul(batch_times_matrix(powers, multiplier), powers, adjoint_b=True)
    sums = math.cumsum(array.concat([first, others], axis=0), axis=0)
    return array.concat([array.expand_dims(array.zeros_like(multiplier), 0), sums], axis=0)


def block_diagonal(matrices, dtype=dtypes.float32, name="block_diagonal"):
    """Matrices along the diagonal of a larger one, which is zero elsewhere; batches of them are taken as well.

    Args:
        matrices: Tensors `[..., n, m]`, alike in all but the last two dimensions.
        dtype: Their type.
        name: The name of the operation in the graph.
    """
    matrices = [convert_to_tensor(matrix, dtype=dtype) for matrix in matrices]
    columns = math.add_n([array.shape(matrix)[-1] for matrix in matrices])
    rows, before = [], 0
    for matrix in matrices:
        after = before + array.shape(matrix)[-1]
        beside = columns - after
        nothing = array.zeros([array.rank(matrix) - 1, 2], dtype=dtypes.int32)
        rows.append(array.pad(matrix, array.concat([nothing, [(before, beside)]], axis=0)))
        before = after
    whole = array.concat(rows, -2, name=name)
    # Sizes are known even where how far rows are padded isn't.
    batch, sizes = unknown_shape(), ([], [])
    for matrix in matrices:
        shape = matrix.shape.with_rank_at_least(2)
        batch = batch.merge_with(shape[:-2])
        for axis, known in enumerate(shape[-2:].as_list()):
            sizes[axis].append(known)
    whole.set_shape(batch.concatenate([None if None in known else sum(known) for known in sizes]))
    return whole


def make_toeplitz_matrix(inputs, name=None):
    """A matrix of blocks that depend on how far they are from the diagonal.

    Args:
        inputs: The blocks of the first row, `[blocks, n, n]`.
        name: The name of the operation in the graph.
    """
    blocks = array.shape(inputs)[0]
    size = array.shape(inputs)[1] * blocks
    place = array.reshape(math.range(blocks), [1, -1])
    distance = math.abs(place - array.transpose(place))
    found = array.transpose(array.gather(inputs, distance), [0, 2, 1, 3])
    return array.identity(array.reshape(found, [size, size]), name=name)
