"""Lines of LibSVM's files."""

import pytest

import everflow as tf
import tests.served  # noqa: F401


def _evaluate(*tensors):
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return session.run(tensors)


def test_lines_of_libsvm():
    from tensorflow.contrib import libsvm

    features, labels = libsvm.decode_libsvm([["1 1:3.5", "2 2:1 0:4"], ["3", "4 4:1"]], num_features=5)
    (indices, values, shape), labels = _evaluate(features, labels)
    assert labels.tolist() == [[1, 2], [3, 4]] and shape.tolist() == [2, 2, 5]
    assert indices.tolist() == [[0, 0, 1], [0, 1, 2], [0, 1, 0], [1, 1, 4]] and values.tolist() == [3.5, 1, 4, 1]


@pytest.mark.parametrize("line", ["x 1:2", "1 1:", "1 a:3", "1 2", ""])
def test_what_is_no_line_of_libsvm(line):
    from tensorflow.contrib import libsvm

    with pytest.raises(tf.errors.InvalidArgumentError):
        _evaluate(*libsvm.decode_libsvm([line], num_features=5))
