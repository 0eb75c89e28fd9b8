"""Ragged tensors from dense and sparse ones, and back."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.ragged.rows import DEEP, ROWS, R, run

pytestmark = pytest.mark.usefixtures("own_graph")


# expression → (value, static shape)
TABLE = {
    "R.from_tensor([[1, 2], [3, 4]], lengths=[1, 2])": ([[1], [3, 4]], "(2, ?)"),
    "R.from_tensor([[1, 0], [0, 0], [0, 4]], padding=0)": ([[1], [], [0, 4]], "(3, ?)"),
    "R.from_tensor([[[1, 2], [3, 4]]], ragged_rank=2)": ([[[1, 2], [3, 4]]], "(1, ?, ?)"),
    "R.from_sparse(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [4, 3]))": ([[1, 2], [], [3], []], "(4, ?)"),
    "rows.to_tensor(-1)": ([[1, 2, -1], [-1, -1, -1], [3, 4, 5]], "(3, ?)"),
    "deep.to_tensor()": ([[[1, 0], [2, 3]], [[0, 0], [0, 0]], [[4, 5], [0, 0]]], "(3, ?, ?)"),
    "tf.sparse_tensor_to_dense(rows.to_sparse())": ([[1, 2, 0], [0, 0, 0], [3, 4, 5]], "(?, ?)"),
}


@pytest.mark.parametrize("expression", TABLE)
def test_values_and_static_shapes(expression):
    names = {"tf": tf, "R": R, "rows": tf.ragged.constant(ROWS), "deep": tf.ragged.constant(DEEP)}
    value, shape = TABLE[expression]
    found = eval(expression, names)
    assert run(found) == value
    assert found.shape.is_compatible_with(eval(shape.replace("?", "None").replace("<unknown>", "None")))


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: R.from_tensor([[1]], lengths=[1], padding=0), ValueError),
        (lambda: R.from_tensor([[1]], ragged_rank=0), ValueError),
        (lambda: R.from_tensor([[1]], ragged_rank=1.5), TypeError),
        (lambda: R.from_sparse([[1]]), TypeError),
        (lambda: R.from_sparse(tf.SparseTensor([[0]], [1], [2])), ValueError),
    ],
)
def test_what_cannot_be_converted(build, error):
    with pytest.raises(error):
        build()


def test_types_of_splits_and_empty_ones():
    assert R.from_tensor([[1, 2]], row_splits_dtype=tf.int32).row_splits.dtype == tf.int32
    assert run(R.from_tensor(np.zeros([0, 3], np.int32))) == []
    assert run(R.from_tensor(np.zeros([2, 0], np.int32))) == [[], []]
    assert run(tf.ragged.constant([[], []], dtype=tf.int32).to_tensor()) == [[], []]


def test_unknown_sizes():
    x = tf.placeholder(tf.int32, [None, None])
    rows = R.from_tensor(x, padding=0)
    assert run(rows, {x: [[1, 0], [0, 2]]}) == [[1], [0, 2]]
    assert run(rows.to_tensor(9), {x: [[1, 0], [0, 2]]}) == [[1, 9], [0, 2]]


def test_gradients_of_dense_forms():
    values = tf.constant([1.0, 2.0, 3.0])
    rows = R.from_row_lengths(values, [2, 0, 1])
    dense = rows.to_tensor() * [[1.0, 10.0], [5.0, 5.0], [100.0, 7.0]]
    assert run(tf.convert_to_tensor(tf.gradients(dense, values)[0])) == [1.0, 10.0, 100.0]
    sparse = rows.to_sparse().values * [2.0, 3.0, 4.0]
    assert run(tf.gradients(sparse, values)[0]) == [2.0, 3.0, 4.0]


def test_dense_tensors_of_a_given_shape():
    from everflow.legacy.inner.ragged import ragged_to_dense

    rows = tf.ragged.constant([[1, 2], [], [3]])
    wide = ragged_to_dense(rows, 9, shape=[4, None])
    assert wide.shape.as_list() == [4, None]
    assert run(wide) == [[1, 2], [9, 9], [3, 9], [9, 9]]
    assert run(ragged_to_dense(rows, shape=[2, 1])) == [[1], [0]]


def test_a_sparse_matrix_of_unknown_rank_has_no_rows():
    unknown = tf.SparseTensor(tf.placeholder(tf.int64), tf.placeholder(tf.int32), tf.placeholder(tf.int64))
    with pytest.raises(ValueError):
        tf.RaggedTensor.from_sparse(unknown)
    assert run(tf.RaggedTensor.from_sparse(tf.SparseTensorValue([[0, 0]], [1], [2, 2]))) == [[1], []]


def test_dense_shapes_are_known_where_rows_are():
    assert tf.ragged.constant([[1, 2, 3], [], [4]]).to_tensor().shape.as_list() == [3, 3]
    assert tf.ragged.constant([[[1]], []]).to_tensor().shape.as_list() == [2, 1, 1]
    with pytest.raises(ValueError):
        tf.ragged.constant([[1.0]]).to_tensor([[1.0]])


def test_pieces_of_strings_have_a_row_for_each():
    for ragged in (tf.strings.bytes_split(["ab", "c"]), tf.strings.split(["a b", "c"], result_type="RaggedTensor")):
        assert ragged.shape.as_list() == [2, None]


@pytest.mark.parametrize(
    "op, given",
    [
        ("RaggedTensorToSparse", {"rt_nested_splits": [[0, 1]], "rt_dense_values": 5}),
        ("RaggedTensorToSparse", {"rt_nested_splits": [[[0, 1]]], "rt_dense_values": [5]}),
        (
            "RaggedTensorToTensor",
            {
                "shape": [1],
                "values": [5],
                "default_value": 0,
                "row_partition_tensors": [[0, 1]],
                "row_partition_types": ["ROWS"],
            },
        ),
    ],
)
def test_what_says_nothing_of_rows_is_refused_where_it_is_drawn(op, given):
    with pytest.raises(ValueError):
        getattr(tf.raw_ops, op)(**given)
