"""Programs over texts, by convolution, attention and recurrence."""

from benchmarks.programs.registry import RANDOM, adam, program


@program
def text_cnn(tf):
    words, y = tf.placeholder(tf.int32, [64, 50]), tf.placeholder(tf.int32, [64])
    h = tf.expand_dims(tf.nn.embedding_lookup(tf.get_variable("embedding", [10000, 128]), words), -1)
    pooled = []
    for height in (3, 4, 5):
        found = tf.nn.relu(
            tf.nn.conv2d(h, tf.get_variable(f"filter_{height}", [height, 128, 1, 64]), [1, 1, 1, 1], "VALID") + 0.1
        )
        pooled.append(tf.nn.max_pool(found, [1, 51 - height, 1, 1], [1, 1, 1, 1], "VALID"))
    logits = tf.layers.dense(tf.nn.dropout(tf.reshape(tf.concat(pooled, 3), [-1, 192]), 0.5), 2)
    return adam(tf, tf.losses.sparse_softmax_cross_entropy(y, logits)), {
        words: RANDOM.randint(0, 10000, (64, 50)),
        y: RANDOM.randint(0, 2, 64),
    }


@program
def small_transformer(tf, batch=8, length=64, width=96, heads=4):
    words, y = tf.placeholder(tf.int32, [batch, length]), tf.placeholder(tf.int32, [batch])

    def normed(x):
        return tf.contrib.layers.layer_norm(x, begin_norm_axis=-1, begin_params_axis=-1)

    def split(x):
        return tf.transpose(tf.reshape(tf.layers.dense(x, width), [batch, length, heads, width // heads]), [0, 2, 1, 3])

    x = tf.gather(tf.get_variable("embedding", [5000, width]), words) + tf.get_variable("positions", [length, width])
    for _ in range(2):
        query, key, value = split(x), split(x), split(x)
        weights = tf.nn.dropout(tf.nn.softmax(tf.matmul(query, key, transpose_b=True) * (width // heads) ** -0.5), 0.9)
        seen = tf.reshape(tf.transpose(tf.matmul(weights, value), [0, 2, 1, 3]), [batch, length, width])
        x = normed(x + tf.nn.dropout(tf.layers.dense(seen, width), 0.9))
        inner = tf.layers.dense(x, 4 * width)
        inner *= 0.5 * (1.0 + tf.erf(inner / 2.0**0.5))
        x = normed(x + tf.nn.dropout(tf.layers.dense(inner, width), 0.9))
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x[:, 0], 2))
    return adam(tf, loss), {words: RANDOM.randint(0, 5000, (batch, length)), y: RANDOM.randint(0, 2, batch)}


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
