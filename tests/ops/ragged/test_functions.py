"""Ragged tensors joined, gathered, masked and reduced."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.ragged import functions
from tests.ops.ragged.rows import DEEP, ROWS, R, run

pytestmark = pytest.mark.usefixtures("own_graph")


# expression → (value, static shape)
TABLE = {
    "tf.ragged.range([0, 9], [4, 1], [2, -3])": ([[0, 2], [9, 6, 3]], "(2, ?)"),
    "tf.ragged.stack([rows, rows])": ([ROWS, ROWS], "(2, ?, ?)"),
    "tf.ragged.boolean_mask(rows, tf.ragged.constant([[True, False], [], [True, True, False]]))": (
        [[1], [], [3, 4]],
        "(3, ?)",
    ),
    "tf.ragged.boolean_mask(rows, [True, False, True])": ([[1, 2], [3, 4, 5]], "(?, ?)"),
    "tf.ragged.stack_dynamic_partitions([1, 2, 3], [0, 2, 0], 3)": ([[1, 3], [], [2]], "(3, ?)"),
    "tf.reduce_sum(rows, axis=1)": ([3, 0, 12], "(3,)"),
    "tf.reduce_sum(rows, axis=0)": ([4, 6, 5], "(?,)"),
    "tf.reduce_sum(deep, axis=1)": ([[3, 3], [], [4, 5]], "(3, ?)"),
    "tf.reduce_max(rows)": (5, "()"),
    "tf.concat([rows, rows], axis=1)": ([[1, 2, 1, 2], [], [3, 4, 5, 3, 4, 5]], "(3, ?)"),
    "tf.gather(rows, [2, 0])": ([[3, 4, 5], [1, 2]], "(2, ?)"),
    "tf.gather([10, 20, 30], tf.ragged.constant([[1], [], [0, 2]]))": ([[20], [], [10, 30]], "(3, ?)"),
    "tf.expand_dims(rows, 1)": ([[[1, 2]], [[]], [[3, 4, 5]]], "(3, ?, ?)"),
}


@pytest.mark.parametrize("expression", TABLE)
def test_values_and_static_shapes(expression):
    names = {"tf": tf, "R": R, "rows": tf.ragged.constant(ROWS), "deep": tf.ragged.constant(DEEP)}
    value, shape = TABLE[expression]
    found = eval(expression, names)
    assert run(found) == value
    assert found.shape.is_compatible_with(eval(shape.replace("?", "None").replace("<unknown>", "None")))


_ROWS = [[3, 1, 4], [], [1, 5]]


_ROW_FUNCTIONS = {
    "any": (lambda rt: tf.reduce_any(tf.equal(rt, 5), axis=1), [False, False, True]),
}


@pytest.mark.parametrize("name", _ROW_FUNCTIONS)
def test_functions_of_tensors_on_rows(name):
    function, expected = _ROW_FUNCTIONS[name]
    with tf.Session() as sess:
        found = sess.run(function(tf.ragged.constant(_ROWS)))
    assert (found.to_list() if hasattr(found, "to_list") else np.asarray(found).tolist()) == expected


def test_tf_stack_takes_ragged_tensors():
    a, b, deep = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[4], [5, 6]]), tf.ragged.constant(DEEP)
    assert run(tf.stack([a, b])) == [[[1, 2], [3]], [[4], [5, 6]]]
    assert run(tf.stack([a, b], axis=1)) == [[[1, 2], [4]], [[3], [5, 6]]]
    assert run(tf.stack((a, [[7, 8], [9, 10]]), axis=1)) == [[[1, 2], [7, 8]], [[3], [9, 10]]]
    innermost = tf.stack([deep, deep * 10], axis=-1)
    assert run(innermost) == [[[[1, 10]], [[2, 20], [3, 30]]], [], [[[4, 40], [5, 50]]]]
    assert innermost.shape.as_list() == [3, None, None, 2]


def test_rows_joined_one_by_one_must_be_alike():
    a, b = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[4], [5, 6]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="identical ragged splits"):
        tf.stack([a, b], axis=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="identical ragged splits"):
        tf.concat([tf.expand_dims(a, -1), tf.expand_dims(b, -1)], axis=2)


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.ragged.boolean_mask([1], tf.placeholder(tf.bool)), ValueError),
        (lambda: tf.ragged.boolean_mask([1], True), ValueError),
        (lambda: tf.reduce_sum(tf.ragged.constant(ROWS), axis=1, keepdims=True), ValueError),
        (lambda: tf.gather(tf.ragged.constant(ROWS), [0], axis=1), ValueError),
        (lambda: tf.gather(tf.ragged.constant(ROWS), tf.placeholder(tf.int32)), ValueError),
    ],
)
def test_what_rows_cannot_do(build, error):
    with pytest.raises(error):
        build()


@pytest.mark.parametrize(
    ("function", "axis", "expected"),
    [
        (tf.reduce_max, 1, [2, -(2**31), 5]),
        (tf.reduce_min, 1, [1, 2**31 - 1, 3]),
        (tf.reduce_prod, 1, [2, 1, 60]),
        (tf.reduce_prod, 0, [3, 8, 5]),
        (tf.reduce_sum, [0, 1], 15),
    ],
)
def test_reductions_of_rows(function, axis, expected):
    assert run(function(tf.ragged.constant(ROWS), axis=axis)) == expected


def test_means_of_rows():
    assert run(tf.reduce_mean(tf.ragged.constant([[1.0, 2.0], [4.0]]), axis=1)) == [1.5, 4.0]
    assert run(tf.reduce_all(tf.ragged.constant([[True], [True, False]]), axis=1)) == [True, False]


def test_functions_of_flat_values():
    rows = tf.ragged.constant(ROWS)
    assert run(tf.ragged.map_flat_values(tf.multiply, rows, rows)) == [[1, 4], [], [9, 16, 25]]
    assert run(tf.ragged.map_flat_values(lambda v, by: v * by, rows, by=10)) == [[10, 20], [], [30, 40, 50]]
    other = tf.ragged.constant([[1], [2], [3]])
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        run(tf.ragged.map_flat_values(tf.add, rows, other))


def test_ranges_of_types():
    assert tf.ragged.range([2.0], dtype=tf.float64).dtype == tf.float64
    assert run(tf.ragged.range([3, 0, 2])) == [[0, 1, 2], [], [0, 1]]
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        run(tf.ragged.range([0], [3], [0]))


def test_the_rows_of_each_partition_as_a_list():
    rows = tf.ragged.constant([["a", "b"], [], ["c"]])
    parts = tf.dynamic_partition(rows, [1, 0, 1], 2)
    assert [run(part) for part in parts] == [[[]], [[b"a", b"b"], [b"c"]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="less than num_partitions"):
        run(tf.ragged.stack_dynamic_partitions(["a", "b"], [0, 5], 3))


def test_mapped_values_keep_the_rows_they_came_in():
    value = tf.ragged.constant_value([[1, 2], [3]], dtype=np.int32)
    assert run(tf.ragged.map_flat_values(tf.add, value, tf.ragged.constant([[1, 1], [1]]))) == [[2, 3], [4]]
    narrow = tf.ragged.constant([[1]], row_splits_dtype=tf.int32)
    with pytest.raises(ValueError, match="one dtype"):
        tf.ragged.map_flat_values(tf.add, narrow, tf.ragged.constant([[1]]))


def test_the_axis_of_a_join_is_a_number():
    with pytest.raises(TypeError, match="int"):
        tf.concat([tf.ragged.constant([[1]])] * 2, tf.constant(0))


def test_nothing_is_joined_of_nothing():
    for join in (tf.ragged.stack, functions.concat):
        with pytest.raises(ValueError, match="nothing to join"):
            join([], 0)
