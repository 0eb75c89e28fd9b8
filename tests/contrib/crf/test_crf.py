"""tf.contrib.crf against sums and maxima over all sequences of tags."""

import itertools

import numpy as np

import everflow as tf
from everflow.contrib import crf

SCORES = np.sin(np.arange(24.0, dtype="f")).reshape(2, 3, 4)
TRANSITIONS = np.cos(np.arange(16.0, dtype="f")).reshape(4, 4)
LENGTHS = np.array([3, 2], "i")


def _score(example, tags):
    return sum(SCORES[example, t, tag] for t, tag in enumerate(tags)) + sum(
        TRANSITIONS[a, b] for a, b in zip(tags, tags[1:])
    )


def _all(example):
    return list(itertools.product(range(4), repeat=LENGTHS[example]))


def test_log_likelihood():
    tags = np.array([[0, 1, 2], [3, 2, 0]], "i")
    with tf.Graph().as_default(), tf.Session() as session:
        scores = tf.constant(SCORES)
        found, _ = crf.crf_log_likelihood(scores, tf.constant(tags), tf.constant(LENGTHS), tf.constant(TRANSITIONS))
        grad = tf.gradients(found, scores)[0]
        values, grad = session.run([found, grad])
    wanted = [_score(e, tags[e][: LENGTHS[e]]) - np.log(sum(np.exp(_score(e, t)) for t in _all(e))) for e in range(2)]
    np.testing.assert_allclose(values, wanted, rtol=1e-4)
    assert not grad[1, 2].any()


def test_decode():
    with tf.Graph().as_default(), tf.Session() as session:
        tags, best = session.run(crf.crf_decode(tf.constant(SCORES), tf.constant(TRANSITIONS), tf.constant(LENGTHS)))
    for example in range(2):
        wanted = max(_all(example), key=lambda t: _score(example, t))
        assert tuple(tags[example][: LENGTHS[example]]) == wanted
        np.testing.assert_allclose(best[example], _score(example, wanted), rtol=1e-5)
    found, score = crf.viterbi_decode(SCORES[0], TRANSITIONS)
    assert tuple(found) == tuple(tags[0])
    np.testing.assert_allclose(score, best[0], rtol=1e-5)


def test_one_step():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, None, 4])
        tags, _ = crf.crf_decode(x, tf.constant(TRANSITIONS), tf.constant([1, 1]))
        likelihood, _ = crf.crf_log_likelihood(
            x, tf.constant([[0], [1]]), tf.constant([1, 0]), tf.constant(TRANSITIONS)
        )
        tags, likelihood = session.run([tags, likelihood], {x: SCORES[:, :1]})
    assert tags.tolist() == SCORES[:, :1].argmax(-1).tolist()
    assert likelihood[1] == 0
