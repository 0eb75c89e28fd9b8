"""The newer CTC functions: dense labels, any class as the blank, distinct and collapsed labels."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.nn.graphs import x_of

RANDOM = np.random.RandomState(2)
LOGITS = RANDOM.normal(size=(6, 3, 4)).astype(np.float32)
LABELS = np.array([[1, 2, 2], [3, 1, 0], [2, 0, 0]], np.int32)
LENGTHS, FRAMES = [3, 2, 1], [6, 5, 4]


def sparse(values):
    indices = [[row, column] for row, length in enumerate(LENGTHS) for column in range(length)]
    return tf.SparseTensor(indices, tf.constant([values[r][c] for r, c in indices], tf.int32), [3, 3])


def test_dense_labels_and_the_first_class_as_blank():
    """The same as the older op with the blank moved from the first place to the last."""
    with tf.Graph().as_default(), tf.Session() as session:
        dense = tf.nn.ctc_loss_v2(LABELS, LOGITS, LENGTHS, FRAMES)
        moved = tf.nn.ctc_loss(sparse(LABELS - 1), np.roll(LOGITS, -1, axis=2), FRAMES)
        given = tf.nn.ctc_loss_v2(sparse(LABELS), LOGITS, None, FRAMES, blank_index=0)
        batch_major = tf.nn.ctc_loss_v2(LABELS, LOGITS.transpose(1, 0, 2), LENGTHS, FRAMES, logits_time_major=False)
        found = session.run([dense, moved, given, batch_major])
    for other in found[1:]:
        np.testing.assert_allclose(found[0], other, rtol=1e-5)


def test_a_negative_blank_counts_from_the_end():
    with tf.Graph().as_default(), tf.Session() as session:
        labels = sparse(np.minimum(LABELS, 2))
        last = tf.nn.ctc_loss_v2(labels, LOGITS, None, FRAMES, blank_index=-1)
        np.testing.assert_allclose(*session.run([last, tf.nn.ctc_loss(labels, LOGITS, FRAMES)]))
        with pytest.raises(ValueError, match="blank_index"):
            tf.nn.ctc_loss_v2(labels, LOGITS, None, FRAMES)


def test_distinct_and_collapsed_labels():
    with tf.Graph().as_default(), tf.Session() as session:
        distinct, places = session.run(tf.nn.ctc_unique_labels([[5, 3, 5, 1], [2, 2, 2, 2]]))
        collapsed, lengths = session.run(tf.nn.collapse_repeated([[1, 1, 2, 2], [3, 4, 4, 9]], [4, 3]))
    assert distinct.tolist() == [[5, 3, 1, 0], [2, 0, 0, 0]]
    assert places.tolist() == [[0, 1, 0, 2], [0, 0, 0, 0]]
    assert collapsed.tolist() == [[1, 2], [3, 4]] and lengths.tolist() == [2, 2]


def test_labels_end_at_the_first_that_is_no_class():
    logits = np.sin(np.arange(24.0, dtype="f")).reshape(6, 1, 4)

    def loss(labels):
        sparse = tf.SparseTensor([[0, i] for i in range(len(labels))], labels, [1, len(labels)])
        return tf.nn.ctc_loss(sparse, logits, [6])

    with tf.Graph().as_default(), tf.Session() as session:
        plain, padded, beyond = session.run([loss([0, 1]), loss([0, 1, 3, 3]), loss([0, 1, 9])])
        assert plain == padded == beyond
        with pytest.raises(tf.errors.InvalidArgumentError, match="following a null label"):
            session.run(loss([0, 3, 1]))


def test_rows_without_labels():
    logits = np.linspace(-1.0, 2.0, 5 * 3 * 4).reshape(5, 3, 4).astype(np.float32) % 0.7
    lengths = [5, 4, 3]
    with tf.Graph().as_default(), tf.Session() as sess:
        logs = sess.run(tf.nn.log_softmax(logits))
        for blank in (-1, 0):
            loss = tf.nn.ctc_loss_v2([[1, 2], [0, 0], [2, 1]], logits, [2, 0, 1], lengths, blank_index=blank)
            assert sess.run(loss)[1] == pytest.approx(-logs[:4, 1, blank].sum(), rel=1e-5)
        # Sparse labels that are all padding: TensorFlow counts the last frame once more.
        sparse = tf.SparseTensor([[0, 0], [1, 0], [2, 0]], [1, 3, 2], [3, 1])
        expected = -logs[:3, 1, 3].sum() - np.log(1 + np.exp(logs[3, 1, 3]))
        assert sess.run(tf.nn.ctc_loss(sparse, logits, lengths))[1] == pytest.approx(expected, rel=1e-5)


# what is built, its static shape
SHAPES = [
    (lambda: tf.nn.ctc_greedy_decoder(x_of(None, 2, 3), [4, 4])[1], [2, 1]),
]


@pytest.mark.parametrize("build, expected", SHAPES)
def test_static_shapes(build, expected):
    with tf.Graph().as_default():
        assert build().shape.as_list() == expected


# what raises while a graph is built
REFUSED = [
    (lambda: tf.nn.ctc_loss(tf.constant([[0]]), x_of(5, 1, 3), [5]), TypeError),
]


@pytest.mark.parametrize("build, error", REFUSED)
def test_refused_while_building(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()
