"""Random tensors and matrices for tests of operators, of real and of complex numbers."""

from __future__ import annotations

import math as numbers

from everflow.framework import dtypes
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import Dimension, TensorShape
from everflow.ops import array, math
from everflow.ops.random import distributions as random


def _of_parts(draw, dtype, seed, seed_offset):
    """Numbers of one draw; complex ones of two, the second with a seed of its own."""
    if not dtype.is_complex:
        return draw(dtype, seed)
    parts = [draw(dtype.real_dtype, each) for each in (seed, None if seed is None else seed + seed_offset)]
    return math.complex(*parts)


def random_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None):
    """Numbers from a normal distribution; of complex ones, both parts are."""
    with name_scope("random_normal"):
        return _of_parts(
            lambda part, part_seed: random.random_normal(shape, mean=mean, stddev=stddev, dtype=part, seed=part_seed),
            dtypes.as_dtype(dtype),
            seed,
            1234,
        )


def random_uniform(shape, minval=None, maxval=None, dtype=dtypes.float32, seed=None):
    """Numbers between two bounds; of complex ones, both parts are."""
    with name_scope("random_uniform"):
        return _of_parts(
            lambda part, part_seed: random.random_uniform(
                shape, minval=minval, maxval=maxval, dtype=part, seed=part_seed
            ),
            dtypes.as_dtype(dtype),
            seed,
            12345,
        )


def random_sign_uniform(shape, minval=None, maxval=None, dtype=dtypes.float32, seed=None):
    """Numbers whose size is between two bounds, of either sign: bounds above 0 keep them away from it."""
    dtype = dtypes.as_dtype(dtype)
    with name_scope("random_sign_uniform"):
        sizes = random_uniform(shape, minval, maxval, dtype=dtype, seed=seed)
        signs = math.sign(
            random.random_uniform(shape, minval=-1.0, maxval=1.0, seed=None if seed is None else seed + 12)
        )
        return sizes * math.cast(signs, sizes.dtype)


def random_normal_correlated_columns(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, eps=1e-4, seed=None):
    """Matrices of normal numbers; where there are more columns than rows, the columns are nearly dependent."""
    dtype = dtypes.as_dtype(dtype)
    if len(shape) < 2:
        raise ValueError(f"shape must be that of matrices, with two dimensions at least, and is {shape}.")
    shape = TensorShape(shape).as_list()
    batch, (rows, columns) = shape[:-2], shape[-2:]
    if columns < rows:
        return random_normal(shape, mean=mean, stddev=stddev, dtype=dtype, seed=seed)

    with name_scope("random_normal_correlated_columns"):
        rank = rows + 1
        further = (lambda by: None) if seed is None else (lambda by: seed + by)
        small = random_normal(
            [*batch, rows, rank], mean=0.0, stddev=stddev / numbers.sqrt(rank), dtype=dtype, seed=seed
        )
        mixing = random_normal([*batch, columns, rank], mean=0.0, stddev=1.0, dtype=dtype, seed=further(1287))
        mixed = array.matrix_transpose(math.matmul(mixing, small, transpose_b=True))
        means = array.ones_like(mixed) * (mean / numbers.sqrt(2))
        return mixed + random_normal(shape, stddev=eps, dtype=dtype, seed=further(20)) + means


def random_tril_matrix(shape, dtype, force_well_conditioned=False, remove_upper=True):
    """Lower triangular matrices, and with `remove_upper=False` ones that must be read as such.

    Well conditioned ones have numbers between 1 and the root of 2 on the diagonal, of either sign.
    """
    dtype = dtypes.as_dtype(dtype)
    with name_scope("random_tril_matrix"):
        matrices = random_normal(shape, dtype=dtype)
        if remove_upper:
            matrices = array.matrix_band_part(matrices, -1, 0)
        if force_well_conditioned:
            largest = array.constant(numbers.sqrt(2.0), dtype=dtype.real_dtype)
            shape = shape.as_list() if isinstance(shape, TensorShape) else shape
            diagonal = random_sign_uniform(shape[:-1], dtype=dtype, minval=1.0, maxval=largest)
            matrices = array.matrix_set_diag(matrices, diagonal)
        return matrices


def random_positive_definite_matrix(shape, dtype, force_well_conditioned=False):
    """Matrices that are their own adjoints and positive definite."""
    dtype = dtypes.as_dtype(dtype)
    if isinstance(shape, (list, tuple, TensorShape)):
        Dimension(shape[-1]).assert_is_compatible_with(shape[-2])
    with name_scope("random_positive_definite_matrix"):
        root = random_tril_matrix(shape, dtype, force_well_conditioned=force_well_conditioned)
        return math.matmul(root, root, adjoint_b=True)
