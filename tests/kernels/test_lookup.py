"""Tables at their edges: keys set aside, growth, files that don't fit, and tables of one name that differ."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.lookup import DenseTable, Table


def keys_of(values):
    return torch.tensor(values)


def words(*values):
    return np.array([*values, None], object)[:-1]


@pytest.fixture
def dense():
    return DenseTable(dtypes.int64, dtypes.int64, (), -1, -2, 4, 0.5)


def test_a_dense_table_grows_and_keeps_what_it_has(dense):
    for start in range(0, 40, 8):
        keys = torch.arange(start, start + 8)
        dense.insert(keys, keys * 10)
    assert len(dense) == 40 and len(dense.slots) == 128
    assert dense.find(torch.tensor([39, 0, 77]), torch.tensor(-5)).tolist() == [390, 0, -5]


def test_keys_that_hash_alike_are_told_apart(dense):
    dense.insert(torch.tensor([0, 4, 8]), torch.tensor([1, 2, 3]))
    dense.remove(torch.tensor([4]))
    dense.insert(torch.tensor([12]), torch.tensor([9]))
    assert dense.find(torch.tensor([0, 4, 8, 12]), torch.tensor(-1)).tolist() == [1, -1, 3, 9]


def test_buckets_are_exported_with_empty_and_deleted_ones(dense):
    dense.insert(torch.tensor([1, 2]), torch.tensor([10, 20]))
    dense.remove(torch.tensor([2]))
    keys, values = dense.export()
    assert sorted(keys.reshape(-1).tolist()) == [-2, -1, -1, 1]
    other = DenseTable(dtypes.int64, dtypes.int64, (), -1, -2, 4, 0.5)
    other.load(keys, values)
    assert other.entries == {1: 10}


@pytest.mark.parametrize("key", [-1, -2])
def test_keys_that_are_set_aside(dense, key):
    for use in (lambda k: dense.insert(k, k), dense.remove, lambda k: dense.find(k, torch.tensor(0))):
        with pytest.raises(InvalidArgumentError, match="as a table key is not allowed"):
            use(torch.tensor([key]))


@pytest.mark.parametrize(("empty", "deleted", "buckets"), [(-1, -1, 4), (-1, -2, 3), (-1, -2, 2)])
def test_dense_tables_that_can_not_be(empty, deleted, buckets):
    with pytest.raises(InvalidArgumentError):
        DenseTable(dtypes.int64, dtypes.int64, (), empty, deleted, buckets, 0.5)


def test_vectors_as_values():
    table = Table(dtypes.string, dtypes.float32, (2,))
    table.insert(words(b"a", b"b"), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    found = table.find(words(b"b", b"x"), torch.tensor([-1.0, -1.0]))
    assert found.tolist() == [[3, 4], [-1, -1]]
    with pytest.raises(InvalidArgumentError, match=r"Expected shape \[1,2\] for value, got \[1\]"):
        table.insert(words(b"c"), torch.tensor([1.0]))


def test_keys_may_have_any_shape():
    table = Table(dtypes.int64, dtypes.string)
    table.insert(torch.tensor([[1, 2], [3, 4]]), np.array([[b"a", b"b"], [b"c", b"d"]], object))
    assert table.find(torch.tensor([[4], [9]]), np.array(b"-", object)).tolist() == [[b"d"], [b"-"]]
    table.load(torch.tensor([7]), words(b"x"))
    assert len(table) == 1


@pytest.mark.parametrize(
    ("text", "options", "error"),
    [
        ("", {}, tf.errors.OutOfRangeError),
        ("a\nb\n", {"vocab_size": 5}, tf.errors.InvalidArgumentError),
        ("a\na\n", {}, tf.errors.FailedPreconditionError),
    ],
)
def test_files_that_do_not_fit(sess, tmp_path, text, options, error):
    path = tmp_path / "words"
    path.write_text(text)
    table = tf.contrib.lookup.HashTable(tf.contrib.lookup.TextFileIdTableInitializer(str(path), **options), -1)
    with pytest.raises(error):
        sess.run(table.initializer)


@pytest.mark.parametrize(("value", "column"), [("x", 1), ("5", 2)])
def test_columns_that_are_not_there_or_no_numbers(sess, tmp_path, value, column):
    path = tmp_path / "words"
    path.write_text(f"a\t{value}\n")
    initializer = tf.contrib.lookup.TextFileInitializer(str(path), tf.string, 0, tf.int64, column)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.contrib.lookup.HashTable(initializer, -1).initializer)


def test_tables_of_one_name_have_one_type(sess):
    first = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name="t")
    second = tf.raw_ops.HashTableV2(key_dtype=tf.int64, value_dtype=tf.int64, shared_name="t")
    sess.run(tf.raw_ops.LookupTableSizeV2(table_handle=first))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Conflicting key/value dtypes"):
        sess.run(tf.raw_ops.LookupTableSizeV2(table_handle=second))


def test_keys_and_values_of_other_shapes():
    with tf.Graph().as_default(), tf.Session() as sess:
        table = tf.contrib.lookup.MutableDenseHashTable(tf.int64, tf.int64, -1, empty_key=[0, 0], deleted_key=[-2, -2])
        matrices = tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, [[1.0]])
        for wrong in (table.lookup(tf.constant([1], tf.int64)), matrices.size()):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(wrong)
