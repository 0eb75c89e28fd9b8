"""Ragged tensors: made in every way, indexed, joined, reduced, turned into others, fed and fetched."""

import numpy as np
import pytest

import everflow as tf

R = tf.RaggedTensor
ROWS = [[1, 2], [], [3, 4, 5]]
DEEP = [[[1], [2, 3]], [], [[4, 5]]]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetch, feed=None):
    with tf.Session() as session:
        value = session.run(fetch, feed)
    return value.to_list() if isinstance(value, tf.ragged.RaggedTensorValue) else np.asarray(value).tolist()


# expression → (value, static shape)
TABLE = {
    "rows": (ROWS, "(3, ?)"),
    "deep": (DEEP, "(3, ?, ?)"),
    "tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)": ([[[1, 2]], [[3, 4], [5, 6]]], "(2, ?, 2)"),
    "tf.ragged.constant([[], []])": ([[], []], "(2, ?)"),
    "R.from_row_splits([1, 2, 3], [0, 2, 3])": ([[1, 2], [3]], "(2, ?)"),
    "R.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4)": ([[1, 2], [], [3], []], "(4, ?)"),
    "R.from_value_rowids([1, 2, 3], [0, 0, 2])": ([[1, 2], [], [3]], "(3, ?)"),
    "R.from_row_lengths([1, 2, 3], [2, 0, 1])": ([[1, 2], [], [3]], "(3, ?)"),
    "R.from_row_starts([1, 2, 3], [0, 2, 2])": ([[1, 2], [], [3]], "(3, ?)"),
    "R.from_row_limits([1, 2, 3], [2, 2, 3])": ([[1, 2], [], [3]], "(3, ?)"),
    "R.from_nested_row_lengths([1, 2, 3], [[2, 0], [1, 2]])": ([[[1], [2, 3]], []], "(2, ?, ?)"),
    "R.from_tensor([[1, 2], [3, 4]], lengths=[1, 2])": ([[1], [3, 4]], "(2, ?)"),
    "R.from_tensor([[1, 0], [0, 0], [0, 4]], padding=0)": ([[1], [], [0, 4]], "(3, ?)"),
    "R.from_tensor([[[1, 2], [3, 4]]], ragged_rank=2)": ([[[1, 2], [3, 4]]], "(1, ?, ?)"),
    "R.from_sparse(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [4, 3]))": ([[1, 2], [], [3], []], "(4, ?)"),
    "rows.to_tensor(-1)": ([[1, 2, -1], [-1, -1, -1], [3, 4, 5]], "(3, ?)"),
    "deep.to_tensor()": ([[[1, 0], [2, 3]], [[0, 0], [0, 0]], [[4, 5], [0, 0]]], "(3, ?, ?)"),
    "tf.sparse_tensor_to_dense(rows.to_sparse())": ([[1, 2, 0], [0, 0, 0], [3, 4, 5]], "(?, ?)"),
    "rows.row_lengths()": ([2, 0, 3], "(3,)"),
    "deep.row_lengths(axis=2)": ([[1, 2], [], [2]], "(3, ?)"),
    "rows.value_rowids()": ([0, 0, 2, 2, 2], "(?,)"),
    "deep.bounding_shape()": ([3, 2, 2], "(3,)"),
    "deep.with_flat_values(tf.constant([5, 4, 3, 2, 1]))": ([[[5], [4, 3]], [], [[2, 1]]], "(3, ?, ?)"),
    "tf.ragged.range([0, 9], [4, 1], [2, -3])": ([[0, 2], [9, 6, 3]], "(2, ?)"),
    "tf.ragged.stack([rows, rows])": ([ROWS, ROWS], "(2, ?, ?)"),
    "tf.ragged.boolean_mask(rows, tf.ragged.constant([[True, False], [], [True, True, False]]))": (
        [[1], [], [3, 4]],
        "(3, ?)",
    ),
    "tf.ragged.boolean_mask(rows, [True, False, True])": ([[1, 2], [3, 4, 5]], "(?, ?)"),
    "tf.ragged.segment_ids_to_row_splits([0, 0, 2], 5)": ([0, 2, 2, 3, 3, 3], "(6,)"),
    "tf.ragged.stack_dynamic_partitions([1, 2, 3], [0, 2, 0], 3)": ([[1, 3], [], [2]], "(3, ?)"),
    "rows[-1]": ([3, 4, 5], "(3,)"),
    "rows[0, 1]": (2, "()"),
    "rows[1:]": ([[], [3, 4, 5]], "(2, ?)"),
    "rows[:, -1:]": ([[2], [], [5]], "(3, ?)"),
    "rows[:, :2]": ([[1, 2], [], [3, 4]], "(3, ?)"),
    "rows[tf.newaxis]": ([ROWS], "(1, ?, ?)"),
    "deep[0]": ([[1], [2, 3]], "(2, ?)"),
    "deep[:, :, :1]": ([[[1], [2]], [], [[4]]], "(3, ?, ?)"),
    "rows + rows": ([[2, 4], [], [6, 8, 10]], "(3, ?)"),
    "1 - rows": ([[0, -1], [], [-2, -3, -4]], "(3, ?)"),
    "rows * tf.constant([[1], [2], [3]])": ([[1, 2], [], [9, 12, 15]], "(3, ?)"),
    "rows < 3": ([[True, True], [], [False] * 3], "(3, ?)"),
    "tf.square(rows)": ([[1, 4], [], [9, 16, 25]], "(3, ?)"),
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


def test_fed_and_fetched_with_others():
    p = tf.ragged.placeholder(tf.int32, 1)
    value = tf.ragged.constant_value([[1], [2, 3]], dtype=np.int32)
    with tf.Session() as session:
        both = session.run({"next": p + 1, "rows": [p]}, {p: value})
    assert both["next"].to_list() == [[2], [3, 4]] and both["rows"][0].to_list() == [[1], [2, 3]]


def test_values_as_arrays():
    value = tf.ragged.constant_value(DEEP)
    assert value.shape == (3, None, None) and value.ragged_rank == 2 and value.to_list() == DEEP
    assert [s.tolist() for s in value.nested_row_splits] == [
        [0, 2, 2, 3],
        [0, 1, 3, 5],
    ] and value.flat_values.tolist() == [1, 2, 3, 4, 5]
    assert str(tf.ragged.constant_value(ROWS)) == "<tf.RaggedTensorValue [[1, 2], [], [3, 4, 5]]>"


@pytest.mark.parametrize(
    "build",
    [
        lambda: R.from_row_splits([1, 2, 3], [0, 2]),
        lambda: R.from_row_splits([1, 2, 3], [1, 3]),
        lambda: R.from_row_lengths([1, 2, 3], [5, 1]),
        lambda: R.from_value_rowids([1, 2], [1, 0]),
        lambda: tf.ragged.constant(ROWS) + tf.ragged.constant([[1], [2, 3], [4, 5]]),
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


def test_specs_describe_ragged_tensors():
    spec = tf.RaggedTensorSpec.from_value(tf.ragged.constant(DEEP))
    assert spec == tf.RaggedTensorSpec([3, None, None], tf.int32, 2, tf.int64)
    assert spec.is_compatible_with(tf.RaggedTensorSpec([None, None, None], tf.int32, 2))
    assert not spec.is_compatible_with(tf.RaggedTensorSpec([3, None, None], tf.float32, 2))


_ROWS = [[3, 1, 4], [], [1, 5]]
_ROW_FUNCTIONS = {
    "greater": (lambda rt: tf.greater(rt, 2), [[True, False, True], [], [False, True]]),
    "the other way round": (lambda rt: tf.subtract(10, rt), [[7, 9, 6], [], [9, 5]]),
    "two ragged": (lambda rt: tf.maximum(rt, rt * 2 - 3), [[3, 1, 5], [], [1, 7]]),
    "a column": (lambda rt: tf.add(rt, [[100], [200], [300]]), [[103, 101, 104], [], [301, 305]]),
    "truediv": (lambda rt: tf.truediv(rt, 2), [[1.5, 0.5, 2.0], [], [0.5, 2.5]]),
    "bits": (lambda rt: tf.bitwise.bitwise_and(rt, 1), [[1, 1, 0], [], [1, 1]]),
    "text": (lambda rt: tf.strings.length(tf.as_string(rt * 9)), [[2, 1, 2], [], [1, 2]]),
    "clip": (lambda rt: tf.clip_by_value(rt, 2, 4), [[3, 2, 4], [], [2, 4]]),
    "one hot": (lambda rt: tf.one_hot(rt[2:] - 1, 2, dtype=tf.int32), [[[1, 0], [0, 0]]]),
    "zeros": (tf.zeros_like, [[0, 0, 0], [], [0, 0]]),
    "any": (lambda rt: tf.reduce_any(tf.equal(rt, 5), axis=1), [False, False, True]),
    "indices": (lambda rt: tf.where(tf.greater(rt, 2)), [[0, 0], [0, 2], [2, 1]]),
    "choice": (lambda rt: tf.where(rt > 2, rt, -rt), [[3, -1, 4], [], [-1, 5]]),
    "rows": (lambda rt: tf.where(tf.constant([True, False, True]), rt, tf.ragged.constant([[0], [7, 7], [0]])), [[3, 1, 4], [7, 7], [1, 5]]),
    "elements": (lambda rt: tf.gather_nd(rt, [[0, 1], [2, 0]]), [1, 1]),
    "rows by index": (lambda rt: tf.gather_nd(rt, [[2], [0]]), [[1, 5], [3, 1, 4]]),
    "each row's own": (lambda rt: tf.batch_gather(rt, tf.ragged.constant([[2, 0], [], [1]])), [[4, 3], [], [5]]),
    "tiled": (lambda rt: tf.tile(rt, [2, 2])[:3], [[3, 1, 4, 3, 1, 4], [], [1, 5, 1, 5]]),
    "squeezed": (lambda rt: tf.squeeze(tf.expand_dims(rt, 1), [1]), _ROWS),
    "rank": (tf.rank, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", _ROW_FUNCTIONS)
def test_functions_of_tensors_on_rows(name):
    function, expected = _ROW_FUNCTIONS[name]
    with tf.Session() as sess:
        found = sess.run(function(tf.ragged.constant(_ROWS)))
    assert (found.to_list() if hasattr(found, "to_list") else np.asarray(found).tolist()) == expected


def test_deeper_rows_by_index_and_tiled():
    deep = tf.ragged.constant([[[1, 2], [3]], [], [[4]]])
    with tf.Session() as sess:
        assert sess.run(tf.gather_nd(deep, [[0, 0, 1], [2, 0, 0]])).tolist() == [2, 4]
        assert sess.run(tf.where(tf.equal(deep, 4))).tolist() == [[2, 0, 0]]
        assert sess.run(tf.tile(deep, [1, 2, 1])).to_list() == [[[1, 2], [3], [1, 2], [3]], [], [[4], [4]]]
        assert sess.run(tf.tile(deep, [1, 1, 2])).to_list() == [[[1, 2, 1, 2], [3, 3]], [], [[4, 4]]]


def test_a_dimension_that_is_not_one_is_not_dropped():
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.squeeze(tf.ragged.constant(_ROWS), [1]))


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
