"""The confusion matrix, and ranks that are brought together for it."""

import numpy as np
import pytest

import everflow as tf


def test_confusion_matrix(sess):
    matrix = tf.confusion_matrix([1, 2, 1], [0, 2, 1], num_classes=3, weights=[1, 2, 3])
    np.testing.assert_array_equal(sess.run(matrix), [[0, 0, 0], [1, 3, 0], [0, 0, 2]])


@pytest.mark.parametrize(
    ("labels", "predictions", "options", "expected"),
    [
        ([0, 1], [1, 1], {}, [[0, 1], [0, 1]]),
        ([[0], [1]], [1, 1], {}, [[0, 1], [0, 1]]),
        ([0, 1], [[1], [1]], {"dtype": tf.float64}, [[0, 1], [0, 1]]),
        ([1.0], [0.0], {"num_classes": 3}, [[0, 0, 0], [1, 0, 0], [0, 0, 0]]),
        ([0, 0], [0, 0], {"weights": [0.5, 0.25], "dtype": tf.float32}, [[0.75]]),
    ],
)
def test_forms_of_labels_and_predictions(sess, labels, predictions, options, expected):
    matrix = tf.confusion_matrix(labels, predictions, **options)
    assert matrix.dtype == options.get("dtype", tf.int32)
    np.testing.assert_array_equal(sess.run(matrix), expected)


def test_ranks_that_only_the_run_tells(sess):
    labels, predictions = tf.placeholder(tf.int32), tf.placeholder(tf.int32)
    matrix = tf.confusion_matrix(labels, predictions, 2)
    for given in ([0, 1], [[0], [1]]):
        np.testing.assert_array_equal(sess.run(matrix, {labels: given, predictions: [1, 1]}), [[0, 1], [0, 1]])


@pytest.mark.parametrize(
    ("labels", "predictions"),
    [([-1, 0], [0, 0]), ([0, 0], [0, -1]), ([2, 0], [0, 0]), ([0, 0], [0, 2])],
)
def test_classes_that_there_are_not(sess, labels, predictions):
    fed = tf.placeholder(tf.int32, [2]), tf.placeholder(tf.int32, [2])
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.confusion_matrix(*fed, num_classes=2), dict(zip(fed, (labels, predictions))))


def test_weights_have_the_shape_of_predictions(sess):
    with pytest.raises(ValueError):
        tf.confusion_matrix([0, 1], [0, 1], weights=[1.0, 2.0, 3.0])
