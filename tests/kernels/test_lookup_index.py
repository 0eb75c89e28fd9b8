"""Keys that compiled loops look up are found, or not, as in the table itself."""

import random

import numpy as np
import pytest
import torch

from everflow.framework import dtypes
from everflow.framework.errors import FailedPreconditionError
from everflow.kernels.lookup import StaticTable
from everflow.kernels.strings.text import strings
from everflow.kernels.tensors import torch_dtype

INT, STRING, FLOAT, INT32 = dtypes.int64, dtypes.string, dtypes.float32, dtypes.int32


def column(values, dtype):
    if dtype is STRING:
        return strings([b"value %d" % v for v in values], (len(values),))
    return torch.tensor(values, dtype=torch_dtype(dtype))


@pytest.mark.parametrize(
    "kinds", [(STRING, INT), (INT, STRING), (STRING, FLOAT), (INT, INT), (STRING, STRING), (INT, INT32)]
)
@pytest.mark.parametrize("size", [1, 3, 100, 5000])
def test_what_is_found(both_ways, kinds, size):
    rng = random.Random(size)
    keys = rng.sample(range(-(10**9), 10**9), size)
    asked = [rng.choice([*keys, 5]) for _ in range(200)]
    default = column([-1], kinds[1]).reshape(())

    def find():
        table = StaticTable(*kinds)
        table.load(column(keys, kinds[0]), column(range(size), kinds[1]))
        given = column(asked, kinds[0]).reshape(4, 50)
        return [table.find(given, default), table.find(given.T, default), table.find(given[0], default)]

    both_ways(find)


def test_types_without_loops_and_tables_without_entries(both_ways):
    def find(kinds, keys):
        table = StaticTable(*kinds)
        table.load(column(keys, kinds[0]), column(keys, kinds[1]))
        return table.find(column([1, 2], kinds[0]), column([0], kinds[1]).reshape(()))

    both_ways(lambda: find((INT32, INT), [1]))
    both_ways(lambda: find((STRING, INT), []))


def test_a_table_that_was_not_filled(both_ways):
    table = StaticTable(STRING, INT)
    with pytest.raises(FailedPreconditionError):
        table.find(np.array([b"a"], object), torch.tensor(0))
