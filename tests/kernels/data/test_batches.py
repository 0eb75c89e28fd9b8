"""Batches: strings, structures and sizes that differ; what is left over; padding that doesn't fit; unbatching."""

import numpy as np
import pytest

import everflow as tf
from tests.data.draining import drain

D = tf.data.Dataset

pytestmark = pytest.mark.usefixtures("own_graph")


def rows(*lengths):
    """A dataset of vectors of these lengths."""
    return D.from_tensor_slices(np.array(lengths, np.int64)).map(lambda n: tf.range(n))


@pytest.mark.parametrize(("drop", "sizes"), [(False, [3, 3, 1]), (True, [3, 3])])
def test_what_is_left_over(drop, sizes):
    dataset = D.from_tensor_slices((np.arange(7), list("abcdefg"))).batch(3, drop_remainder=drop)
    got = drain(dataset)
    assert [len(numbers) for numbers, _ in got] == sizes
    assert got[1][1].tolist() == [b"d", b"e", b"f"]


def test_elements_of_a_batch_have_one_shape():
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?i)shape"):
        drain(rows(2, 3).batch(2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?i)shape"):
        drain(rows(2, 3).map(tf.as_string).batch(2))


@pytest.mark.parametrize("size", [0, -1])
def test_sizes_are_positive(size):
    with pytest.raises(tf.errors.InvalidArgumentError, match="greater than zero"):
        drain(D.range(3).batch(tf.constant(size, tf.int64)))


def test_padding_of_strings_and_scalars():
    words = D.from_tensor_slices(["a", "b c", "d e f"]).map(lambda s: (tf.string_split([s]).values, s))
    (both,) = drain(words.padded_batch(3, ([None], []), padding_values=("-", "")))
    assert both[0].tolist() == [[b"a", b"-", b"-"], [b"b", b"c", b"-"], [b"d", b"e", b"f"]]
    assert both[1].tolist() == [b"a", b"b c", b"d e f"]


def test_padding_to_a_given_size():
    first, second = drain(rows(1, 2, 0).padded_batch(2, [4]))
    assert first.tolist() == [[0, 0, 0, 0], [0, 1, 0, 0]] and second.tolist() == [[0, 0, 0, 0]]
    with pytest.raises(tf.errors.DataLossError, match="pad to a smaller size"):
        drain(rows(5).padded_batch(1, [4]))


def test_unbatching_rows_of_several_components():
    numbers = D.from_tensor_slices(([[1, 2], [3, 4]], [["a", "b"], ["c", "d"]]))
    got = drain(numbers.apply(tf.data.experimental.unbatch()))
    assert [(int(n), w) for n, w in got] == [(1, b"a"), (2, b"b"), (3, b"c"), (4, b"d")]


def test_unbatching_what_is_empty():
    assert [int(v) for v in drain(rows(0, 2, 0, 1).apply(tf.data.experimental.unbatch()))] == [0, 1, 0]


def test_sparse_batches_of_rows_that_are_too_long():
    short = drain(rows(1, 3).apply(tf.data.experimental.dense_to_sparse_batch(2, [3])))[0]
    assert short.dense_shape.tolist() == [2, 3] and short.indices.tolist() == [[0, 0], [1, 0], [1, 1], [1, 2]]
    with pytest.raises(tf.errors.DataLossError):
        drain(rows(1, 4).apply(tf.data.experimental.dense_to_sparse_batch(2, [3])))
