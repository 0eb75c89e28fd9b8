"""Which nests are run together by blocks of rows, and that nothing comes of it but speed."""

from unittest import mock

import numpy as np
import pytest

from everflow.native import row_blocks
from everflow.native.codegen import SHARED_WORK, Region, Writer
from everflow.native.nests import Touch
from everflow.native.values import Value, apply, input_value, join
from tests.native.expressions import compiled

RANDOM = np.random.RandomState(0)
X = input_value(0, "f4", [40, 100])


def softmax(x: Value) -> Value:
    power = apply("exp", x - x.reduce("peak", [1], keep=True))
    return power / power.reduce("sum", [1], keep=True)


def groups_of(*outputs: Value) -> list[int]:
    """How many nests go together."""
    with mock.patch("everflow.native.codegen.grouped", side_effect=row_blocks.grouped) as called:
        Writer().add(list(outputs), 1)
    [[nests]] = [call.args for call in called.call_args_list]
    return [len(group.nests) for group in row_blocks.grouped(nests)]


def test_the_passes_of_a_softmax_go_together():
    assert groups_of(softmax(X)) == [3]


def test_a_pass_over_all_entries_takes_as_many_of_them_for_a_row():
    assert groups_of(softmax(X), softmax(X) * 2.0 + X) == [3]
    assert groups_of(X * 2.0 + (X * 2.0).reduce("sum", [1], keep=True)) == [2]


@pytest.mark.parametrize(
    "value, groups",
    [
        (X - X.reduce("sum", [0], keep=True), [1, 1]),  # the rows are what is reduced
        ((X * 2.0).slice([39, 0], [40, 100], [-1, 1]) + (X * 2.0).reduce("sum", [1], keep=True), [1, 1]),
        (X.slice([0, 0], [4, 100]) - X.slice([0, 0], [4, 100]).reduce("sum", [1], keep=True), [1, 1]),  # too few
    ],
)
def test_what_needs_other_rows_comes_later(value, groups):
    assert groups_of(value) == groups


def test_what_lies_between_needs_memory_for_a_block_only():
    entry = Writer().add([softmax(input_value(0, "f4", [10_000, 100]))], 1)
    assert entry.scratch < 10_000
    with mock.patch.object(row_blocks, "BETWEEN", 0):
        assert Writer().add([softmax(input_value(0, "f4", [10_000, 100]))], 1).scratch > 4_000_000


@pytest.mark.parametrize("shape", [(SHARED_WORK // 1000, 100), (37, 5), (9, 20_000)])
def test_blocks_and_threads_change_no_bit(shape):
    x = RANDOM.randn(*shape).astype("f4")
    value = input_value(0, "f4", shape)
    difference = value - value.reduce("sum", [1], keep=True) * (1 / shape[1])
    outputs = [softmax(value), difference * apply("rsqrt", (difference * difference).reduce("sum", [1], keep=True))]
    outputs.append(join([softmax(value), value.reduce("max", [1], keep=True)], 1))
    with mock.patch.object(row_blocks, "FEWEST_ROWS", 1 << 30):
        alone = compiled(outputs, [x])
    for threads, block in ((1, row_blocks.BLOCK), (2, row_blocks.BLOCK), (3, 1)):
        with mock.patch.object(row_blocks, "BLOCK", block):
            for one, other in zip(alone, compiled(outputs, [x], threads), strict=True):
                np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(alone[0].sum(1), 1, rtol=1e-5)


def test_an_input_that_is_written_over_row_by_row_is_read_before():
    x = RANDOM.randint(-9, 9, [40, 6]).astype("f4")
    value = input_value(0, "f4", x.shape)
    [got] = compiled([], [x], updates=[(value - value.reduce("sum", [1], keep=True), value)])
    np.testing.assert_array_equal(got, x - x.sum(1, keepdims=True))


def test_a_row_holds_what_is_touched_for_it():
    memory = input_value(0, "f4", [40, 100])
    assert Touch(memory, True, 100, 0, 99).within_row(1) == 100
    assert Touch(memory, True, 1, 0, 0).within_row(100) == 100
    assert Touch(memory, True, 100, 50, 149).within_row(1) is None
    assert Touch(memory, True, -100, 3900, 3999).within_row(1) is None
    assert Touch(memory, False, 0, 0, 0).within_row(5) is None


def test_long_rows_take_turns_in_the_memory_of_one_block():
    """What is too much for the stack lies in the first rows of each thread's share of its memory."""
    x = RANDOM.standard_normal((24, 30_000)).astype("f4")
    outputs = [softmax(input_value(0, "f4", x.shape))]
    with mock.patch.object(row_blocks.RowBlocks, "reused", return_value={}):
        [wanted] = compiled(outputs, [x])
    for threads in (1, 2, 3):
        with mock.patch(
            "everflow.native.codegen.Region.by_blocks", autospec=True, side_effect=Region.by_blocks
        ) as made:
            [found] = compiled(outputs, [x], threads)
        [*_, reused] = made.call_args.args
        assert sum(reused) == x.shape[1] * 4
        np.testing.assert_array_equal(found, wanted)
