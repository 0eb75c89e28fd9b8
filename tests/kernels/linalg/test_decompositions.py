"""Kernels of matrices where plain library calls would differ: bad values, small types, pivots."""

import numpy as np
import pytest
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.linalg import decompositions as linalg

RANDOM = np.random.default_rng(3)


def tensor(*shape):
    return torch.from_numpy(RANDOM.normal(size=shape))


def test_cholesky_reads_only_the_lower_triangle():
    x = tensor(3, 3)
    positive = x @ x.T + torch.eye(3, dtype=x.dtype)
    torch.testing.assert_close(linalg.cholesky(positive.tril()), torch.linalg.cholesky(positive))


def test_factorizations_of_nothing():
    empty = torch.zeros(0, 3, 3, dtype=torch.float64)
    assert linalg.cholesky(empty).shape == (0, 3, 3)
    assert linalg.matrix_determinant(torch.zeros(2, 0, 0)).tolist() == [1, 1]


@pytest.mark.parametrize("function", [linalg.cholesky, linalg.matrix_determinant, linalg.log_matrix_determinant])
def test_matrices_must_be_square(function):
    with pytest.raises(InvalidArgumentError):
        function(tensor(2, 3))


@pytest.mark.parametrize("pivoting", [True, False])
@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_tridiagonal_solve(pivoting, size):
    diagonals, rhs = tensor(3, size), tensor(size, 2)
    diagonals[1] += 5
    dense = torch.diag(diagonals[1]) + torch.diag(diagonals[0, :-1], 1) + torch.diag(diagonals[2, 1:], -1)
    found = linalg.tridiagonal_solve(diagonals, rhs, partial_pivoting=pivoting)
    torch.testing.assert_close(found, torch.linalg.solve(dense, rhs))
    product = linalg.tridiagonal_matmul(diagonals[None, 0], diagonals[None, 1], diagonals[None, 2], rhs)
    torch.testing.assert_close(product, dense @ rhs)


def test_tridiagonal_solve_pivots_past_a_zero_on_the_diagonal():
    diagonals = torch.tensor([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [0.0, 1.0, 4.0]], dtype=torch.float64)
    rhs = torch.ones(3, 1, dtype=torch.float64)
    dense = torch.tensor([[0.0, 2.0, 0.0], [1.0, 3.0, 1.0], [0.0, 4.0, 1.0]], dtype=torch.float64)
    torch.testing.assert_close(
        linalg.tridiagonal_solve(diagonals, rhs, partial_pivoting=True), torch.linalg.solve(dense, rhs)
    )


def test_half_precision_goes_through_float32():
    x = (tensor(3, 3) + 3 * torch.eye(3)).to(torch.float16)
    found = linalg.matrix_inverse(x, adjoint=False)
    assert found.dtype == torch.float16
    torch.testing.assert_close(found.float(), torch.linalg.inv(x.float()), atol=1e-2, rtol=1e-2)


def test_packed_eigenvectors_lie_below_the_values():
    x = tensor(4, 4)
    x = x + x.T
    packed = linalg.self_adjoint_eig_packed(x)
    values, vectors = packed[0], packed[1:]
    torch.testing.assert_close(x @ vectors, vectors * values)


def test_cholesky_gradient_against_differences():
    x = tensor(3, 3)
    positive = (x @ x.T + torch.eye(3, dtype=x.dtype)).requires_grad_()
    weights = tensor(3, 3).tril()
    factor = torch.linalg.cholesky(positive)
    (factor * weights).sum().backward()
    torch.testing.assert_close(linalg.cholesky_grad(factor.detach(), weights), positive.grad)
