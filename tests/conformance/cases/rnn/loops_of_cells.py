"""RNN loops: static_rnn, static_state_saving-like loops, bidirectional stacks, fused cells, time-major, lengths, dropout wrappers with input_keep, attention cell wrapper, Conv LSTM, NAS, UGRNN, Intersection, gradients."""

import numpy as np
import tensorflow as tf

C, R = tf.contrib.rnn, tf.nn.rnn_cell


def run(out):
    tf.set_random_seed(1)
    rng = np.random.RandomState(5)
    x = tf.placeholder(tf.float32, [2, 4, 3], name="x")
    lengths = tf.constant([4, 2])
    steps = tf.unstack(x, axis=1)
    init = tf.random_uniform_initializer(-0.3, 0.3, seed=3)
    got = {}
    with tf.variable_scope("r", initializer=init):
        got["static"] = tf.nn.static_rnn(
            R.LSTMCell(3, use_peepholes=True, num_proj=2, cell_clip=1.0),
            steps,
            dtype=tf.float32,
            sequence_length=lengths,
        )
        got["bistatic"] = tf.nn.static_bidirectional_rnn(
            R.GRUCell(2), R.GRUCell(2), steps, dtype=tf.float32, scope="bs"
        )
        got["stack"] = C.stack_bidirectional_dynamic_rnn(
            [R.GRUCell(2), R.GRUCell(3)], [R.GRUCell(2), R.GRUCell(3)], x, dtype=tf.float32, sequence_length=lengths
        )
        got["time"] = tf.nn.dynamic_rnn(
            R.BasicLSTMCell(2, forget_bias=0.5),
            tf.transpose(x, [1, 0, 2]),
            time_major=True,
            dtype=tf.float32,
            scope="tm",
            parallel_iterations=3,
            swap_memory=True,
        )
        got["attn"] = tf.nn.dynamic_rnn(
            C.AttentionCellWrapper(R.GRUCell(3), 2, state_is_tuple=True), x, dtype=tf.float32, scope="at"
        )
        for n, cell in (
            ("nas", C.NASCell(2)),
            ("ugrnn", C.UGRNNCell(2)),
            ("inter", C.IntersectionRNNCell(3)),
            ("lnl", C.LayerNormBasicLSTMCell(2)),
            ("coupled", C.CoupledInputForgetGateLSTMCell(2)),
            ("glstm", C.GLSTMCell(4, number_of_groups=2)),
            ("indy", C.IndyGRUCell(2)),
            ("sru", C.SRUCell(3)),
            ("blk", C.LSTMBlockCell(2)),
            ("gblk", C.GRUBlockCellV2(2)),
        ):
            if cell is not None:
                inp = tf.concat([x, x[..., :1]], -1) if n == "glstm" else x
                got[n] = tf.nn.dynamic_rnn(cell, inp, dtype=tf.float32, scope=n, sequence_length=lengths)
        conv = C.Conv1DLSTMCell(input_shape=[4, 1], output_channels=2, kernel_shape=[3])
        got["conv"] = tf.nn.dynamic_rnn(
            conv, tf.reshape(tf.tile(x, [1, 1, 4])[:, :, :4], [2, 4, 4, 1]), dtype=tf.float32, scope="conv1"
        )
        fused = C.LSTMBlockFusedCell(2)
        got["fused"] = fused(tf.transpose(x, [1, 0, 2]), dtype=tf.float32, sequence_length=lengths)
        multi = R.MultiRNNCell(
            [R.DropoutWrapper(R.GRUCell(3), input_keep_prob=1.0, output_keep_prob=1.0), R.ResidualWrapper(R.GRUCell(3))]
        )
        got["multi"] = tf.nn.dynamic_rnn(multi, x, initial_state=multi.zero_state(2, tf.float32), scope="mu")
        out(
            "states",
            [str(multi.state_size), multi.output_size, str(R.LSTMCell(3, num_proj=2).state_size), str(conv.state_size)],
        )
    loss = tf.add_n([tf.reduce_sum(t) for n in sorted(got) for t in tf.contrib.framework.nest.flatten(got[n])])
    variables = tf.trainable_variables()
    grads = tf.gradients(loss, variables)
    out("vars", [(v.name, v.shape.as_list()) for v in variables])
    out.raises("no dtype", tf.nn.dynamic_rnn, R.GRUCell(2), x, scope="e1")
    out.raises("not a cell", tf.nn.dynamic_rnn, lambda i, s: (i, s), x, dtype=tf.float32)
    out.raises("rank", tf.nn.dynamic_rnn, R.GRUCell(2), x[0, 0], dtype=tf.float32, scope="e2")
    out.raises("residual", lambda: tf.nn.dynamic_rnn(R.ResidualWrapper(R.GRUCell(7)), x, dtype=tf.float32, scope="e3"))
    out.raises("steps", tf.nn.static_rnn, R.GRUCell(2), x, dtype=tf.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        feed = {x: rng.randn(2, 4, 3)}
        for n in sorted(got):
            out(
                n,
                [np.asarray(t) for t in sess.run(tf.contrib.framework.nest.flatten(got[n]), feed)],
                rtol=1e-4,
                atol=1e-5,
            )
        out(
            "grads",
            [np.asarray(g.values if hasattr(g, "values") else g) for g in sess.run(grads, feed)],
            rtol=1e-3,
            atol=1e-4,
        )
    out.graph()
