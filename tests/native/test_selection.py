"""The largest entries of rows."""

import numpy as np
import pytest

from everflow.native import procedures, selection
from everflow.native.nest_code import I64
from tests.native.test_procedures import run


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
@pytest.mark.parametrize("rows, size, count", [(1, 1, 1), (3, 50, 5), (2, 7, 7), (4, 300, 1)])
def test_the_first_of_the_largest_in_order(dtype, rows, size, count):
    numbers = np.random.RandomState(0).randint(-20, 20, [rows, size]).astype(dtype)
    values, places = np.zeros([rows, count], dtype), np.zeros([rows, count], "i4")

    def write(p, writer):
        addresses = [p.address_in(p.word()) for _ in range(3)]
        sizes = [I64(n) for n in (rows, size, count)]
        for _ in range(2):  # the function is written once
            p.builder.call(selection.top_k(writer, np.dtype(dtype)), [*addresses, *sizes])

    arrays = numbers, values, places
    assert run(write, {procedures.FIRST_FREE + i: a.ctypes.data for i, a in enumerate(arrays)})[0] == procedures.DONE
    expected = np.argsort(-numbers, 1, kind="stable")[:, :count]
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(numbers, expected, 1))
