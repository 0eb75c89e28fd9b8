"""The language model of the PTB tutorial: a two-layer LSTM over words, state carried from batch to batch,
gradients clipped by their global norm, the learning rate assigned by hand as epochs go by.

The bundled text is small; pass --text=FILE for another one.

Run:     everflow run examples/ptb_word_lm.py
Expect:  the perplexity falls from 165 to 37 on the text it is trained on, to 92 on the tenth that is held back (13 epochs).
"""

import collections
import os
import time

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string(
    "text", os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "alice.txt"), "What to read"
)
flags.DEFINE_integer("max_max_epoch", 13, "Number of epochs")
flags.DEFINE_integer("hidden_size", 100, "Units in each LSTM layer")
FLAGS = flags.FLAGS


class Config(object):
    init_scale = 0.1
    learning_rate = 1.0
    max_grad_norm = 5
    num_layers = 2
    num_steps = 12
    max_epoch = 6  # the learning rate decays from here on
    keep_prob = 0.9
    lr_decay = 0.6
    batch_size = 10


def read_words(path):
    with tf.gfile.GFile(path, "r") as f:
        text = f.read().lower().replace("--", " -- ").replace("\n", " ")
    for mark in ".,;:!?()'\"":
        text = text.replace(mark, " %s " % mark)
    return text.split()


def ptb_iterator(raw_data, batch_size, num_steps):
    raw_data = np.array(raw_data, dtype=np.int32)
    batch_len = len(raw_data) // batch_size
    data = raw_data[: batch_size * batch_len].reshape(batch_size, batch_len)
    for i in range((batch_len - 1) // num_steps):
        x = data[:, i * num_steps : (i + 1) * num_steps]
        y = data[:, i * num_steps + 1 : (i + 1) * num_steps + 1]
        yield x, y


class PTBModel(object):
    """The PTB model."""

    def __init__(self, is_training, config, vocab_size, batch_size, num_steps):
        self.batch_size, self.num_steps = batch_size, num_steps
        size = FLAGS.hidden_size
        self.input_data = tf.placeholder(tf.int32, [batch_size, num_steps])
        self.targets = tf.placeholder(tf.int32, [batch_size, num_steps])

        def lstm_cell():
            cell = tf.nn.rnn_cell.BasicLSTMCell(size, forget_bias=0.0, state_is_tuple=True, reuse=not is_training)
            if is_training and config.keep_prob < 1:
                cell = tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=config.keep_prob)
            return cell

        cell = tf.nn.rnn_cell.MultiRNNCell([lstm_cell() for _ in range(config.num_layers)], state_is_tuple=True)
        self.initial_state = cell.zero_state(batch_size, tf.float32)
        with tf.device("/cpu:0"):
            embedding = tf.get_variable("embedding", [vocab_size, size], dtype=tf.float32)
            inputs = tf.nn.embedding_lookup(embedding, self.input_data)
        if is_training and config.keep_prob < 1:
            inputs = tf.nn.dropout(inputs, config.keep_prob)

        outputs = []
        state = self.initial_state
        with tf.variable_scope("RNN"):
            for time_step in range(num_steps):
                if time_step > 0:
                    tf.get_variable_scope().reuse_variables()
                (cell_output, state) = cell(inputs[:, time_step, :], state)
                outputs.append(cell_output)
        output = tf.reshape(tf.concat(outputs, 1), [-1, size])
        softmax_w = tf.get_variable("softmax_w", [size, vocab_size], dtype=tf.float32)
        softmax_b = tf.get_variable("softmax_b", [vocab_size], dtype=tf.float32)
        logits = tf.matmul(output, softmax_w) + softmax_b
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(self.targets, [-1]), logits=logits)
        self.cost = tf.reduce_sum(loss) / batch_size
        self.final_state = state
        if not is_training:
            self.train_op = tf.no_op()
            return

        self.lr = tf.Variable(0.0, trainable=False)
        tvars = tf.trainable_variables()
        grads, _ = tf.clip_by_global_norm(tf.gradients(self.cost, tvars), config.max_grad_norm)
        optimizer = tf.train.GradientDescentOptimizer(self.lr)
        self.train_op = optimizer.apply_gradients(zip(grads, tvars), global_step=tf.train.get_or_create_global_step())
        self.new_lr = tf.placeholder(tf.float32, shape=[], name="new_learning_rate")
        self.lr_update = tf.assign(self.lr, self.new_lr)


def run_epoch(session, model, data):
    """Runs the model on the given data; its perplexity."""
    costs, iters = 0.0, 0
    state = session.run(model.initial_state)
    for x, y in ptb_iterator(data, model.batch_size, model.num_steps):
        feed_dict = {model.input_data: x, model.targets: y}
        for i, (c, h) in enumerate(model.initial_state):
            feed_dict[c] = state[i].c
            feed_dict[h] = state[i].h
        cost, state, _ = session.run([model.cost, model.final_state, model.train_op], feed_dict)
        costs += cost
        iters += model.num_steps
    return np.exp(costs / iters)


def main(_):
    words = read_words(FLAGS.text)
    counts = sorted(collections.Counter(words).items(), key=lambda x: (-x[1], x[0]))
    word_to_id = {word: i for i, (word, n) in enumerate(counts) if n > 1}
    unknown = len(word_to_id)
    ids = [word_to_id.get(word, unknown) for word in words]
    split = len(ids) * 9 // 10
    train_data, valid_data = ids[:split], ids[split:]
    config = Config()
    print("%d words, vocabulary %d" % (len(ids), unknown + 1))

    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(5)
        initializer = tf.random_uniform_initializer(-config.init_scale, config.init_scale)
        with tf.variable_scope("model", reuse=None, initializer=initializer):
            m = PTBModel(True, config, unknown + 1, config.batch_size, config.num_steps)
        with tf.variable_scope("model", reuse=True, initializer=initializer):
            mvalid = PTBModel(False, config, unknown + 1, 1, 4)
        tf.global_variables_initializer().run()
        for i in range(FLAGS.max_max_epoch):
            lr_decay = config.lr_decay ** max(i + 1 - config.max_epoch, 0.0)
            session.run(m.lr_update, {m.new_lr: config.learning_rate * lr_decay})
            start = time.time()
            train_perplexity = run_epoch(session, m, train_data)
            valid_perplexity = run_epoch(session, mvalid, valid_data)
            print(
                "Epoch: %d Learning rate: %.3f Train Perplexity: %.3f Valid Perplexity: %.3f (%.1f s)"
                % (i + 1, session.run(m.lr), train_perplexity, valid_perplexity, time.time() - start)
            )
    print("final train perplexity %.1f" % train_perplexity)


if __name__ == "__main__":
    tf.app.run()
