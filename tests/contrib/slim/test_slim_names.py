"""Names that slim takes along from other places."""

import numpy as np
import pytest

import everflow as tf

slim = tf.contrib.slim


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default():
        yield


def _values(crossed):
    with tf.Session() as sess:
        return sess.run(crossed).values.tolist()


def test_features_cross_as_strings_or_as_ids():
    letters = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["x", "y", "z"], [2, 2])
    numbers = tf.constant([[1, 2], [3, 4]])
    assert _values(slim.sparse_feature_cross([letters, tf.constant([["p"], ["q"]])])) == [b"x_X_p", b"y_X_p", b"z_X_q"]
    assert _values(slim.sparse_feature_cross([letters, numbers], hashed_output=True, num_buckets=100)) == [43, 42, 29, 26, 75, 72]
    assert _values(slim.sparse_feature_cross([letters, numbers], True, 100, hash_key=12345)) == [6, 10, 58, 46, 52, 84]
    assert _values(slim.sparse_feature_cross([numbers, numbers], True))[:2] == [2148546192418819502, 2148546192418819503]
    with pytest.raises(TypeError):
        slim.sparse_feature_cross(letters)
    with pytest.raises(TypeError):
        slim.sparse_feature_cross([5])


def test_binary_svm_target():
    logits, labels = tf.constant([[1.5], [-0.5], [0.2]]), tf.constant([[1], [0], [1]])
    target = slim.binary_svm_target()
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(target.loss(logits, labels, {})), (0.5 + 0.8) / 3, rtol=1e-5)
        assert sess.run(target.logits_to_predictions(logits)).tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="probabilities"):
        target.logits_to_predictions(logits, proba=True)


def test_bucketize():
    with tf.Session() as sess:
        assert sess.run(slim.bucketize(tf.constant([1, 5, 10]), [2, 6])).tolist() == [0, 1, 2]


def test_experimental_functions_say_so():
    marked = slim.experimental(lambda x: x + 1)
    assert marked(1) == 2
    assert "experimental" in marked.__doc__
    with pytest.raises(ValueError, match="not a function"):
        slim.experimental(3)
