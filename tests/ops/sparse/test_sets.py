"""Sets held as the last dimension of tensors."""

import numpy as np
import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(*fetches, feed=None):
    with tf.Session() as session:
        values = session.run(list(fetches), feed)
    return values[0] if len(values) == 1 else values


def sparse(dense):
    """A SparseTensor of the non-zero elements of an array."""
    dense = np.asarray(dense)
    indices = np.argwhere(dense)
    return tf.SparseTensor(indices, dense[tuple(indices.T)], dense.shape)


def dense(value):
    out = np.zeros(value.dense_shape, value.values.dtype)
    for index, item in zip(value.indices, value.values):
        out[tuple(index)] += item
    return out


LEFT, RIGHT = np.array([[1, 2, 2], [3, 4, 9]]), np.array([[2, 5], [9, 3]])


SETS = {
    tf.sets.set_union: [[1, 2, 5], [3, 4, 9]],
    tf.sets.set_intersection: [[2], [3, 9]],
    tf.sets.set_difference: [[1], [4]],
}


def _rows(value):
    return [
        [v for index, v in zip(value.indices, value.values.tolist()) if index[0] == row]
        for row in range(value.dense_shape[0])
    ]


@pytest.mark.parametrize("operation", SETS)
@pytest.mark.parametrize("kinds", ["dense dense", "dense sparse", "sparse dense", "sparse sparse"])
def test_sets_of_rows(operation, kinds):
    def as_kind(array, kind):
        return sparse(array) if kind == "sparse" else tf.constant(array)

    left, right = kinds.split()
    assert _rows(run(operation(as_kind(LEFT, left), as_kind(RIGHT, right)))) == SETS[operation]


def test_sizes_and_words_of_sets():
    assert run(tf.sets.set_size(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], np.array([1, 1, 2]), [3, 2]))).tolist() == [
        1,
        0,
        1,
    ]
    assert _rows(run(tf.sets.set_difference([["a", "b"]], [["b"]], aminusb=False))) == [[]]
    assert _rows(run(tf.sets.union([["b", "a"]], [["c", "a"]]))) == [[b"a", b"b", b"c"]]
    with pytest.raises(TypeError):
        tf.sets.set_union([[1.0]], [[2.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of order"):
        run(tf.sets.set_size(tf.SparseTensor([[1, 0], [0, 0]], np.array([1, 2]), [2, 2])))


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.sets.size([[1, 2]]), TypeError),
        (lambda: tf.sets.size(tf.SparseTensor([[0, 0]], [1.0], [1, 1])), TypeError),
        (lambda: tf.sets.union([[1.0]], [[2.0]]), TypeError),
        (lambda: tf.sets.union([[1]], [["a"]]), TypeError),
        (lambda: tf.sets.union([1], [2]), ValueError),
        (lambda: tf.sets.union([[1]], [[[2]]]), ValueError),
        (lambda: tf.sets.union([[1], [2]], [[1]]), ValueError),
    ],
)
def test_what_is_no_set(build, error):
    with pytest.raises(error):
        build()


def test_empty_sets():
    found = run(tf.sets.intersection([[1, 2], [3, 3]], [[5, 6], [3, 4]]))
    assert found.indices.tolist() == [[1, 0]] and found.values.tolist() == [3] and found.dense_shape.tolist() == [2, 1]
    assert run(tf.sets.size(tf.SparseTensor(np.zeros([0, 2], np.int64), np.zeros([0], np.int32), [2, 2]))).tolist() == [
        0,
        0,
    ]
