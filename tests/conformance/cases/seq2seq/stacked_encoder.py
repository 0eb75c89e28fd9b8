"""Encoders and decoders over stacked cells: the encoder's is a copy with cells of its own; feeding back what was decoded."""
import numpy as np
import tensorflow as tf


def fill(sess, variables):
    for i, v in enumerate(variables):
        shape = v.shape.as_list()
        v.load((np.sin(np.arange(np.prod(shape)) * 0.7 + i) * 0.5).reshape(shape), sess)


def run(out):
    legacy, cells = tf.contrib.legacy_seq2seq, tf.nn.rnn_cell
    encoder_ids = [tf.constant([i % 3, (i + 1) % 3]) for i in range(3)]
    decoder_ids = [tf.constant([i, 2 - i]) for i in range(2)]

    def stacked():
        return cells.MultiRNNCell([cells.GRUCell(4), cells.DropoutWrapper(cells.LSTMCell(4), output_keep_prob=1.0)])

    with tf.variable_scope("plain"):
        plain = legacy.embedding_rnn_seq2seq(encoder_ids, decoder_ids, stacked(), 5, 6, 3, feed_previous=True)
    with tf.variable_scope("attention"):
        attention = legacy.embedding_attention_seq2seq(encoder_ids, decoder_ids, stacked(), 5, 6, 3, num_heads=2)
    loss = legacy.sequence_loss(attention[0], decoder_ids, [tf.ones([2]), tf.constant([1.0, 0.0])])
    grads = tf.gradients(loss, tf.trainable_variables("attention"))
    out("variables", [[v.op.name, v.shape.as_list()] for v in tf.trainable_variables()])
    with tf.Session() as sess:
        fill(sess, tf.global_variables())
        out("plain", sess.run(plain), rtol=1e-4)
        out("attention", sess.run(attention), rtol=1e-4)
        out("loss", sess.run(loss), rtol=1e-4)
        out("gradients", sess.run([tf.convert_to_tensor(g) for g in grads]), rtol=1e-4, atol=1e-5)
    out.graph()
