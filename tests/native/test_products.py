"""Products by the BLAS, in regions."""

import numpy as np
import pytest

from everflow.native import toolchain
from everflow.native.nests import Access, as_matrix
from everflow.native.values import const, input_value, join, product
from tests.native.expressions import compiled, evaluated

pytestmark = pytest.mark.skipif(not toolchain.can_multiply(), reason="there is no BLAS at hand")

RANDOM = np.random.RandomState(0)
A, B = RANDOM.randint(-4, 5, [6, 8]).astype("f4"), RANDOM.randint(-4, 5, [8, 5]).astype("f4")
LEFT, RIGHT = input_value(0, "f4", [6, 8]), input_value(1, "f4", [8, 5])


def agrees(outputs, inputs, updates=()):
    """Machine code against numpy; small whole numbers leave no room for rounding."""
    expected = [evaluated(v, inputs) for v in [*outputs, *(v for v, _ in updates)]]
    for got, want in zip(compiled(outputs, inputs, 2, list(updates)), expected, strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_product_and_what_is_made_of_it(dtype):
    a, b = input_value(0, dtype, A.shape), input_value(1, dtype, B.shape)
    made = product(a * 2, b)
    agrees([made + 1, made.reduce("sum", [0]), made], [A.astype(dtype), B.astype(dtype)])


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_transposed_matrices_are_read_where_they_lie(turned):
    given = [x.T.copy() if t else x for x, t in zip((A, B), turned, strict=True)]
    values = [input_value(i, x.dtype, x.shape) for i, x in enumerate(given)]
    a, b = (v.permute([1, 0]) if t else v for v, t in zip(values, turned, strict=True))
    agrees([product(a, b)], given)


def test_slices_rows_and_parts_of_a_join():
    half = RIGHT.slice([0, 1], [8, 3])
    agrees([product(LEFT, half), product(LEFT.slice([2, 0], [1, 8]), RIGHT)], [A, B])
    agrees([product(join([LEFT * 2, LEFT], 0), RIGHT)], [A, B])
    agrees([product(LEFT.slice([0, 0], [6, 4], [1, 2]), RIGHT.slice([0, 0], [4, 5]))], [A, B])


def test_what_is_no_matrix_in_memory_is_written_down():
    spread = const(2.0, np.dtype("f4")).expand([3, 6])
    agrees([product(spread, LEFT), product(LEFT.slice([5, 7], [6, 8], [-1, -1]), RIGHT)], [A, B])


def test_products_of_products_and_long_chains():
    square = input_value(0, "f4", [4, 4])
    value = square
    for _ in range(6):
        value = product(value, square.permute([1, 0])) - value
    agrees([value], [RANDOM.randint(-1, 2, [4, 4]).astype("f4")])


def test_a_variable_is_written_over_after_products_have_read_it():
    weights = input_value(1, "f4", [8, 5])
    made = product(LEFT, weights)
    step = product(LEFT.permute([1, 0]), made)
    agrees([made], [A, B], [(weights - step, weights)])
    agrees([], [A[:5, :5].copy(), B[:5].copy()], [(product(x, x), x) for x in [input_value(1, "f4", [5, 5])]])


def test_many_products_are_taken_where_they_lie():
    """As in attention: heads are an axis between, and stay there."""
    x = RANDOM.randint(-3, 4, [2, 5, 3, 4]).astype("f4")
    words = input_value(0, "f4", x.shape)
    heads = words.permute([0, 2, 1, 3])
    scores = product(heads, heads.permute([0, 1, 3, 2]))
    mixed = product(scores * 2, heads)
    agrees([scores, mixed.permute([0, 2, 1, 3]) + 1], [x])
    agrees([product(words.slice([0, 0, 1, 0], [2, 5, 2, 4], [1, 1, 1, 1]), words.permute([0, 1, 3, 2]))], [x])


def test_what_has_no_product_is_refused():
    with pytest.raises(ValueError, match="no product"):
        product(LEFT, LEFT)
    with pytest.raises(ValueError, match="no product"):
        product(input_value(0, "i4", [2, 2]), input_value(1, "i4", [2, 2]))


def test_strides_that_the_blas_knows():
    assert as_matrix(Access(LEFT, 0, (8, 1)), (6, 8)) == (8, False)
    assert as_matrix(Access(LEFT, 0, (1, 8)), (8, 6)) == (8, True)
    assert as_matrix(Access(LEFT, 3, (16, 1)), (3, 4)) == (16, False)
    assert as_matrix(Access(LEFT, 0, (0, 1)), (1, 8)) == (8, False)
    assert as_matrix(Access(LEFT, 0, (8, 2)), (6, 4)) is None
    assert as_matrix(Access(LEFT, 0, (0, 1)), (6, 8)) is None
    assert as_matrix(Access(LEFT, 47, (-8, -1)), (6, 8)) is None
