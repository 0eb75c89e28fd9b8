"""Signs of eigenvectors and singular vectors: those that TensorFlow gives, whatever LAPACK chose."""

import numpy as np
import pytest
import torch

from everflow.kernels.linalg import decompositions as linalg
from everflow.kernels.linalg import signs as linalg_signs

A = np.array([[2.0, 1, 0, 3], [1, -1, 4, 2], [0, 4, 5, 1], [3, 2, 1, 1]])
B = A[:, :3]

# a matrix, the first rows of its u and v in TensorFlow
SINGULAR = [
    (B, [0.1301, 0.5128, -0.2066], [0.2291, 0.7107, -0.6652]),
    (B.T, [-0.2291, 0.7107, 0.6652], [-0.1301, 0.5128, 0.2066]),
    (B[:3], [0.0898, 0.1716, 0.9811], [0.0898, -0.1716, 0.9811]),
]


def test_eigenvectors():
    _, vectors = linalg.self_adjoint_eig(torch.from_numpy(A), compute_v=True)
    np.testing.assert_allclose(vectors[0], [-0.0156, 0.6482, -0.7143, 0.2632], atol=1e-4)
    _, of_batch = linalg.self_adjoint_eig(torch.from_numpy(np.stack([A, A + np.eye(4)])), compute_v=True)
    np.testing.assert_allclose(of_batch[0], vectors, atol=1e-10)


@pytest.mark.parametrize(("matrix", "u_row", "v_row"), SINGULAR)
@pytest.mark.parametrize("full", [True, False])
def test_singular_vectors(matrix, u_row, v_row, full):
    s, u, v = linalg.svd(torch.from_numpy(matrix.copy()), compute_uv=True, full_matrices=full)
    np.testing.assert_allclose(u[0, :3], u_row, atol=1e-4)
    np.testing.assert_allclose(v[0, :3], v_row, atol=1e-4)
    np.testing.assert_allclose((u[:, :3] * s) @ v[:, :3].mT, matrix, atol=1e-10)


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_the_signs_given_do_not_matter(size):
    random = np.random.default_rng(size)
    matrix = random.normal(size=(size, size))
    symmetric = matrix + matrix.T
    vectors = np.linalg.eigh(symmetric)[1]
    flips = random.choice([-1, 1], size)
    wanted = vectors * linalg_signs.eigen_signs(symmetric, vectors)
    np.testing.assert_allclose(vectors * flips * linalg_signs.eigen_signs(symmetric, vectors * flips), wanted)
    u, _, vh = np.linalg.svd(matrix)
    wanted = vh.T * linalg_signs.singular_signs(matrix, u, vh.T)
    np.testing.assert_allclose(vh.T * flips * linalg_signs.singular_signs(matrix, u * flips, vh.T * flips), wanted)


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.eye(4), np.ones((3, 2)), np.diag([-1.0, 2, 0])], ids=str)
def test_matrices_with_free_vectors_end(matrix):
    s, u, v = linalg.svd(torch.from_numpy(matrix), compute_uv=True, full_matrices=False)
    np.testing.assert_allclose((u * s) @ v.mT, matrix, atol=1e-10)
    if matrix.shape[0] == matrix.shape[1]:
        values, vectors = linalg.self_adjoint_eig(torch.from_numpy(matrix), compute_v=True)
        np.testing.assert_allclose((vectors * values) @ vectors.mT, matrix, atol=1e-10)
