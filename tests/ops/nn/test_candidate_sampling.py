"""Samplers of classes, and losses over a few of many."""

import numpy as np
import pytest

import everflow as tf

TRUE = np.array([[1], [4]])
SAMPLERS = {
    "uniform": lambda **o: tf.random.uniform_candidate_sampler(TRUE, 1, range_max=6, **o),
    "log uniform": lambda **o: tf.random.log_uniform_candidate_sampler(TRUE, 1, range_max=6, **o),
    "learned": lambda **o: tf.random.learned_unigram_candidate_sampler(TRUE, 1, range_max=6, **o),
    "fixed": lambda **o: tf.random.fixed_unigram_candidate_sampler(TRUE, 1, range_max=6, unigrams=[1.0] * 6, **o),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_samples_lie_in_their_range(sess, name):
    made = SAMPLERS[name](num_sampled=5, unique=True, seed=3)
    assert [t.shape.as_list() for t in made] == [[5], [2, 1], [5]]
    sampled, true_expected, expected = sess.run(made)
    assert len(set(sampled)) == 5 and set(sampled) <= set(range(6))
    assert (true_expected > 0).all() and (expected > 0).all() and (expected <= 1 + 1e-6).all()


def test_all_classes(sess):
    sampled, true_expected, expected = sess.run(tf.nn.all_candidate_sampler(TRUE, 1, 6, True))
    assert sampled.tolist() == list(range(6)) and true_expected.tolist() == [[1], [1]] and (expected == 1).all()


def test_weights_of_a_file(sess, tmp_path):
    (tmp_path / "counts").write_text("a,0\nb,5\nc,0\n")
    made = tf.nn.fixed_unigram_candidate_sampler(
        np.array([[1]]), 1, 4, False, 3, vocab_file=str(tmp_path / "counts"), seed=1
    )
    assert sess.run(made)[0].tolist() == [1, 1, 1, 1]


def test_hits_by_accident(sess):
    rows, places, weights = sess.run(tf.nn.compute_accidental_hits(np.array([[1, 2], [3, 3]]), np.array([2, 0, 3]), 2))
    assert sorted(zip(rows.tolist(), places.tolist())) == [(0, 0), (1, 2), (1, 2)]
    assert (weights < -1e37).all()
    with pytest.raises(ValueError):
        tf.nn.compute_accidental_hits(np.array([[1, 2]]), np.array([2]), 3)


def losses(function, **options):
    random = np.random.RandomState(0)
    weights, biases, inputs = (tf.constant(random.normal(size=s), tf.float32) for s in ((6, 3), (6,), (2, 3)))
    sampled = tf.nn.all_candidate_sampler(TRUE, 1, 6, True)
    return (
        weights,
        biases,
        inputs,
        function(weights, biases, tf.constant(TRUE), inputs, 6, 6, sampled_values=sampled, **options),
    )


def test_a_sample_of_all_classes_is_the_softmax(sess):
    weights, biases, inputs, loss = losses(tf.nn.sampled_softmax_loss, remove_accidental_hits=True)
    logits = tf.matmul(inputs, weights, transpose_b=True) + biases
    plain = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=TRUE[:, 0], logits=logits)
    found, wanted = sess.run([loss, plain])
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_true_classes_against_noise(sess):
    weights, biases, inputs, loss = losses(tf.nn.nce_loss)
    logits = sess.run(tf.matmul(inputs, weights, transpose_b=True) + biases)
    softplus = np.log1p(np.exp(logits))
    wanted = softplus.sum(1) + np.log1p(np.exp(-logits[[0, 1], [1, 4]]))
    np.testing.assert_allclose(sess.run(loss), wanted, rtol=1e-5)


def test_parts_of_the_weights(sess):
    random = np.random.RandomState(0)
    whole = random.normal(size=(6, 3)).astype(np.float32)
    parts = [tf.constant(whole[:3]), tf.constant(whole[3:])]
    sampled = tf.nn.all_candidate_sampler(TRUE, 1, 6, True)
    common = {"sampled_values": sampled, "partition_strategy": "div"}
    one, other = (
        tf.nn.sampled_softmax_loss(w, tf.zeros([6]), tf.constant(TRUE), tf.ones([2, 3]), 6, 6, **common)
        for w in (tf.constant(whole), parts)
    )
    found = sess.run([one, other])
    np.testing.assert_allclose(*found, rtol=1e-6)
