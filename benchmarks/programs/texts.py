"""Programs over texts, by convolution, attention and neighbourhood."""

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
def word_vectors(tf, words=50000, width=128, batch=128, drawn=64):
    """Skip-grams with noise-contrastive estimation: a few rows of large tables change at each step."""
    word, neighbour = tf.placeholder(tf.int32, [batch]), tf.placeholder(tf.int64, [batch, 1])
    vectors = tf.get_variable("vectors", [words, width])
    weights, biases = tf.get_variable("weights", [words, width]), tf.get_variable("biases", [words])
    found = tf.nn.embedding_lookup(vectors, word)
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, neighbour, found, drawn, words))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    return [train, loss], {word: RANDOM.randint(0, words, batch), neighbour: RANDOM.randint(0, words, (batch, 1))}
