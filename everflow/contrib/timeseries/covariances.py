"""Covariance matrices: made of variables or of features so that they are positive definite, bounded, and weighed by a prior."""

from __future__ import annotations

from everflow.contrib.layers.dense import fully_connected
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.array.diagonals import diag, matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag
from everflow.ops.array.layout import matrix_transpose
from everflow.ops.linalg.decompositions import matrix_determinant
from everflow.ops.nn.activations import softsign
from everflow.ops.variables.initializers import zeros_initializer
from everflow.ops.variables.scope import get_variable

# The logarithm of how large entries beside the diagonal are at first.
_BESIDE_THE_DIAGONAL = -5.0


def _with_ones_after(values, like):
    """Values with as many dimensions of size 1 behind theirs as make the rank of `like`."""
    rank = array.rank(like)
    values = convert_to_tensor(values, dtype=like.dtype)
    shape = array.shape(values)
    ones = array.ones([rank - array.rank(values)], dtype=dtypes.int32)
    return array.reshape(values, array.concat([shape, ones], axis=0))


def sign_magnitude_positive_definite(raw, off_diagonal_scale=0.0, overall_scale=0.0):
    """A positive definite matrix of any matrix: its lower triangle holds signs, its upper one logarithms of sizes.

    Args:
        raw: Any square matrices, `[..., n, n]`.
        off_diagonal_scale: What is added to the logarithms of entries beside the diagonal.
        overall_scale: What is added to the logarithms of all entries.
    """
    raw = convert_to_tensor(raw)
    on_diagonal = matrix_diag_part(raw)
    logs = raw + _with_ones_after(off_diagonal_scale, raw) + _with_ones_after(overall_scale, raw)
    beside = math.exp(logs / 2.0) * softsign(matrix_transpose(raw))
    upper = matrix_band_part(beside, 0, -1)
    root = matrix_set_diag(upper, math.exp((on_diagonal + _with_ones_after(overall_scale, on_diagonal)) / 2.0))
    return math.matmul(root, root, adjoint_a=True)


def variable_covariance_matrix(size, name, dtype, initial_diagonal_values=None, initial_overall_scale_log=0.0):
    """A covariance matrix that can be trained: positive definite whatever its variables are.

    Args:
        size: How many rows it has.
        name: Its name, and the beginning of those of its variables.
        dtype: Its type.
        initial_diagonal_values: What the diagonal is at first, `[size]`; ones by default.
        initial_overall_scale_log: The logarithm of the whole matrix's scale at first.
    """
    raw = get_variable(f"{name}_pre_transform", shape=[size, size], dtype=dtype, initializer=zeros_initializer())
    if initial_diagonal_values is not None:
        raw = raw + matrix_diag(math.log(initial_diagonal_values))
    beside = get_variable(f"{name}_off_diagonal_scale", initializer=constant(_BESIDE_THE_DIAGONAL, dtype=dtype))
    at_first = convert_to_tensor(initial_overall_scale_log, dtype=dtype)
    overall = at_first + get_variable(f"{name}_overall_scale", shape=[], dtype=dtype, initializer=zeros_initializer())
    found = sign_magnitude_positive_definite(raw, off_diagonal_scale=beside, overall_scale=overall)
    return array.identity(found, name=name)


def transform_to_covariance_matrices(input_vectors, matrix_size):
    """Covariance matrices, `[..., matrix_size, matrix_size]`, that a dense layer makes of features."""
    raw = fully_connected(input_vectors, matrix_size**2 + 2, activation_fn=None)
    entries = array.reshape(raw[..., :-2], array.concat([array.shape(raw)[:-1], [matrix_size, matrix_size]], axis=0))
    return sign_magnitude_positive_definite(entries, off_diagonal_scale=raw[..., -2], overall_scale=raw[..., -1])


def clip_covariance(covariance_matrix, maximum_variance_ratio, minimum_variance):
    """The matrix with small variances raised, so that none is too far below the largest.

    Args:
        covariance_matrix: `[..., n, n]`.
        maximum_variance_ratio: How many times the smallest variance the largest may be.
        minimum_variance: What no variance is below.
    """
    variances = matrix_diag_part(covariance_matrix)
    least = math.reduce_max(variances, axis=-1, keepdims=True) / maximum_variance_ratio
    return matrix_set_diag(covariance_matrix, math.maximum(math.maximum(variances, least), minimum_variance))


def log_noninformative_covariance_prior(covariance):
    """The logarithm of a prior of covariance matrices that prefers none of their scales."""
    # Away from singular matrices.
    regular = covariance + diag(1e-8 * array.ones([array.shape(covariance)[0]], dtype=covariance.dtype))
    freedom = math.cast(array.shape(covariance)[0] + 1, covariance.dtype)
    return -(freedom / 2.0) * math.log(matrix_determinant(regular))
