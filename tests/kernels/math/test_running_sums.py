"""Sums that loops add to: what waits is added in the end, and the first total is left as it was."""

import pytest
import torch

from everflow.kernels.math import running_sums
from everflow.kernels.registry import function_of

torch.manual_seed(0)


@pytest.mark.parametrize("rows", [1, 3, running_sums.ENOUGH, running_sums.ENOUGH + 1])
def test_rows(rows):
    start = torch.randn(4)
    kept = start.clone()
    parts = [torch.randn(rows, 4) for _ in range(5)]
    running = function_of("_RunningSum")(start)
    for part in parts:
        running = function_of("_RunningSumOfRows")(running, part)
    total = function_of("_Total")(running)
    torch.testing.assert_close(total, kept + torch.cat(parts).sum(0))
    assert torch.equal(start, kept)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("inner", [2, 70])
def test_products(transpose_a, transpose_b, inner):
    start = torch.zeros(3, 2)
    running, expected = function_of("_RunningSum")(start), torch.zeros(3, 2)
    for _ in range(4):
        a, b = torch.randn(3, inner), torch.randn(inner, 2)
        expected += a @ b
        running = function_of("_RunningSumOfMatMuls")(
            running,
            a.t() if transpose_a else a,
            b.t() if transpose_b else b,
            transpose_a=transpose_a,
            transpose_b=transpose_b,
        )
    torch.testing.assert_close(function_of("_Total")(running), expected, atol=1e-4, rtol=1e-4)
    assert not start.any()


def test_a_total_may_be_asked_for_on_the_way():
    running = running_sums.RunningSum(torch.ones(2))
    assert running.total().tolist() == [1, 1]
    running_sums.running_sum_of_rows(running, torch.ones(3, 2))
    assert running.total().tolist() == [4, 4]
    running_sums.running_sum_of_rows(running, torch.ones(1, 2))
    assert running.total().tolist() == [5, 5] and running.total().tolist() == [5, 5]
