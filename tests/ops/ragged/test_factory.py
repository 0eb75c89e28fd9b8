"""Ragged constants and placeholders."""

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401  A test imports tensorflow.
from tests.ops.ragged.rows import DEEP, ROWS, R, run

pytestmark = pytest.mark.usefixtures("own_graph")


# expression → (value, static shape)
TABLE = {
    "rows": (ROWS, "(3, ?)"),
    "deep": (DEEP, "(3, ?, ?)"),
    "tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)": ([[[1, 2]], [[3, 4], [5, 6]]], "(2, ?, 2)"),
    "tf.ragged.constant([[], []])": ([[], []], "(2, ?)"),
}


@pytest.mark.parametrize("expression", TABLE)
def test_values_and_static_shapes(expression):
    names = {"tf": tf, "R": R, "rows": tf.ragged.constant(ROWS), "deep": tf.ragged.constant(DEEP)}
    value, shape = TABLE[expression]
    found = eval(expression, names)
    assert run(found) == value
    assert found.shape.is_compatible_with(eval(shape.replace("?", "None").replace("<unknown>", "None")))


def test_fed_and_fetched_with_others():
    p = tf.ragged.placeholder(tf.int32, 1)
    value = tf.ragged.constant_value([[1], [2, 3]], dtype=np.int32)
    with tf.Session() as session:
        both = session.run({"next": p + 1, "rows": [p]}, {p: value})
    assert both["next"].to_list() == [[2], [3, 4]] and both["rows"][0].to_list() == [[1], [2, 3]]


@pytest.mark.parametrize(
    ("value", "options", "rank", "shape"),
    [
        ([[1], [2, 3]], {}, 1, [2, None]),
        ([1, 2], {}, 0, [2]),
        (3, {}, 0, []),
        ([], {}, 0, [0]),
        ([[[1, 2]], [[3, 4]]], {"ragged_rank": 1}, 1, [2, None, 2]),
        ([[[1, 2]], [[3, 4]]], {"inner_shape": (2,)}, 1, [2, None, 2]),
        ([], {"ragged_rank": 2}, 2, [0, None, None]),
        ([[]], {"ragged_rank": 1, "inner_shape": (3,)}, 1, [1, None, 3]),
    ],
)
def test_ranks_and_inner_shapes(value, options, rank, shape):
    made = tf.ragged.constant(value, **options)
    assert getattr(made, "ragged_rank", 0) == rank and made.shape.as_list() == shape
    array = tf.ragged.constant_value(value, **options)
    assert getattr(array, "ragged_rank", 0) == rank


@pytest.mark.parametrize(
    ("value", "options"),
    [
        ([[1], 2], {}),
        ([[[1]], [2]], {}),
        ([[], [[]]][0:1] + [1], {}),
        ([[1, 2], [3]], {"ragged_rank": 0}),
        ([[1]], {"ragged_rank": 2}),
        ([[[1, 2], [3]]], {"ragged_rank": 1}),
    ],
)
def test_lists_that_are_no_rows(value, options):
    with pytest.raises(ValueError):
        tf.ragged.constant(value, **options)


def test_types():
    made = tf.ragged.constant([[1], []], dtype=tf.float64, row_splits_dtype=tf.int32)
    assert made.dtype == tf.float64 and made.row_splits.dtype == tf.int32
    value = tf.ragged.constant_value([["a"], []], row_splits_dtype="int32")
    assert value.row_splits.dtype == np.int32 and run(tf.ragged.constant([["a"], []])) == [[b"a"], []]


def test_placeholders():
    p = tf.ragged.placeholder(tf.float32, 2, value_shape=[3], name="p")
    assert p.shape.as_list() == [None, None, None, 3] and p.ragged_rank == 2
    assert tf.ragged.placeholder(tf.float32, 0, value_shape=[3]).shape.as_list() == [3]


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"pylist": [[1]], "ragged_rank": -1}, ValueError),
        ({"pylist": 5, "inner_shape": (1,)}, ValueError),
        ({"pylist": [[1, 2], [3, 4]], "inner_shape": (2,)}, TypeError),
        ({"pylist": [[[1, 2]], [[3, 4], [5, 6]]], "inner_shape": (3,)}, TypeError),
        ({"pylist": [[1], [[]]]}, ValueError),
    ],
)
def test_what_makes_no_constant(arguments, error):
    with pytest.raises(error):
        tf.ragged.constant(**arguments)


def test_an_inner_shape_of_nothing():
    assert tf.ragged.constant([[[]], []], inner_shape=(0,)).shape.as_list() == [2, None, None, 0]
    assert tf.ragged.constant_value([], ragged_rank=1).dtype == np.float64


@pytest.mark.parametrize(
    ("lists", "given", "wanted"),
    [
        ([1, 2], {"inner_shape": (1, 2)}, [[1, 2]]),
        ([[[], []], []], {"inner_shape": (2,), "dtype": tf.int32}, [[[], []], []]),
        ([7], {"inner_shape": (3,)}, [7, 7, 7]),
    ],
)
def test_as_many_values_as_the_shape_holds(lists, given, wanted):
    assert run(tf.ragged.constant(lists, **given)) == wanted


def test_lists_that_fit_no_shape_are_refused():
    for lists, given, kind in (
        ([[]], {"inner_shape": (2,)}, TypeError),
        ([[[], []], []], {"ragged_rank": 1, "inner_shape": ()}, ValueError),
    ):
        with pytest.raises(kind):
            tf.ragged.constant(lists, **given)


def test_rows_that_numpy_has_no_array_for_are_objects():
    made = tf.ragged.constant_value([[1], [2, 3]], ragged_rank=0)
    assert made.dtype == object and made.tolist() == [[1], [2, 3]]


def test_the_inner_module_has_the_constant_of_rows():
    from tensorflow.python.ops.ragged import ragged_factory_ops

    assert ragged_factory_ops.constant is tf.ragged.constant
