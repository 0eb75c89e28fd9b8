"""A character RNN that learns to write like the text it reads: dynamic_rnn over GRU cells, a checkpoint,
then a second graph that is restored from it and draws one character after another.

Run:     everflow run examples/char_rnn.py
Expect:  the loss of a character falls from 4.2 to about 1.1 nats; the text it writes has words, if little sense.
"""

import os
import time

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string(
    "text", os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "alice.txt"), "What to read"
)
flags.DEFINE_integer("steps", 600, "Number of batches to train on")
flags.DEFINE_integer("rnn_size", 128, "Units in a layer")
flags.DEFINE_integer("num_layers", 1, "Layers")
flags.DEFINE_integer("length", 300, "Characters to write")
FLAGS = flags.FLAGS


class CharRNN(object):
    def __init__(self, vocab_size, batch_size, seq_length, training=True):
        cells = [tf.nn.rnn_cell.GRUCell(FLAGS.rnn_size) for _ in range(FLAGS.num_layers)]
        cell = tf.nn.rnn_cell.MultiRNNCell(cells)
        self.inputs = tf.placeholder(tf.int32, [batch_size, seq_length])
        self.targets = tf.placeholder(tf.int32, [batch_size, seq_length])
        self.initial_state = cell.zero_state(batch_size, tf.float32)
        lstm_inputs = tf.one_hot(self.inputs, vocab_size)
        outputs, self.final_state = tf.nn.dynamic_rnn(cell, lstm_inputs, initial_state=self.initial_state)
        self.logits = tf.layers.dense(outputs, vocab_size, name="softmax")
        self.temperature = tf.placeholder_with_default(1.0, [])
        self.next = tf.multinomial(self.logits[:, -1] / self.temperature, 1)
        self.loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.targets, logits=self.logits)
        )
        if training:
            tvars = tf.trainable_variables()
            grads, _ = tf.clip_by_global_norm(tf.gradients(self.loss, tvars), 5.0)
            self.train_op = tf.train.AdamOptimizer(5e-3).apply_gradients(zip(grads, tvars))


def batches(encoded, n_seqs, n_steps):
    """Rows of the text, side by side, a window at a time; from the beginning again without end."""
    per_row = (len(encoded) - 1) // n_seqs
    x = encoded[: per_row * n_seqs].reshape(n_seqs, -1)
    y = encoded[1 : per_row * n_seqs + 1].reshape(n_seqs, -1)
    while True:
        for n in range(0, per_row - n_steps + 1, n_steps):
            yield n == 0, x[:, n : n + n_steps], y[:, n : n + n_steps]


def train(encoded, vocab_size, path):
    tf.set_random_seed(6)
    model = CharRNN(vocab_size, 16, 40)
    saver = tf.train.Saver(max_to_keep=1)
    start, losses = time.time(), []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        data = batches(encoded, 16, 40)
        for step in range(1, FLAGS.steps + 1):
            first, x, y = next(data)
            if first:
                state = sess.run(model.initial_state)
            feed = {model.inputs: x, model.targets: y, model.initial_state: state}
            loss, state, _ = sess.run([model.loss, model.final_state, model.train_op], feed)
            losses.append(loss)
            if step % 50 == 0:
                print("step: {}  loss: {:.4f}  {:.4f} sec/batch".format(step, loss, (time.time() - start) / step))
        return saver.save(sess, path), np.mean(losses[-20:])


def write(checkpoint, letters, prime):
    tf.set_random_seed(7)
    model = CharRNN(len(letters), 1, 1, training=False)
    with tf.Session() as sess:
        tf.train.Saver().restore(sess, checkpoint)
        state = sess.run(model.initial_state)
        text = prime
        for i in range(len(prime) + FLAGS.length - 1):
            feed = {model.inputs: [[letters.index(text[i])]], model.initial_state: state, model.temperature: 0.7}
            drawn, state = sess.run([model.next, model.final_state], feed)
            if i >= len(prime) - 1:
                text += letters[drawn[0, 0]]
    return text


def main(_):
    with tf.gfile.GFile(FLAGS.text) as f:
        text = f.read()
    letters = sorted(set(text))
    encoded = np.array([letters.index(c) for c in text], dtype=np.int32)
    print("%d characters, %d different ones" % (len(text), len(letters)))
    checkpoint, loss = train(encoded, len(letters), os.path.join(tf.test.get_temp_dir(), "char_rnn.ckpt"))
    tf.reset_default_graph()
    print("-" * 60 + "\n" + write(checkpoint, letters, "Alice ") + "\n" + "-" * 60)
    print("final loss %.3f" % loss)


if __name__ == "__main__":
    tf.app.run()
