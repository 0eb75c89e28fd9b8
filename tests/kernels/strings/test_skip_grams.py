"""Pairs of tokens near each other."""

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401


def _evaluate(*tensors):
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return session.run(tensors)


def test_skip_grams_of_a_fixed_width():
    from tensorflow.contrib import text

    tokens, labels = _evaluate(*text.skip_gram_sample(tf.constant(["the", "quick", "fox"]), 1, 1))
    assert list(zip(tokens, labels)) == [(b"the", b"quick"), (b"quick", b"the"), (b"quick", b"fox"), (b"fox", b"quick")]
    tokens, labels = _evaluate(
        *text.skip_gram_sample(tf.constant([1, 2, 3, 4]), 1, 1, start=1, limit=2, emit_self_as_target=True)
    )
    assert list(zip(tokens, labels)) == [(2, 2), (2, 3), (3, 2), (3, 3)]


def test_seeded_skip_grams_go_on_from_run_to_run():
    """The numbers that TensorFlow draws for this seed."""
    from tensorflow.contrib import text

    with tf.Graph().as_default(), tf.Session() as session:
        tokens, _ = text.skip_gram_sample(tf.constant(np.arange(8)), 1, 2, seed=1)
        first, second = session.run(tokens), session.run(tokens)
    assert first.tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 4, 4, 5, 5, 6, 6, 7, 7]
    assert second.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 7]


def test_skip_grams_of_a_vocabulary(tmp_path):
    from tensorflow.contrib import text

    file = tmp_path / "words.csv"
    file.write_text("the,42\nand,20\nbrown,7\n")
    words = tf.constant(["the", "and", "brown", "x"])
    tokens, labels = _evaluate(
        *text.skip_gram_sample_with_text_vocab(words, str(file), vocab_min_count=10, min_skips=1, max_skips=1)
    )
    assert list(zip(tokens, labels)) == [(b"the", b"and"), (b"and", b"the")]
    with pytest.raises(ValueError, match="no column 5"):
        text.skip_gram_sample_with_text_vocab(words, str(file), vocab_freq_index=5)
    with pytest.raises(ValueError, match="vocab_freq_table"):
        text.skip_gram_sample(words, vocab_min_count=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="min <= max"):
        _evaluate(*text.skip_gram_sample(words, 3, 2))
