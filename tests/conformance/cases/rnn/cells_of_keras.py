"""Keras's cells in tf.nn's loops and the other way round; tf.layers in Keras layers, whose variables become resources."""
import numpy as np
import tensorflow as tf


def fill(sess, variables):
    for i, v in enumerate(variables):
        shape = v.shape.as_list()
        v.load((np.sin(np.arange(np.prod(shape)) * 0.7 + i) * 0.5).reshape(shape), sess)


class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.first = tf.layers.Dense(3)
        self.more = [tf.layers.Dense(2, name="named")]
        self.rnn = tf.keras.layers.RNN(tf.nn.rnn_cell.LSTMCell(2), return_sequences=True)

    def call(self, x):
        return self.rnn(self.more[0](self.first(x)))


def run(out):
    layers, cells = tf.keras.layers, tf.nn.rnn_cell
    x = tf.constant(np.sin(np.arange(24.0)).reshape(2, 3, 4).astype("f"))
    mask = tf.constant([[True, True, False], [True, False, False]])
    made = [
        ("loop", tf.nn.dynamic_rnn(layers.GRUCell(3), x, [3, 2], dtype=tf.float32, scope="loop")),
        ("unrolled", tf.nn.static_rnn(layers.SimpleRNNCell(3), tf.unstack(x, axis=1), dtype=tf.float32, scope="unrolled")),
        ("both ways", tf.nn.bidirectional_dynamic_rnn(layers.GRUCell(3), layers.LSTMCell(2), x, [2, 1], dtype=tf.float32, scope="both")),
        ("in keras", layers.RNN([cells.GRUCell(3), cells.BasicLSTMCell(2)], return_state=True)(x)),
        ("stacked", layers.RNN(cells.MultiRNNCell([cells.GRUCell(3), cells.LSTMCell(2)]), return_state=True)(x)),
        ("unrolled mask", layers.LSTM(2, unroll=True, return_state=True)(x, mask=mask)),
        ("model", Model()(x)),
        ("constrained", layers.SimpleRNN(2, kernel_constraint="maxnorm", recurrent_constraint="unitnorm", activation="selu")(x)),
    ]
    out("variables", [[v.op.name, v.op.type, v.shape.as_list()] for v in tf.global_variables()])
    grads = [tf.gradients(tf.reduce_sum(tf.square(tf.nest.flatten(values)[0])), x)[0] for _, values in made]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        fill(sess, tf.global_variables())
        for (name, values), grad in zip(made, grads):
            out(name, [sess.run(tf.nest.flatten(values)), sess.run(grad)], rtol=1e-4, atol=1e-5)
    out.graph()
