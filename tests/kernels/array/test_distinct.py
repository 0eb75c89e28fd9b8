"""Distinct values, differences of lists and edit distances."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels import registry

RANDOM = np.random.RandomState(0)


@pytest.mark.parametrize(
    "keys",
    [
        RANDOM.randint(-50, 50, 1000),
        RANDOM.randint(0, 2**62, 100),
        np.array([2**63 - 1, -(2**63), 2**63 - 1]),
        RANDOM.randint(-128, 128, 500).astype(np.int8),
        RANDOM.randint(0, 256, 500).astype(np.uint8),
        np.zeros(0, np.int32),
    ],
)
def test_distinct_values_come_as_they_are_first_seen(sess, keys):
    values, indices, counts = sess.run(tf.unique_with_counts(tf.constant(keys)))
    seen: dict = {}
    assert indices.tolist() == [seen.setdefault(int(key), len(seen)) for key in keys]
    assert values.tolist() == list(seen)
    assert counts.tolist() == [int((keys == key).sum()) for key in seen]


def test_strings_and_numbers_that_equal_nothing(sess):
    words, places = sess.run(tf.unique(tf.constant(["b", "a", "b", ""])))
    assert words.tolist() == [b"b", b"a", b""] and places.tolist() == [0, 1, 0, 2]
    values, places = sess.run(tf.unique(tf.constant([np.nan, 0.0, -0.0, np.nan]), out_idx=tf.int64))
    np.testing.assert_array_equal(values, [np.nan, 0.0, np.nan])
    assert places.dtype == np.int64 and places.tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, object])
def test_distinct_rows_along_an_axis(sess, axis, dtype):
    x = np.array([[1, 0, 1], [1, 0, 1], [2, 0, 2]])
    if dtype is object:
        x = np.array([[b"%d" % v for v in row] for row in x], object)
    found = sess.run(tf.raw_ops.UniqueWithCountsV2(x=x.astype(dtype), axis=[axis]))
    kept, places, counts = ([0, 2], [0, 0, 1], [2, 1]) if axis == 0 else ([0, 1], [0, 1, 0], [2, 1])
    np.testing.assert_array_equal(found.y, np.take(x, kept, axis))
    assert found.idx.tolist() == places and found.count.tolist() == counts


def test_only_vectors_have_distinct_values(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match="unique expects a 1D vector"):
        sess.run(tf.unique(tf.placeholder_with_default([[1]], None)))


@pytest.mark.parametrize("dtype", ["int32", "float64", "string", "uint8"])
def test_differences_keep_order_and_repetitions(sess, dtype):
    x, y = [5, 1, 5, 2, 3], [2, 1, 7]
    if dtype == "string":
        x, y = ([str(v) for v in values] for values in (x, y))
    rest, places = sess.run(tf.setdiff1d(tf.constant(x, dtype), tf.constant(y, dtype)))
    assert rest.tolist() == ([b"5", b"5", b"3"] if dtype == "string" else [5, 5, 3]) and places.tolist() == [0, 2, 4]


def sparse(rows):
    """A sparse tensor of strings, a letter each."""
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    letters = [letter for row in rows for letter in row]
    return tf.SparseTensor(
        tf.constant(np.array(indices, np.int64).reshape(-1, 2)),
        tf.constant(letters, tf.string),
        tf.constant([len(rows), max(map(len, rows))], tf.int64),
    )


@pytest.mark.parametrize("normalize", [False, True])
def test_edit_distances(sess, normalize):
    pairs = [("kitten", "sitting", 3), ("", "ab", 2), ("ab", "", 2), ("", "", 0), ("same", "same", 0), ("ab", "ba", 2)]
    found = sess.run(tf.edit_distance(sparse([a for a, _, _ in pairs]), sparse([b for _, b, _ in pairs]), normalize))
    wanted = [d if not normalize else (d / len(b) if b else (np.inf if a else 0.0)) for a, b, d in pairs]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
@pytest.mark.parametrize("out_idx", [tf.int32, tf.int64])
@pytest.mark.parametrize("numbers", [[], [7], [3, -1, 3, 2**31 - 1, -1, 3, -(2**31)], [i * i % 97 for i in range(500)]])
def test_unique_with_compiled_loops(both_ways, dtype, out_idx, numbers):
    x = torch.tensor(numbers, dtype=dtype)
    values, places = both_ways(lambda: registry.function_of("Unique")(x, out_idx=out_idx))
    assert values.tolist() == list(dict.fromkeys(numbers)) and values.dtype is dtype
    assert values[places.long()].tolist() == numbers
