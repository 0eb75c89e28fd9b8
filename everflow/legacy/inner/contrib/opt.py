"""Roots of matrices, as tf.contrib.opt has them in its module matrix_functions."""

from __future__ import annotations

from everflow.contrib.opt.matrix_roots import _identity, _inverse_root, _square_root

__all__ = ["matrix_inverse_pth_root", "matrix_square_root"]


def matrix_square_root(mat_a, mat_a_size, iter_count=100, ridge_epsilon=1e-4):
    """The root of a symmetric positive matrix, to whose diagonal `ridge_epsilon` is added."""
    return _square_root(mat_a, mat_a_size, ridge_epsilon, iter_count)


def matrix_inverse_pth_root(mat_g, mat_g_size, alpha, iter_count=100, epsilon=1e-6, ridge_epsilon=1e-6):
    """`mat_g ** alpha` for `alpha = -1 / p` with a whole number p."""
    return _inverse_root(mat_g + ridge_epsilon * _identity(mat_g_size), mat_g_size, alpha, iter_count, epsilon)
