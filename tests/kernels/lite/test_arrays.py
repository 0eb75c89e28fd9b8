"""Ops of TensorFlow Lite that move elements: options as the files have them."""

import numpy as np
import pytest

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.lite.arrays import _SAME, _WITH_OPTIONS
from everflow.kernels.lite.registry import Operand
from everflow.kernels.registry import lookup
from tests.kernels.lite.calls import compute

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_tables_name_ops_that_exist():
    for op in {*_SAME.values(), *(op for op, _ in _WITH_OPTIONS.values())}:
        assert lookup(op) is not None


@pytest.mark.parametrize("given", ["input", "option"])
def test_the_shape_comes_as_an_input_or_an_option(given):
    shape = np.int32([3, -1])
    found = compute("RESHAPE", X, shape) if given == "input" else compute("RESHAPE", X, new_shape=shape)
    assert found.tolist() == X.reshape(3, 2).tolist()


def test_no_shape_at_all():
    with pytest.raises(InvalidArgumentError, match="says no shape"):
        compute("RESHAPE", X, new_shape=None)


@pytest.mark.parametrize(("dims", "shape"), [(None, (2,)), ([0], (2, 1)), ([-1], (1, 2))])
def test_dimensions_of_one_are_dropped(dims, shape):
    assert compute("SQUEEZE", np.zeros([1, 2, 1], np.float32), squeeze_dims=dims).shape == shape


@pytest.mark.parametrize(
    ("name", "inputs", "options", "wanted"),
    [
        ("CONCATENATION", (X, X), {"axis": -1}, np.concatenate([X, X], 1)),
        ("PACK", (X, X), {"axis": 1}, np.stack([X, X], 1)),
        ("GATHER", (X, np.int32([2, 0])), {"axis": 1}, X[:, [2, 0]]),
        ("TRANSPOSE", (X, np.int32([1, 0])), {}, X.T),
        ("MIRROR_PAD", (X, np.int32([[0, 0], [1, 1]])), {"mode": 0}, np.pad(X, [(0, 0), (1, 1)], "reflect")),
        ("MIRROR_PAD", (X, np.int32([[0, 0], [1, 1]])), {"mode": 1}, np.pad(X, [(0, 0), (1, 1)], "symmetric")),
        ("EMBEDDING_LOOKUP", (np.int32([1, 1, 0]), X), {}, X[[1, 1, 0]]),
        ("ONE_HOT", (np.int32([1]), np.int32(3), np.float32(5), np.float32(1)), {"axis": -1}, [[1, 5, 1]]),
    ],
)
def test_values(name, inputs, options, wanted):
    np.testing.assert_array_equal(compute(name, *inputs, **options), wanted)


def test_parts():
    parts = compute("SPLIT_V", X, np.int32([1, -1]), np.int32(1), num_splits=2)
    assert [p.shape for p in parts] == [(2, 1), (2, 2)]
    assert [p.tolist() for p in compute("SPLIT", np.int32(0), X, num_splits=2)] == [[X[0].tolist()], [X[1].tolist()]]
    assert [p.tolist() for p in compute("UNPACK", X, axis=0, num=2)] == X.tolist()


def test_rows_by_sorted_keys():
    rows, hits = compute("HASHTABLE_LOOKUP", np.int32([5, 4, 9]), np.int32([1, 5]), X)
    assert rows.tolist() == [X[1].tolist(), [0, 0, 0], [0, 0, 0]] and hits.tolist() == [1, 0, 0]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_places_of_what_is_true(dtype):
    found = compute("WHERE", np.array([[False, True], [True, False]]), outputs=[Operand(np.dtype(dtype))])
    assert found.numpy().dtype == dtype and found.tolist() == [[0, 1], [1, 0]]


def test_slices_with_masks():
    found = compute(
        "STRIDED_SLICE", X, np.int32([0, 1]), np.int32([0, 3]), np.int32([1, 1]),
        begin_mask=0, end_mask=1, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0,
    )  # fmt: skip
    assert found.tolist() == X[:, 1:].tolist()
