"""tf.contrib.legacy_seq2seq: unrolled models share and name variables; losses; buckets."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import legacy_seq2seq as legacy

rnn = tf.nn.rnn_cell


def _symbols(count, name):
    return [tf.placeholder(tf.int32, [2], name=f"{name}{i}") for i in range(count)]


def test_tied_model_has_one_cell():
    with tf.Graph().as_default():
        inputs = [tf.ones([2, 3])] * 2
        outputs, state = legacy.tied_rnn_seq2seq(inputs, inputs, rnn.GRUCell(4))
        assert len(outputs) == 2 and state.shape.as_list() == [2, 4]
        assert len(tf.global_variables()) == 4
        legacy.basic_rnn_seq2seq(inputs, inputs, rnn.GRUCell(4))
        assert len(tf.global_variables()) == 4 + 8


def test_feed_previous_as_a_tensor():
    with tf.Graph().as_default(), tf.Session() as session:
        encoder, decoder, feeds = _symbols(2, "e"), _symbols(3, "d"), tf.placeholder(tf.bool, [])
        outputs, _ = legacy.embedding_attention_seq2seq(encoder, decoder, rnn.GRUCell(3), 4, 5, 2, feed_previous=feeds)
        session.run(tf.global_variables_initializer())
        feed = {t: [1, 2] for t in encoder + decoder}
        given, fed = session.run(outputs, {**feed, feeds: False}), session.run(outputs, {**feed, feeds: True})
        np.testing.assert_allclose(given[0], fed[0], rtol=1e-6)
        # Its own best symbols, given as inputs, lead to the same outputs.
        own = {**feed, decoder[1]: fed[0].argmax(1), decoder[2]: fed[1].argmax(1), feeds: False}
        np.testing.assert_allclose(session.run(outputs, own)[2], fed[2], rtol=1e-5)


def test_one_encoder_for_many_decoders():
    with tf.Graph().as_default():
        outputs, states = legacy.one2many_rnn_seq2seq(
            _symbols(2, "e"), {"a": _symbols(2, "a"), "b": _symbols(3, "b")}, rnn.GRUCell(3), {n: rnn.GRUCell(3) for n in "ab"},
            4, {"a": 5, "b": 6}, 2,
        )  # fmt: skip
        assert [len(outputs[n]) for n in "ab"] == [2, 3] and outputs["b"][0].shape.as_list() == [2, 6]
        assert set(states) == {"a", "b"}


def test_losses():
    logits = np.sin(np.arange(16.0, dtype="f")).reshape(2, 2, 4)
    targets, weights = np.array([[1, 2], [3, 0]]), np.array([[1, 1], [0.5, 0]], "f")
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    losses = -np.take_along_axis(log_probs, targets[..., None], 2)[..., 0] * weights
    with tf.Graph().as_default(), tf.Session() as session:
        args = [[tf.constant(step) for step in values] for values in (logits, targets, weights)]
        found, whole = session.run([legacy.sequence_loss_by_example(*args), legacy.sequence_loss(*args)])
        with pytest.raises(ValueError, match="must be the same"):
            legacy.sequence_loss(args[0], args[1][:1], args[2])
    np.testing.assert_allclose(found, losses.sum(0) / weights.sum(0), rtol=1e-5)
    assert whole == pytest.approx(found.mean(), rel=1e-6)


def test_buckets_share_variables():
    with tf.Graph().as_default():
        inputs, targets, weights = [tf.ones([2, 3])] * 3, _symbols(3, "t"), [tf.ones([2])] * 3
        model = lambda e, d: legacy.basic_rnn_seq2seq(e, d, rnn.GRUCell(4))  # noqa: E731
        outputs, losses = legacy.model_with_buckets(inputs, inputs, targets, weights, [(1, 2), (3, 3)], model)
        assert [len(o) for o in outputs] == [2, 3] and len(losses) == 2
        assert len(tf.global_variables()) == 8
        with pytest.raises(ValueError, match="last bucket has"):
            legacy.model_with_buckets(inputs, inputs, targets, weights, [(5, 2)], model)
