"""Sets in rows: repeated members, rows without any, batches of batches, and rows that don't fit."""

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed


def rows(found):
    """The members of each row of a sparse result."""
    out = {}
    for index, value in zip(found.indices.tolist(), found.values.tolist()):
        out.setdefault(tuple(index[:-1]), []).append(value)
    return out


DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "int64", "string"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("operation", "wanted"),
    [
        (tf.sets.set_union, {(0,): [1, 2, 3], (1,): [5, 6]}),
        (tf.sets.set_intersection, {(0,): [2], (1,): [5]}),
        (tf.sets.set_difference, {(0,): [1]}),
        (lambda a, b: tf.sets.set_difference(a, b, aminusb=False), {(0,): [3], (1,): [6]}),
    ],
)
def test_members_are_sorted_and_come_once(sess, dtype, operation, wanted):
    a, b = np.array([[2, 1, 2], [5, 5, 5]]), np.array([[3, 2], [6, 5]])
    if dtype == "string":
        a, b = a.astype(str), b.astype(str)
        wanted = {row: [b"%d" % v for v in values] for row, values in wanted.items()}
    else:
        a, b = a.astype(dtype), b.astype(dtype)
    assert rows(sess.run(operation(fed(a), fed(b)))) == wanted


def test_sparse_rows_may_be_empty(sess):
    a = tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [1, 2, 3], [3, 2])
    b = tf.SparseTensor([[1, 0], [2, 0]], [9, 3], [3, 1])
    union, size = sess.run([tf.sets.set_union(a, b), tf.sets.set_size(a)])
    assert rows(union) == {(0,): [1], (1,): [9], (2,): [2, 3]} and union.dense_shape.tolist() == [3, 2]
    assert size.tolist() == [1, 0, 2]


def test_batches_of_batches(sess):
    a = np.array([[[1, 2], [3, 3]], [[5, 6], [7, 8]]])
    b = np.array([[[2], [3]], [[9], [8]]])
    found = sess.run(tf.sets.set_intersection(fed(a), fed(b)))
    assert rows(found) == {(0, 0): [2], (0, 1): [3], (1, 1): [8]} and found.dense_shape.tolist() == [2, 2, 1]


@pytest.mark.parametrize(("a", "b"), [([[1], [2]], [[1]]), ([1], [1])])
def test_rows_that_do_not_fit(sess, a, b):
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.raw_ops.DenseToDenseSetOperation(set1=fed(a), set2=fed(b), set_operation="union").result_values)


@pytest.mark.parametrize("validate", [True, False])
@pytest.mark.parametrize("indices", [[[1, 0], [0, 0]], [[0, 0], [0, 0]], [[0, 0], [5, 0]], [[0, 0], [0, 7]]])
def test_places_are_checked_whatever_is_said(sess, indices, validate):
    rows = tf.SparseTensor(indices, [1, 2], [2, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\]"):
        sess.run(tf.sets.set_size(rows, validate_indices=validate))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\]"):
        sess.run(tf.sets.set_union(rows, rows, validate_indices=validate))


def test_operations_that_there_are_not(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match="both"):
        sess.run(tf.raw_ops.DenseToDenseSetOperation(set1=[[1]], set2=[[2]], set_operation="both").result_values)
