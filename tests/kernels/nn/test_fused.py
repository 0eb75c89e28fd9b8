"""Several ops in one, where bits may differ: the values are those of the ops they stand for.

Those that keep the bits are in tests/kernels/test_fused_bits.py.
"""

import pytest
import torch

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError, OpError
from everflow.kernels.registry import function_of
from everflow.kernels.state import Ref, ResourceVariable

torch.manual_seed(0)


@pytest.mark.parametrize("a", [False, True])
@pytest.mark.parametrize("b", [False, True])
def test_some_columns_of_a_product(a, b):
    x, y = torch.randn(3, 4), torch.randn(4, 6)
    found = function_of("_MatMulColumns")(
        x.t() if a else x, y.t() if b else y, transpose_a=a, transpose_b=b, start=2, count=3
    )
    torch.testing.assert_close(found, (x @ y)[:, 2:5])


@pytest.mark.parametrize("a", [False, True])
@pytest.mark.parametrize("b", [False, True])
def test_sums_of_products(a, b):
    pairs = [(torch.randn(3, inner), torch.randn(inner, 2)) for inner in (1, 4, 2)]
    found = function_of("_SumOfMatMuls")(
        [x.t() if a else x for x, _ in pairs], [y.t() if b else y for _, y in pairs], transpose_a=a, transpose_b=b
    )
    torch.testing.assert_close(found, sum(x @ y for x, y in pairs))


def test_sums_of_rows_and_products_added():
    parts = [torch.randn(rows, 5) for rows in (1, 0, 7)]
    torch.testing.assert_close(function_of("_SumOfRows")(parts), torch.cat(parts).sum(0))
    x, y, z = torch.randn(3, 4)
    torch.testing.assert_close(function_of("_AddProduct")(x, y, z), x + y * z)


def variable(kind, value=None):
    made = kind(dtypes.float32, "v")
    made.value = value
    return made


@pytest.mark.parametrize("kind", [Ref, ResourceVariable])
def test_updates_of_a_variable_without_a_value_say_so(kind):
    rate, value = torch.tensor(0.5), torch.ones(2)
    suffix = "Ref" if kind is Ref else "Resource"
    for op_type, arguments in (
        (f"_Scale{suffix}", (rate,)),
        (f"_Step{suffix}", (rate, value, value)),
        ("_MoveTowards", (value, rate)),
    ):
        with pytest.raises(OpError):
            function_of(op_type)(variable(kind), *arguments)


def test_updates_that_do_not_fit_leave_the_variable():
    old = torch.ones(2)
    v = variable(Ref, old.clone())
    with pytest.raises(InvalidArgumentError):
        function_of("_StepRef")(v, torch.tensor(0.5), torch.ones(3), torch.ones(3))
    with pytest.raises(InvalidArgumentError):
        function_of("_ApplyGradientDescents")([v], torch.tensor(0.5), [torch.ones(3)])
    assert torch.equal(v.value, old)


def test_half_precision_is_updated_one_by_one():
    variables = [variable(Ref, torch.ones(2, dtype=torch.float16)) for _ in range(2)]
    function_of("_ApplyGradientDescents")(
        variables, torch.tensor(0.5, dtype=torch.float16), [torch.ones(2, dtype=torch.float16)] * 2
    )
    assert [v.value.tolist() for v in variables] == [[0.5, 0.5]] * 2
