"""Powers of symmetric positive definite matrices, by singular values or, quicker on accelerators, by products."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.control_flow import while_loop
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.linalg.norms import norm as euclidean_norm

_ITERATIONS, _TOLERANCE = 100, 1e-6


def matrix_power(matrix, size, exponent, epsilon, iterative, into=None):
    """`(matrix + epsilon I) ** exponent`, for a negative exponent; assigned to the variable `into` if given."""
    with name_scope("matrix_iterative_power"):
        if iterative:
            power = _inverse_root(_square_root(matrix, size, epsilon), size, 2.0 * exponent)
        else:
            singular, left, right = linalg.svd(matrix + epsilon * _identity(size), full_matrices=True)
            power = math.matmul(right * math.pow(math.maximum(singular, epsilon), exponent), array.transpose(left))
        return power if into is None else into(power)


def _identity(size):
    return linalg.eye(math.cast(size, dtypes.int32))


def _square_root(matrix, size, epsilon, iterations=_ITERATIONS):
    """By Newton's method in the form of Denman and Beavers, as long as the error gets smaller."""
    identity = _identity(size)
    matrix = matrix + epsilon * identity
    norm = _frobenius(matrix)

    def improve(i, root, _root_before, inverse, _inverse_before, error, _error_before):
        step = 0.5 * (3.0 * identity - math.matmul(inverse, root))
        better, better_inverse = math.matmul(root, step), math.matmul(step, inverse)
        scaled = better * math.sqrt(norm)
        new_error = _frobenius(matrix - math.matmul(scaled, scaled)) / norm
        return i + 1, better, root, better_inverse, inverse, new_error, error

    def improving(i, _root, _root_before, _inverse, _inverse_before, error, error_before):
        return math.logical_and(i < iterations, error < error_before)

    start = matrix / norm
    _, _, root, *_ = while_loop(improving, improve, [0, start, start, identity, identity, norm, norm + 1.0])
    return root * math.sqrt(norm)


def _inverse_root(matrix, size, exponent, iterations=_ITERATIONS, tolerance=_TOLERANCE):
    """`matrix ** exponent`, where `-1 / exponent` is a whole number, by the coupled iteration of Guo and Higham."""
    identity = _identity(size)
    matrix = matrix + 0.0 * identity
    degree = -1.0 / exponent
    assert degree.is_integer(), f"use_iterative_root takes roots of a whole degree: rank / (2 * alpha) is {degree}."
    scale = (1.0 - 1.0 / exponent) / (2.0 * euclidean_norm(matrix))

    def improve(i, residual, root):
        step = (1.0 - exponent) * identity + exponent * residual
        return i + 1, math.matmul(_whole_power(step, int(degree)), residual), math.matmul(root, step)

    def improving(i, residual, _root):
        return math.logical_and(i < iterations, math.reduce_max(math.abs(residual - identity)) > tolerance)

    _, _, root = while_loop(improving, improve, [0, matrix * scale, identity * math.pow(scale, -exponent)])
    return root


def _whole_power(matrix, exponent):
    """By repeated squaring."""
    product = None
    while exponent > 0:
        if exponent % 2:
            product = matrix if product is None else math.matmul(matrix, product)
        exponent //= 2
        matrix = math.matmul(matrix, matrix)
    return product


def _frobenius(matrix):
    return math.sqrt(math.reduce_sum(matrix * matrix))
