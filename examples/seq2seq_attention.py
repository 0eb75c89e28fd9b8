"""Sequence to sequence with attention, by hand: an encoder with dynamic_rnn, a decoder with raw_rnn that
looks at the encoder's outputs (Bahdanau's additive attention), fed with the truth while it learns and with its own
output afterwards. The task: write a sequence of letters backwards.

Run:     everflow run examples/seq2seq_attention.py
Expect:  a loss below 0.01, and all of the 500 test sequences reversed without a mistake.
"""

import time

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 400, "Number of batches to train on")
flags.DEFINE_integer("batch_size", 64, "Sequences in a batch")
flags.DEFINE_integer("num_units", 64, "Units of encoder and decoder")
flags.DEFINE_integer("max_length", 8, "Letters in the longest sequence")
FLAGS = flags.FLAGS

LETTERS = "abcdefghijklmnopqrst"
PAD, GO, EOS, FIRST = 0, 1, 2, 3
VOCAB = FIRST + len(LETTERS)


def make_batch(rng, size):
    lengths = rng.randint(3, FLAGS.max_length + 1, size)
    source = np.full([size, FLAGS.max_length], PAD, np.int32)
    target = np.full([size, FLAGS.max_length + 1], PAD, np.int32)
    for i, n in enumerate(lengths):
        source[i, :n] = rng.randint(FIRST, VOCAB, n)
        target[i, :n] = source[i, :n][::-1]
        target[i, n] = EOS
    return source, lengths, target


def attention_decoder(memory, memory_mask, initial_state, embedding, next_inputs, steps, reuse=None):
    """Logits [batch, steps, VOCAB]; next_inputs(time, logits) are the ids that go into the cell at `time`."""
    with tf.variable_scope("decoder", reuse=reuse):
        cell = tf.nn.rnn_cell.GRUCell(FLAGS.num_units)
        query_layer = tf.layers.Dense(FLAGS.num_units, use_bias=False, name="query")
        keys = tf.layers.dense(memory, FLAGS.num_units, use_bias=False, name="memory")
        v = tf.get_variable("attention_v", [FLAGS.num_units])
        output_layer = tf.layers.Dense(VOCAB, name="output")
        batch_size = tf.shape(memory)[0]

        def attend(query):
            score = tf.reduce_sum(v * tf.tanh(keys + tf.expand_dims(query_layer(query), 1)), [2])
            alignment = tf.nn.softmax(score + memory_mask)
            return tf.reduce_sum(tf.expand_dims(alignment, 2) * memory, 1)

        def loop_fn(time, cell_output, cell_state, loop_state):
            finished = tf.fill([batch_size], time >= steps)
            if cell_output is None:
                state, context, logits, emit = (
                    initial_state,
                    tf.zeros([batch_size, FLAGS.num_units]),
                    None,
                    tf.zeros([VOCAB]),
                )
            else:
                state = cell_state
                context = attend(cell_output)
                logits = emit = output_layer(tf.concat([cell_output, context], 1))
            ids = next_inputs(time, logits)
            inputs = tf.concat([tf.nn.embedding_lookup(embedding, ids), context], 1)
            inputs.set_shape([None, 2 * FLAGS.num_units])
            return finished, inputs, state, emit, loop_state

        outputs_ta, _, _ = tf.nn.raw_rnn(cell, loop_fn)
        return tf.transpose(outputs_ta.stack(), [1, 0, 2])


def main(_):
    tf.set_random_seed(8)
    rng = np.random.RandomState(8)
    source = tf.placeholder(tf.int32, [None, FLAGS.max_length])
    lengths = tf.placeholder(tf.int32, [None])
    target = tf.placeholder(tf.int32, [None, FLAGS.max_length + 1])

    embedding = tf.get_variable("embedding", [VOCAB, FLAGS.num_units])
    with tf.variable_scope("encoder"):
        (forward, backward), (forward_state, backward_state) = tf.nn.bidirectional_dynamic_rnn(
            tf.nn.rnn_cell.GRUCell(FLAGS.num_units // 2),
            tf.nn.rnn_cell.GRUCell(FLAGS.num_units // 2),
            tf.nn.embedding_lookup(embedding, source),
            sequence_length=lengths,
            dtype=tf.float32,
        )
        memory = tf.concat([forward, backward], 2)
        state = tf.concat([forward_state, backward_state], 1)
    memory_mask = (tf.sequence_mask(lengths, FLAGS.max_length, dtype=tf.float32) - 1) * 1e9

    steps = FLAGS.max_length + 1
    # GO, then the truth; the last input is not used.
    shifted = tf.concat([tf.fill([tf.shape(target)[0], 1], GO), target], 1)
    logits = attention_decoder(memory, memory_mask, state, embedding, lambda time, _: shifted[:, time], steps)

    def greedy(time, logits):
        return tf.fill([tf.shape(source)[0]], GO) if logits is None else tf.argmax(logits, 1, output_type=tf.int32)

    written = tf.argmax(
        attention_decoder(memory, memory_mask, state, embedding, greedy, steps, reuse=True), 2, output_type=tf.int32
    )

    weights = tf.sequence_mask(lengths + 1, steps, dtype=tf.float32)
    crossent = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
    loss = tf.reduce_sum(crossent * weights) / tf.reduce_sum(weights)
    params = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, params), 5.0)
    train_op = tf.train.AdamOptimizer(0.004).apply_gradients(zip(gradients, params))
    right = tf.reduce_all(tf.logical_or(tf.equal(written, target), weights < 0.5), 1)
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32))

    start = time.time()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(1, FLAGS.steps + 1):
            s, n, t = make_batch(rng, FLAGS.batch_size)
            _, loss_value = sess.run([train_op, loss], {source: s, lengths: n, target: t})
            if step % 100 == 0:
                print("step %d, loss %.4f, %.1f s" % (step, loss_value, time.time() - start))
        s, n, t = make_batch(rng, 500)
        w, result = sess.run([written, accuracy], {source: s, lengths: n, target: t})
        for i in range(3):
            print(
                "".join(LETTERS[c - FIRST] for c in s[i, : n[i]]),
                "->",
                "".join(LETTERS[c - FIRST] for c in w[i, : n[i]] if c >= FIRST),
            )
        print("final loss %.4f" % loss_value)
        print("reversed without a mistake %.3f" % result)


if __name__ == "__main__":
    tf.app.run()
