"""tf.contrib.seq2seq: decoding loops, attention, beam search against exhaustive search, losses."""

import itertools

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import seq2seq as s2s

rnn = tf.nn.rnn_cell


def _fill(session, scale=1.5):
    for i, v in enumerate(tf.global_variables()):
        shape = v.shape.as_list()
        v.load((np.sin(np.arange(np.prod(shape)) * 1.7 + i) * scale).reshape(shape), session)


def test_training_decoder_is_a_dynamic_rnn():
    x = np.sin(np.arange(24.0, dtype="f")).reshape(2, 4, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        cell = rnn.GRUCell(2)
        decoder = s2s.BasicDecoder(cell, s2s.TrainingHelper(x, [4, 2]), cell.zero_state(2, tf.float32))
        outputs, state, lengths = s2s.dynamic_decode(decoder, impute_finished=True)
        same = rnn.GRUCell(2)
        wanted, wanted_state = tf.nn.dynamic_rnn(same, x, [4, 2], dtype=tf.float32)
        session.run(tf.global_variables_initializer())
        for v, w in zip(same.weights, cell.weights):
            v.load(session.run(w), session)
        found = session.run([outputs.rnn_output, wanted, state, wanted_state, lengths])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
    np.testing.assert_allclose(found[2], found[3], rtol=1e-5)
    assert found[4].tolist() == [4, 2]


def test_beam_search_finds_the_best_sequences():
    """With a beam as wide as there are sequences, the search is exhaustive."""
    words, steps, end = 3, 3, 2
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.constant(np.eye(words, dtype="f"))
        cell, project = rnn.BasicRNNCell(4), tf.layers.Dense(words, name="project")
        width = 27
        start = s2s.tile_batch(cell.zero_state(1, tf.float32), width)
        decoder = s2s.BeamSearchDecoder(cell, table, [0], end, start, width, output_layer=project)
        outputs, state, _ = s2s.dynamic_decode(decoder, maximum_iterations=steps)
        x, h = tf.placeholder(tf.float32, [1, words]), tf.placeholder(tf.float32, [1, 4])
        with tf.variable_scope("decoder", reuse=True):
            step, next_h = cell(x, h)
        log_probs = tf.nn.log_softmax(project(step))
        _fill(session)
        found, scores = session.run([outputs.predicted_ids, state.log_probs])

        def score(ids):
            total, state, before = 0.0, np.zeros([1, 4]), 0
            for i in ids:
                p, state = session.run([log_probs, next_h], {x: np.eye(words)[[before]], h: state})
                total, before = total + p[0, i], i
                if i == end:
                    break
            return total

        every = set()
        for ids in itertools.product(range(words), repeat=steps):
            cut = ids.index(end) if end in ids else steps
            every.add(ids[:cut] + (end,) * (steps - cut))
        ranked = sorted(every, key=score, reverse=True)
        assert [tuple(found[0, :, b]) for b in range(5)] == ranked[:5]
        np.testing.assert_allclose(scores[0, :5], [score(ids) for ids in ranked[:5]], rtol=1e-4)


@pytest.mark.parametrize("steps", [None, 3])
def test_alignment_history_is_reordered_along_beams_where_its_steps_are_unknown(steps):
    with tf.Graph().as_default(), tf.Session() as session:
        values = np.sin(np.arange(24.0, dtype="f")).reshape(2, 3, 4)
        memory = s2s.tile_batch(tf.placeholder_with_default(values, [2, steps, 4]), 2)
        cell = s2s.AttentionWrapper(rnn.GRUCell(4), s2s.LuongAttention(4, memory), alignment_history=True)
        decoder = s2s.BeamSearchDecoder(
            cell, tf.eye(5), [1, 1], 2, cell.zero_state(4, tf.float32), 2, tf.layers.Dense(5)
        )
        _, state, _ = s2s.dynamic_decode(decoder, maximum_iterations=4)
        _fill(session)
        history = state.cell_state.alignment_history
        assert isinstance(history, tf.TensorArray) == (steps is not None)
        history = session.run(history if steps is None else history.stack())
    assert history.shape[1:] == (4, 3)
    np.testing.assert_allclose(history.sum(-1), 1, rtol=1e-5)


def test_scheduled_outputs_carry_their_auxiliary_inputs():
    with tf.Graph().as_default(), tf.Session() as session:
        inputs, auxiliary = tf.ones([2, 3, 4]), tf.fill([2, 3, 1], 5.0)
        helper = s2s.ScheduledOutputTrainingHelper(inputs, [3, 2], 1.0, auxiliary_inputs=auxiliary)
        cell = rnn.GRUCell(4)
        _, following, _ = helper.next_inputs(
            tf.constant(0), tf.fill([2, 4], 0.5), cell.zero_state(2, tf.float32), tf.constant([1, 0])
        )
        assert session.run(following).tolist() == [[0.5] * 4 + [5.0], [1.0] * 4 + [5.0]]


def test_attention_ignores_what_is_past_the_end():
    with tf.Graph().as_default(), tf.Session() as session:
        memory = tf.constant(np.sin(np.arange(24.0, dtype="f")).reshape(2, 3, 4))
        mechanisms = [
            s2s.LuongAttention(4, memory, [3, 2], scale=True),
            s2s.BahdanauAttention(4, memory, [3, 2], normalize=True),
        ]
        cell = s2s.AttentionWrapper(rnn.BasicLSTMCell(4), mechanisms, attention_layer_size=[3, 2])
        state = cell.zero_state(2, tf.float32)
        output, state = cell(tf.ones([2, 2]), state)
        assert output.shape.as_list() == [2, 5] and cell.output_size == 5
        _fill(session)
        for alignments in session.run(state.alignments):
            assert alignments[1, 2] == 0 and alignments.sum() == pytest.approx(2)


def test_monotonic_attention_modes_agree_on_hard_choices():
    p = np.array([[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]], "f")
    before = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]], "f")
    with tf.Graph().as_default(), tf.Session() as session:
        hard, recursive = session.run([s2s.monotonic_attention(p, before, mode) for mode in ("hard", "recursive")])
        with pytest.raises(ValueError, match="mode must be"):
            s2s.monotonic_attention(p, before, "soft")
    assert hard.tolist() == recursive.tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]


def test_scheduled_sampling_with_probability_one_reads_its_own_output():
    x = np.sin(np.arange(24.0, dtype="f")).reshape(2, 3, 4)
    with tf.Graph().as_default(), tf.Session() as session:
        cell = rnn.BasicRNNCell(4)

        def decode(helper):
            return s2s.dynamic_decode(s2s.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32)))[0].rnn_output

        given = decode(s2s.TrainingHelper(x, [3, 3]))
        never = decode(s2s.ScheduledOutputTrainingHelper(x, [3, 3], sampling_probability=0.0))
        always = decode(s2s.ScheduledOutputTrainingHelper(x, [3, 3], sampling_probability=1.0))
        _fill(session)
        given, never, always = session.run([given, never, always])
    np.testing.assert_allclose(given, never)
    np.testing.assert_allclose(given[:, 0], always[:, 0])
    assert not np.allclose(given[:, 1], always[:, 1])


def test_sequence_loss_weighs_steps():
    logits = np.sin(np.arange(24.0, dtype="f")).reshape(2, 3, 4)
    targets, weights = np.array([[1, 2, 3], [0, 1, 2]]), np.array([[1, 2, 0], [0.5, 0, 0]], "f")
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    losses = -np.take_along_axis(log_probs, targets[..., None], 2)[..., 0] * weights
    with tf.Graph().as_default(), tf.Session() as session:
        args = [tf.constant(v) for v in (logits, targets, weights)]
        whole = session.run(s2s.sequence_loss(*args))
        by_step = session.run(s2s.sequence_loss(*args, average_across_timesteps=False))
        raw = session.run(s2s.sequence_loss(*args, average_across_timesteps=False, average_across_batch=False))
    assert whole == pytest.approx(losses.sum() / weights.sum(), rel=1e-5)
    np.testing.assert_allclose(raw, losses, rtol=1e-5)
    np.testing.assert_allclose(by_step, [losses[:, 0].sum() / 1.5, losses[:, 1].sum() / 2, 0], rtol=1e-5)


def test_wrong_arguments():
    with tf.Graph().as_default():
        with pytest.raises(TypeError, match="helper must be a Helper"):
            s2s.BasicDecoder(rnn.GRUCell(2), 3, None)
        with pytest.raises(ValueError, match="start_tokens must be a vector"):
            s2s.GreedyEmbeddingHelper(tf.eye(3), [[1]], 0)
        with pytest.raises(TypeError, match="Expected decoder"):
            s2s.dynamic_decode(3)
        with pytest.raises(ValueError, match="known rank"):
            s2s.tile_batch(tf.placeholder(tf.float32), 2)


def test_names_from_inside_are_there():
    from everflow.legacy.inner.contrib import seq2seq as inner_names

    with tf.Graph().as_default():
        assert all(hasattr(inner_names, name) for name in inner_names.__all__)
        assert inner_names._unstack_ta(tf.ones([3, 2])).read(0).shape.as_list() == [2]
