"""Beam search with lengths and penalties, attention kinds, scheduled sampling helpers, dynamic_decode's options, tile_batch, gather_tree, crf."""

import numpy as np
import tensorflow as tf

S = tf.contrib.seq2seq


def run(out):
    tf.set_random_seed(2)
    init = tf.random_uniform_initializer(-0.6, 0.6, seed=4)
    rng = np.random.RandomState(1)
    memory = tf.constant(rng.randn(2, 5, 4), tf.float32)
    lengths = tf.constant([5, 3])
    emb = tf.constant(rng.randn(7, 3), tf.float32)
    got = {}
    with tf.variable_scope("s", initializer=init):
        for n, make in (
            ("bahdanau", lambda: S.BahdanauAttention(4, memory, lengths, normalize=True)),
            ("luong", lambda: S.LuongAttention(4, memory, lengths, scale=True)),
            ("bmono", lambda: S.BahdanauMonotonicAttention(4, memory, lengths, sigmoid_noise=0.0, mode="hard")),
            ("lmono", lambda: S.LuongMonotonicAttention(4, memory, lengths, mode="recursive")),
        ):
            with tf.variable_scope(n):
                cell = S.AttentionWrapper(
                    tf.nn.rnn_cell.GRUCell(4),
                    make(),
                    attention_layer_size=3,
                    alignment_history=True,
                    output_attention=n != "luong",
                )
                helper = S.TrainingHelper(tf.constant(rng.randn(2, 4, 3), tf.float32), [4, 2])
                decoder = S.BasicDecoder(
                    cell, helper, cell.zero_state(2, tf.float32), tf.layers.Dense(7, kernel_initializer=init)
                )
                outputs, state, steps = S.dynamic_decode(decoder, impute_finished=True, output_time_major=n == "luong")
                got[n] = [
                    outputs.rnn_output,
                    outputs.sample_id,
                    state.attention,
                    state.alignments,
                    state.time,
                    steps,
                    state.alignment_history.stack(),
                ]
        with tf.variable_scope("beam"):
            tiled = S.tile_batch(memory, 3)
            cell = S.AttentionWrapper(
                tf.nn.rnn_cell.BasicLSTMCell(4),
                S.LuongAttention(4, tiled, S.tile_batch(lengths, 3)),
                attention_layer_size=4,
            )
            beam = S.BeamSearchDecoder(
                cell,
                emb,
                tf.fill([2], 1),
                2,
                cell.zero_state(6, tf.float32),
                3,
                tf.layers.Dense(7, kernel_initializer=init),
                length_penalty_weight=0.6,
                coverage_penalty_weight=0.0,
            )
            outputs, state, steps = S.dynamic_decode(beam, maximum_iterations=6)
            got["beam"] = [
                outputs.predicted_ids,
                outputs.beam_search_decoder_output.scores,
                outputs.beam_search_decoder_output.parent_ids,
                state.log_probs,
                state.finished,
                state.lengths,
                steps,
            ]
        with tf.variable_scope("helpers"):
            cell, dense = tf.nn.rnn_cell.GRUCell(3), tf.layers.Dense(7, kernel_initializer=init)
            for n, helper in (
                ("greedy", S.GreedyEmbeddingHelper(emb, [1, 1], 2)),
                ("sample", S.SampleEmbeddingHelper(emb, [1, 1], 2, softmax_temperature=0.7, seed=3)),
                (
                    "sched",
                    S.ScheduledEmbeddingTrainingHelper(
                        tf.nn.embedding_lookup(emb, [[1, 2, 3], [4, 5, 6]]), [3, 2], emb, 0.5, seed=5, scheduling_seed=6
                    ),
                ),
                (
                    "infer",
                    S.InferenceHelper(
                        lambda o: tf.argmax(o, -1, output_type=tf.int32),
                        [],
                        tf.int32,
                        tf.nn.embedding_lookup(emb, [1, 1]),
                        lambda s: tf.equal(s, 2),
                        next_inputs_fn=lambda s: tf.nn.embedding_lookup(emb, s),
                    ),
                ),
            ):
                o, s, l = S.dynamic_decode(
                    S.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32), dense),
                    maximum_iterations=5,
                    swap_memory=True,
                    scope=n,
                )
                got[n] = [o.rnn_output, o.sample_id, s, l]
    got["tree"] = S.gather_tree(
        tf.constant([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]), tf.constant([[[0, 0], [0, 1]], [[1, 0], [1, 1]]]), [2, 2], 9
    )
    scores, tags = tf.constant(rng.randn(2, 4, 3), tf.float32), tf.constant([[0, 1, 2, 0], [2, 2, 1, 0]])
    ll, trans = tf.contrib.crf.crf_log_likelihood(
        scores, tags, tf.constant([4, 2]), tf.constant(rng.randn(3, 3), tf.float32)
    )
    decoded = tf.contrib.crf.crf_decode(scores, trans, tf.constant([4, 2]))
    got["crf"] = [
        ll,
        decoded[0],
        decoded[1],
        tf.contrib.crf.crf_sequence_score(scores, tags, tf.constant([4, 2]), trans),
        tf.contrib.crf.crf_log_norm(scores, tf.constant([4, 2]), trans),
        tf.gradients(ll, scores)[0],
    ]
    got["hard"] = S.hardmax(scores)
    got["safe"] = S.safe_cumprod(tf.abs(scores), axis=1, exclusive=True)
    got["mono"] = S.monotonic_attention(tf.sigmoid(scores[:, 0]), tf.nn.softmax(scores[:, 1]), "parallel")
    out("vars", [(v.name, v.shape.as_list()) for v in tf.trainable_variables()])
    out.raises("layer size", S.AttentionWrapper, cell, [S.LuongAttention(3, memory)], attention_layer_size=[3, 4])
    out.raises("end token", S.GreedyEmbeddingHelper, emb, [1], [2])
    out.raises("beam state", S.BeamSearchDecoder, cell, emb, tf.fill([2], 1), 2, cell.zero_state(5, tf.float32), 0)
    out.raises("not a helper", S.BasicDecoder, cell, 1, None)
    out.raises("iterations", S.dynamic_decode, beam, maximum_iterations=[1])
    out.raises("mode", S.monotonic_attention, scores[:, 0], scores[:, 0], "x")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for n in sorted(got):
            out(n, sess.run(got[n]), rtol=1e-3, atol=1e-4, seeded=n in ("sample", "sched"))
    out.graph()
