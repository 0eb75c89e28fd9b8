"""Kernels of nodes that only plans have: several ops of a graph in one. Their names begin with an underscore; no file holds them."""

from __future__ import annotations

import torch

from everflow.kernels.registry import kernel


@kernel("_MatMulBias")
def matmul_bias(a, b, bias, *, transpose_a, transpose_b):
    return torch.addmm(bias, a.t() if transpose_a else a, b.t() if transpose_b else b)


@kernel("_SumOfMatMuls")
def sum_of_matmuls(a, b, *, transpose_a, transpose_b):
    """The sum of products a[i] b[i] is one product of all a side by side and all b one below the other."""
    left = torch.cat(a, 0).t() if transpose_a else torch.cat(a, 1)
    right = torch.cat(b, 1).t() if transpose_b else torch.cat(b, 0)
    return torch.mm(left, right)


@kernel("_SumOfRows")
def sum_of_rows(values):
    """The sum over all rows of several matrices, as BiasAddGrad and the sum of its results give."""
    return torch.cat(values, 0).sum(0)
