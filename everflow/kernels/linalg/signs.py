"""The signs of eigenvectors and singular vectors, which are free: those that the classic iterations leave, as
TensorFlow's do.

The vectors come from LAPACK. Here the same rotations that reduce a matrix to its values are followed for one row of the
vectors, which is enough to know their signs. Only small matrices are worth it: the loops are in Python.
"""

from __future__ import annotations

import math

import numpy as np

# Larger matrices, and more of them than fit into this many elements, keep LAPACK's signs.
LARGEST_EIGEN = 32
LARGEST_SINGULAR = 15
MOST_ELEMENTS = 1024


def _generic(size: int) -> np.ndarray:
    """A vector that is orthogonal to no vector anyone would come across."""
    return np.random.default_rng(1).normal(size=size)


def _reflect(x: np.ndarray) -> tuple[np.ndarray, float, float]:
    """(v, tau, beta) such that (I - tau v vᵀ) x = (beta, 0, …); nothing to do where x has no tail."""
    tail = float(x[1:] @ x[1:])
    if tail <= np.finfo(x.dtype).tiny:
        v = np.zeros_like(x)
        v[0] = 1
        return v, 0.0, float(x[0])
    beta = math.sqrt(float(x[0]) ** 2 + tail)
    beta = -beta if x[0] >= 0 else beta
    v = x / (x[0] - beta)
    v[0] = 1
    return v, (beta - float(x[0])) / beta, beta


def _tridiagonal(matrix: np.ndarray, row: np.ndarray) -> tuple[list[float], list[float], list[float]]:
    """The diagonal and subdiagonal of QᵀAQ, and row Q for a row vector."""
    a, row = matrix.copy(), row.copy()
    size = len(a)
    below = [0.0] * (size - 1)
    for i in range(size - 1):
        v, tau, below[i] = _reflect(a[i + 1 :, i])
        if tau:
            rest = a[i + 1 :, i + 1 :]
            p = tau * (rest @ v)
            p -= 0.5 * tau * (p @ v) * v
            rest -= np.outer(v, p) + np.outer(p, v)
            row[i + 1 :] -= tau * (row[i + 1 :] @ v) * v
    return a.diagonal().tolist(), below, row.tolist()


def _givens(p: float, q: float) -> tuple[float, float]:
    """(c, s) that rotate (p, q) onto the first axis."""
    if q == 0:
        return (-1.0 if p < 0 else 1.0), 0.0
    if p == 0:
        return 0.0, (1.0 if q < 0 else -1.0)
    if abs(p) > abs(q):
        t = q / p
        c = math.copysign(1 / math.sqrt(1 + t * t), p)
        return c, -t * c
    t = p / q
    s = -math.copysign(1 / math.sqrt(1 + t * t), q)
    return -t * s, s


def _qr_step(diag: list[float], below: list[float], row: list[float], start: int, end: int) -> None:
    """One implicit step with Wilkinson's shift on diag[start : end + 1]."""
    half, e = (diag[end - 1] - diag[end]) / 2, below[end - 1]
    shift = diag[end] - (abs(e) if half == 0 else e * e / (half + math.copysign(math.hypot(half, e), half)))
    x, z = diag[start] - shift, below[start]
    for k in range(start, end):
        c, s = _givens(x, z)
        sd, d = s * diag[k] + c * below[k], s * below[k] + c * diag[k + 1]
        diag[k] = c * (c * diag[k] - s * below[k]) - s * (c * below[k] - s * diag[k + 1])
        diag[k + 1] = s * sd + c * d
        below[k] = c * sd - s * d
        if k > start:
            below[k - 1] = c * below[k - 1] - s * z
        x = below[k]
        if k < end - 1:
            z = -s * below[k + 1]
            below[k + 1] *= c
        row[k], row[k + 1] = c * row[k] - s * row[k + 1], s * row[k] + c * row[k + 1]


def eigen_signs(matrix: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """1 or -1 for each column of `vectors`, the eigenvectors of a symmetric matrix by ascending values."""
    size, kind = len(matrix), matrix.dtype
    if size == 1:
        return np.sign(vectors[0])
    generic = _generic(size)
    lower = np.tril(matrix)
    scale = np.abs(lower).max() or 1.0
    symmetric = ((lower + np.tril(lower, -1).T) / scale).astype(np.float64)
    diag, below, row = _tridiagonal(symmetric, generic)
    precision = 2 * float(np.finfo(kind).eps)
    end, start, left = size - 1, 0, 30 * size
    while end > 0 and left:
        for i in range(start, end):
            if abs(below[i]) <= precision * (abs(diag[i]) + abs(diag[i + 1])):
                below[i] = 0.0
        while end > 0 and below[end - 1] == 0:
            end -= 1
        if end == 0:
            break
        start = end - 1
        while start > 0 and below[start - 1] != 0:
            start -= 1
        _qr_step(diag, below, row, start, end)
        left -= 1
    found = np.array(row)[np.argsort(diag, kind="stable")]
    return np.where(found * (generic @ vectors) < 0, -1, 1)


def _jacobi(x: float, y: float, z: float) -> tuple[float, float]:
    """(c, s) of the rotation that makes [[x, y], [y, z]] diagonal."""
    if y == 0:
        return 1.0, 0.0
    tau = (x - z) / (2 * abs(y))
    w = math.sqrt(tau * tau + 1)
    t = 1 / (tau + w) if tau > 0 else 1 / (tau - w)
    n = 1 / math.sqrt(t * t + 1)
    return n, -math.copysign(1.0, t) * math.copysign(1.0, y) * abs(t) * n


def _even(m00: float, m01: float, m10: float, m11: float) -> tuple[float, float]:
    """(c, s) of the rotation of rows that makes a 2 x 2 matrix symmetric."""
    t, d = m00 + m11, m10 - m01
    if d == 0:
        return 1.0, 0.0
    ratio = t / d
    s = 1 / math.sqrt(1 + ratio * ratio)
    return ratio * s, s


def _rotate_pair(work: list[list[float]], p: int, q: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Make the elements (p, q) and (q, p) zero; the (c, s) that did it from the left and from the right."""
    one, two = work[p], work[q]
    c1, s1 = _even(one[p], one[q], two[p], two[q])
    c2, s2 = _jacobi(c1 * one[p] + s1 * two[p], c1 * one[q] + s1 * two[q], c1 * two[q] - s1 * one[q])
    # Left is the first rotation after the transposed second; right is the second.
    c, s = c1 * c2 + s1 * s2, s1 * c2 - c1 * s2
    work[p] = [c * x + s * y for x, y in zip(one, two)]
    work[q] = [c * y - s * x for x, y in zip(one, two)]
    for line in work:
        x, y = line[p], line[q]
        line[p], line[q] = c2 * x - s2 * y, s2 * x + c2 * y
    return (c, -s), (c2, s2)


def singular_signs(matrix: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """1 or -1 for each pair of columns of u and v, singular vectors by descending values."""
    rows, columns = matrix.shape
    tall = rows >= columns
    vectors, size = (v, columns) if tall else (u, rows)
    work, order = (matrix if tall else matrix.T).astype(np.float64), np.arange(size)
    work = work / (np.abs(work).max() or 1.0)
    if rows != columns:
        import scipy.linalg

        work, order = scipy.linalg.qr(work, mode="r", pivoting=True, check_finite=False)
        work = work[:size]
    work = (work if tall else work.T).tolist()
    generic = _generic(size)
    row = generic[order].tolist()
    precision, largest = 2 * float(np.finfo(matrix.dtype).eps), max(abs(work[i][i]) for i in range(size))
    for _ in range(30):
        finished = True
        for p in range(1, size):
            for q in range(p):
                if max(abs(work[p][q]), abs(work[q][p])) <= precision * largest:
                    continue
                finished = False
                left, right = _rotate_pair(work, p, q)
                c, s = right if tall else left
                row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
                largest = max(largest, abs(work[p][p]), abs(work[q][q]))
        if finished:
            break
    values, found = np.diagonal(work), np.array(row)
    if not tall:
        # A negative value turns the left vector.
        found = np.where(values < 0, -found, found)
    found = found[np.argsort(-np.abs(values), kind="stable")]
    return np.where(found * (generic @ vectors[:, :size]) < 0, -1, 1)
