"""Recurrent programs: over rows of an image, and over texts."""

from benchmarks.programs.registry import RANDOM, adam, program


@program
def tagger(tf):
    """A bidirectional LSTM with a CRF on top."""
    words, tags, lengths = (
        tf.placeholder(tf.int32, [16, 30]),
        tf.placeholder(tf.int32, [16, 30]),
        tf.placeholder(tf.int32, [16]),
    )
    embedded = tf.nn.dropout(tf.nn.embedding_lookup(tf.get_variable("embedding", [5000, 100]), words), 0.5)
    cells = [tf.nn.rnn_cell.LSTMCell(100) for _ in range(2)]
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(*cells, embedded, lengths, dtype=tf.float32)
    likelihood, _ = tf.contrib.crf.crf_log_likelihood(tf.layers.dense(tf.concat(outputs, 2), 9), tags, lengths)
    feeds = {
        words: RANDOM.randint(0, 5000, (16, 30)),
        tags: RANDOM.randint(0, 9, (16, 30)),
        lengths: RANDOM.randint(5, 30, 16),
    }
    return adam(tf, -tf.reduce_mean(likelihood)), feeds


@program
def character_rnn(tf):
    x, y = tf.placeholder(tf.int32, [32, 50]), tf.placeholder(tf.int32, [32, 50])
    cells = [tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(128), output_keep_prob=0.8) for _ in range(2)]
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell(cells), tf.one_hot(x, 80), dtype=tf.float32)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.layers.dense(outputs, 80)))
    return adam(tf, loss), {x: RANDOM.randint(0, 80, (32, 50)), y: RANDOM.randint(0, 80, (32, 50))}


@program
def attentive_gru(tf, batch=32, longest=40, width=64):
    """A GRU in both directions over texts of unequal length, summed up by what it attends to."""
    words, lengths, y = (
        tf.placeholder(tf.int32, [batch, longest]),
        tf.placeholder(tf.int32, [batch]),
        tf.placeholder(tf.int32, [batch]),
    )
    embedded = tf.nn.embedding_lookup(tf.get_variable("embedding", [5000, width]), words)
    cells = [tf.nn.rnn_cell.GRUCell(width) for _ in range(2)]
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(*cells, embedded, lengths, dtype=tf.float32)
    outputs = tf.concat(outputs, 2)
    scores = tf.layers.dense(tf.layers.dense(outputs, width, tf.tanh), 1, use_bias=False)[:, :, 0]
    scores += (1.0 - tf.sequence_mask(lengths, longest, tf.float32)) * -1e9
    summary = tf.reduce_sum(outputs * tf.expand_dims(tf.nn.softmax(scores), 2), 1)
    feeds = {
        words: RANDOM.randint(0, 5000, (batch, longest)),
        lengths: RANDOM.randint(5, longest, batch),
        y: RANDOM.randint(0, 5, batch),
    }
    return adam(tf, tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(summary, 5))), feeds


@program
def unrolled_lstm(tf, steps=20, batch=20, width=200, words=10000):
    """A language model of two layers whose steps are nodes of their own, with clipped gradients."""
    x, y = tf.placeholder(tf.int32, [batch, steps]), tf.placeholder(tf.int32, [batch, steps])
    embedded = tf.nn.embedding_lookup(tf.get_variable("embedding", [words, width]), x)
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(width) for _ in range(2)])
    outputs, _ = tf.nn.static_rnn(cell, tf.unstack(embedded, axis=1), dtype=tf.float32)
    logits = tf.layers.dense(tf.stack(outputs, 1), words)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
    train = tf.train.GradientDescentOptimizer(0.5).apply_gradients(zip(gradients, variables))
    return [train, loss], {x: RANDOM.randint(0, words, (batch, steps)), y: RANDOM.randint(0, words, (batch, steps))}


@program
def looped_lstm(tf, steps=28, batch=128, width=128):
    """Digits row by row, in a loop over time."""
    x, y = tf.placeholder(tf.float32, [None, steps, 28]), tf.placeholder(tf.int32, [None])
    _, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(width), x, dtype=tf.float32)
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(state.h, 10))
    return adam(tf, loss), {x: RANDOM.rand(batch, steps, 28), y: RANDOM.randint(0, 10, batch)}
