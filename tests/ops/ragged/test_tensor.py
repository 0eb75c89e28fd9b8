"""Ragged tensors made of values and rows, and what they tell of themselves."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.ragged.rows import DEEP, ROWS, R, run

pytestmark = pytest.mark.usefixtures("own_graph")


# expression → (value, static shape)
TABLE = {
    "R.from_row_splits([1, 2, 3], [0, 2, 3])": ([[1, 2], [3]], "(2, ?)"),
    "R.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4)": ([[1, 2], [], [3], []], "(4, ?)"),
    "R.from_value_rowids([1, 2, 3], [0, 0, 2])": ([[1, 2], [], [3]], "(3, ?)"),
    "R.from_row_lengths([1, 2, 3], [2, 0, 1])": ([[1, 2], [], [3]], "(3, ?)"),
    "R.from_row_starts([1, 2, 3], [0, 2, 2])": ([[1, 2], [], [3]], "(3, ?)"),
    "R.from_row_limits([1, 2, 3], [2, 2, 3])": ([[1, 2], [], [3]], "(3, ?)"),
    "R.from_nested_row_lengths([1, 2, 3], [[2, 0], [1, 2]])": ([[[1], [2, 3]], []], "(2, ?, ?)"),
    "rows.row_lengths()": ([2, 0, 3], "(3,)"),
    "deep.row_lengths(axis=2)": ([[1, 2], [], [2]], "(3, ?)"),
    "rows.value_rowids()": ([0, 0, 2, 2, 2], "(?,)"),
    "deep.bounding_shape()": ([3, 2, 2], "(3,)"),
    "deep.with_flat_values(tf.constant([5, 4, 3, 2, 1]))": ([[[5], [4, 3]], [], [[2, 1]]], "(3, ?, ?)"),
}


@pytest.mark.parametrize("expression", TABLE)
def test_values_and_static_shapes(expression):
    names = {"tf": tf, "R": R, "rows": tf.ragged.constant(ROWS), "deep": tf.ragged.constant(DEEP)}
    value, shape = TABLE[expression]
    found = eval(expression, names)
    assert run(found) == value
    assert found.shape.is_compatible_with(eval(shape.replace("?", "None").replace("<unknown>", "None")))


@pytest.mark.parametrize(
    "build",
    [
        lambda: R.from_row_splits([1, 2, 3], [0, 2]),
        lambda: R.from_row_splits([1, 2, 3], [1, 3]),
        lambda: R.from_row_lengths([1, 2, 3], [5, 1]),
        lambda: R.from_value_rowids([1, 2], [1, 0]),
        lambda: tf.ragged.constant(ROWS) + tf.ragged.constant([[1], [2, 3], [4]]),
    ],
)
def test_rows_that_do_not_add_up_raise_when_they_run(build):
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(build())


def test_what_is_refused():
    rows = tf.ragged.constant(ROWS)
    for wrong in (
        lambda: tf.ragged.constant([[1], 2]),
        lambda: tf.ragged.constant([[1]], ragged_rank=3),
        lambda: R([1], [0, 1]),
        lambda: rows[:, 0],
    ):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError):
        tf.convert_to_tensor(rows)


def test_what_a_ragged_tensor_tells_of_itself():
    rows, deep = tf.ragged.constant(ROWS), tf.ragged.constant(DEEP)
    assert run(rows.nrows()) == 3 and run(rows.row_starts()) == [0, 2, 2] and run(rows.row_limits()) == [2, 2, 5]
    assert [run(t) for t in deep.nested_row_splits] == [[0, 2, 2, 3], [0, 1, 3, 5]]
    assert [run(t) for t in deep.nested_row_lengths()] == [[2, 0, 1], [1, 2, 2]]
    assert [run(t) for t in deep.nested_value_rowids()] == [[0, 0, 2], [0, 1, 1, 2, 2]]
    assert run(deep.bounding_shape(axis=1)) == 2
    assert run(rows.bounding_shape(axis=0, out_type=tf.int32)) == 3
    assert rows.with_row_splits_dtype(tf.int32).row_splits.dtype == tf.int32
    assert rows.dtype == tf.int32 and str(rows).startswith("tf.RaggedTensor(values=")


def test_made_from_what_it_tells():
    deep = tf.ragged.constant(DEEP)
    assert run(R.from_nested_row_splits(deep.flat_values, deep.nested_row_splits)) == DEEP
    assert run(R.from_nested_row_lengths(deep.flat_values, deep.nested_row_lengths())) == DEEP
    counts = [3, 3]
    assert run(R.from_nested_value_rowids(deep.flat_values, deep.nested_value_rowids(), counts)) == DEEP
    assert run(deep.with_values(tf.constant([7, 8, 9]))) == [[7, 8], [], [9]]


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: R.from_row_splits([1], np.zeros([0], np.int64)), ValueError),
        (lambda: R.from_row_splits([1], [0.0, 1.0]), (TypeError, ValueError)),
        (lambda: R.from_nested_row_splits([1], tf.constant([0, 1])), TypeError),
        (lambda: R.from_nested_value_rowids([1], [[0]], [1, 2]), ValueError),
        (lambda: tf.ragged.constant(ROWS).with_row_splits_dtype(tf.float32), ValueError),
        (lambda: tf.ragged.constant(ROWS).with_values(tf.constant([1, 2])), ValueError),
        (lambda: list(tf.ragged.constant(ROWS)), ValueError),
    ],
)
def test_parts_that_do_not_fit(build, error):
    with pytest.raises(error):
        build()


def test_what_is_not_checked_is_taken():
    assert run(R.from_row_splits([1, 2, 3], [0, 2], validate=False).row_splits) == [0, 2]


def test_values_of_rows_beyond_the_last_one():
    for validate in (True, False):
        with pytest.raises(ValueError, match="too few"):
            tf.RaggedTensor.from_value_rowids([1], [5], nrows=5, validate=validate)


@pytest.mark.parametrize(("value", "depth"), [(ROWS, 1), (DEEP, 2)])
def test_as_a_variant_and_back(value, depth):
    rows = tf.ragged.constant(value)
    whole = rows._to_variant()
    assert whole.shape.as_list() == [] and run(R._from_variant(whole, tf.int32, depth)) == value
    each = rows._to_variant(batched_input=True)
    assert run(R._from_variant(each, tf.int32, depth, depth - 1)) == value
    if depth > 1:
        assert run(R._from_variant(each[0], tf.int32, depth - 1)) == value[0]
    with tf.Session() as session:
        for dtype, wrong_depth in ((tf.float32, depth), (tf.int32, depth + 1)):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(R._from_variant(whole, dtype, wrong_depth))


def test_joined_along_the_first_dimension():
    from everflow.ops.ragged.functions import concat, stack

    assert run(concat([tf.constant([[7, 8]]), tf.constant([[1]])], 0)) == [[7, 8], [1]]
    assert run(stack(tf.ragged.constant(ROWS))) == [ROWS]
    with pytest.raises(ValueError):
        concat([tf.ragged.constant(ROWS), tf.ragged.constant(ROWS, row_splits_dtype=tf.int32)], 0)
    with pytest.raises(ValueError):
        tf.ragged.boolean_mask(tf.ragged.constant([[[1, 2]]], ragged_rank=1), tf.ragged.constant([[[True, False]]]))


def test_what_is_known_of_rows_already():
    rows = R.from_value_rowids([1, 2, 3], tf.constant([0, 0, 2], tf.int64), nrows=4)
    assert run(rows.row_lengths()) == [2, 0, 1, 0] and "bincount" in rows.row_lengths().op.name
    assert R.from_row_splits([1, 2], np.array([0, 2], np.int32)).row_splits.dtype == tf.int32
    with pytest.raises(TypeError):
        R(tf.constant([1]), tf.constant([0, 1], tf.int64), cached_nrows=[1], internal=True)
    with pytest.raises(ValueError):
        R.from_value_rowids([1, 2, 3], [0, 2])
