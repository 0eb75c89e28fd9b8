"""Vectors as triangular matrices and back, band matrices, and other small tools around matrices and weighted sums."""

from __future__ import annotations

import hashlib
import itertools

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.array.indexing import where_v2


def fill_triangular(x, upper=False, name=None):
    """A triangular matrix of the numbers in a vector, filled in a spiral: the last rows first.

    >>> fill_triangular([1.0, 2.0, 3.0])  # [[3.0, 0.0], [2.0, 1.0]]
    """
    with name_scope(name, "fill_triangular", values=[x]):
        x = convert_to_tensor(x, name="x")
        m = x.shape.with_rank_at_least(1).size(-1)
        if m is not None:
            n = np.sqrt(0.25 + 2.0 * m) - 0.5
            if n != np.floor(n):
                raise ValueError(f"{m} numbers do not fill a triangular matrix: n * (n + 1) / 2 do")
            n = int(n)
            static = x.shape[:-1].concatenate([n, n])
        else:
            m = array.shape(x)[-1]
            n = math.cast(math.sqrt(0.25 + math.cast(2 * m, dtypes.float32)), dtypes.int32)
            static = x.shape.with_rank_at_least(1)[:-1].concatenate([None, None])
        rank = array.rank(x)
        ndims = rank if x.shape.ndims is None else x.shape.ndims
        if upper:
            parts = [x, array.reverse(x[..., n:], axis=[ndims - 1])]
        else:
            parts = [x[..., n:], array.reverse(x, axis=[ndims - 1])]
        new_shape = static.as_list() if static.is_fully_defined() else array.concat([array.shape(x)[:-1], [n, n]], 0)
        x = array.reshape(array.concat(parts, -1), new_shape)
        x = array.matrix_band_part(x, 0 if upper else -1, -1 if upper else 0)
        x.set_shape(static)
        return x


def fill_triangular_inverse(x, upper=False, name=None):
    """The vector that `fill_triangular` makes a matrix of."""
    with name_scope(name, "fill_triangular_inverse", values=[x]):
        x = convert_to_tensor(x, name="x")
        n = x.shape.with_rank_at_least(2).size(-1)
        if n is None:
            n = array.shape(x)[-1]
            m = n * (n + 1) // 2
            static = x.shape[:-2].concatenate([None])
        else:
            m = n * (n + 1) // 2
            static = x.shape[:-2].concatenate([m])
        if x.shape.ndims is not None:
            array.rank(x)  # TensorFlow's graphs have it
        if upper:
            initial = x[..., 0, :]
            triangular = x[..., 1:, :]
        else:
            initial = array.reverse(x[..., -1, :], axis=[_last(x) - 1])
            triangular = x[..., :-1, :]
        rotated = array.reverse(array.reverse(triangular, axis=[_last(x)]), axis=[_last(x) - 1])
        consolidated = triangular + rotated
        end = array.reshape(consolidated, array.concat([array.shape(x)[:-2], [n * (n - 1)]], 0))
        y = array.concat([initial, end[..., : m - n]], -1)
        y.set_shape(static)
        return y


def _last(x):
    return array.rank(x) - 1 if x.shape.ndims is None else x.shape.ndims - 1


def tridiag(below=None, diag=None, above=None, name=None):
    """A matrix with the given diagonal and its neighbours below and above."""

    def beside(x, paddings):
        matrix = array.matrix_diag(convert_to_tensor(x))
        return array.pad(matrix, [[0, 0]] * (matrix.shape.ndims - 2) + paddings)

    with name_scope(name, "tridiag", [below, diag, above]):
        parts = []
        if below is not None:
            parts.append(beside(below, [[1, 0], [0, 1]]))
        if diag is not None:
            parts.append(array.matrix_diag(convert_to_tensor(diag, name="diag")))
        if above is not None:
            parts.append(beside(above, [[0, 1], [1, 0]]))
        if not parts:
            raise ValueError("Must specify at least one of {below, diag, above}.")
        total = parts[0]
        for part in parts[1:]:
            total += part
        return total


def matrix_diag_transform(matrix, transform=None, name=None):
    """A matrix with its diagonal mapped by a function."""
    with name_scope(name, "matrix_diag_transform", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        if transform is None:
            return matrix
        return array.matrix_set_diag(matrix, transform(array.matrix_diag_part(matrix)))


def reduce_weighted_logsumexp(logx, w=None, axis=None, keep_dims=False, return_sign=False, name=None):
    """`log(abs(sum(w * exp(logx))))`, without overflow; with its sign if asked for."""
    with name_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        logx = convert_to_tensor(logx, name="logx")
        if w is None:
            total = math.reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (total, array.ones_like(total)) if return_sign else total
        w = convert_to_tensor(w, dtype=logx.dtype, name="w")
        log_absw_x = logx + math.log(math.abs(w))
        largest = math.reduce_max(log_absw_x, axis=axis, keepdims=True)
        largest = where_v2(math.is_inf(largest), array.zeros_like(largest), largest)
        total = math.reduce_sum(math.sign(w) * math.exp(log_absw_x - largest), axis=axis, keepdims=keep_dims)
        if not keep_dims:
            largest = array.squeeze(largest, axis=axis)
        result = largest + math.log(math.abs(total))
        return (result, math.sign(total)) if return_sign else result


class SeedStream:
    """Seeds, one after the other, from one seed and a name."""

    def __init__(self, seed, salt):
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._numbers = itertools.count(1)

    original_seed = property(lambda self: self._seed, doc="The seed it began with.")
    salt = property(lambda self: self._salt, doc="The name.")

    def __call__(self):
        place = self._seed, next(self._numbers), self._salt
        return None if self._seed is None else int(hashlib.sha512(str(place).encode()).hexdigest(), 16)
