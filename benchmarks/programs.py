"""Steps of small programs of well-known kinds, in milliseconds; beside another TensorFlow if you have one.

python benchmarks/programs.py                              all of them
python benchmarks/programs.py text_cnn dqn                 some
python benchmarks/programs.py --against old/bin/python     in turns with the TensorFlow 1.x of that interpreter, as
ratios
"""

import argparse
import json
import subprocess
import sys
import time

import numpy as np

RANDOM = np.random.RandomState(0)
PROGRAMS = {}


def program(build):
    """Note a function that draws a program into the default graph and returns (fetches, feeds)."""
    PROGRAMS[build.__name__] = build
    return build


def adam(loss):
    return [tf.train.AdamOptimizer(1e-3).minimize(loss), loss]


@program
def residual_network():
    x, y = tf.placeholder(tf.float32, [16, 32, 32, 3]), tf.placeholder(tf.int32, [16])

    def block(h, channels, stride=1):
        h = tf.layers.conv2d(h, channels, 3, stride, "same", use_bias=False)
        return tf.nn.relu(tf.layers.batch_normalization(h, training=True))

    h = block(x, 16)
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        shortcut = h if stride == 1 else tf.layers.conv2d(h, channels, 1, stride)
        h = tf.nn.relu(block(block(h, channels, stride), channels) + shortcut)
    logits = tf.layers.dense(tf.reduce_mean(h, [1, 2]), 10)
    return adam(tf.losses.sparse_softmax_cross_entropy(y, logits)), {
        x: RANDOM.rand(16, 32, 32, 3),
        y: RANDOM.randint(0, 10, 16),
    }


@program
def adversarial_networks():
    z, images = tf.placeholder(tf.float32, [16, 64]), tf.placeholder(tf.float32, [16, 28, 28, 1])
    with tf.variable_scope("generator"):
        h = tf.nn.relu(
            tf.layers.batch_normalization(tf.reshape(tf.layers.dense(z, 7 * 7 * 32), [-1, 7, 7, 32]), training=True)
        )
        made = tf.tanh(
            tf.layers.conv2d_transpose(tf.nn.relu(tf.layers.conv2d_transpose(h, 16, 5, 2, "same")), 1, 5, 2, "same")
        )

    def judged(x, reuse=None):
        with tf.variable_scope("judge", reuse=reuse):
            for channels in (16, 32):
                x = tf.layers.conv2d(x, channels, 5, 2, "same")
                x = tf.maximum(x, 0.2 * x)
            return tf.layers.dense(tf.layers.flatten(x), 1)

    def cost(logits, truth):
        return tf.reduce_mean(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=truth * tf.ones_like(logits), logits=logits)
        )

    real, false = judged(images), judged(made, True)
    steps = [
        tf.train.AdamOptimizer(2e-4, 0.5).minimize(loss, var_list=tf.trainable_variables(scope))
        for scope, loss in (("judge", cost(real, 1.0) + cost(false, 0.0)), ("generator", cost(false, 1.0)))
    ]
    return steps, {z: RANDOM.rand(16, 64), images: RANDOM.rand(16, 28, 28, 1)}


@program
def text_cnn():
    words, y = tf.placeholder(tf.int32, [64, 50]), tf.placeholder(tf.int32, [64])
    h = tf.expand_dims(tf.nn.embedding_lookup(tf.get_variable("embedding", [10000, 128]), words), -1)
    pooled = []
    for height in (3, 4, 5):
        found = tf.nn.relu(
            tf.nn.conv2d(h, tf.get_variable(f"filter_{height}", [height, 128, 1, 64]), [1, 1, 1, 1], "VALID") + 0.1
        )
        pooled.append(tf.nn.max_pool(found, [1, 51 - height, 1, 1], [1, 1, 1, 1], "VALID"))
    logits = tf.layers.dense(tf.nn.dropout(tf.reshape(tf.concat(pooled, 3), [-1, 192]), 0.5), 2)
    return adam(tf.losses.sparse_softmax_cross_entropy(y, logits)), {
        words: RANDOM.randint(0, 10000, (64, 50)),
        y: RANDOM.randint(0, 2, 64),
    }


@program
def tagger():
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
    return adam(-tf.reduce_mean(likelihood)), feeds


@program
def translator():
    """An encoder of both directions and a decoder with attention."""
    source, target, lengths = (
        tf.placeholder(tf.int32, [32, 20]),
        tf.placeholder(tf.int32, [32, 15]),
        tf.placeholder(tf.int32, [32]),
    )
    embedding = tf.get_variable("embedding", [2000, 64])
    cells = [tf.nn.rnn_cell.GRUCell(64) for _ in range(2)]
    outputs, state = tf.nn.bidirectional_dynamic_rnn(
        *cells, tf.nn.embedding_lookup(embedding, source), lengths, dtype=tf.float32
    )
    attention = tf.contrib.seq2seq.BahdanauAttention(64, tf.concat(outputs, 2), lengths)
    cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(128), attention, 64)
    helper = tf.contrib.seq2seq.TrainingHelper(tf.nn.embedding_lookup(embedding, target), tf.fill([32], 15))
    start = cell.zero_state(32, tf.float32).clone(cell_state=tf.concat(state, 1))
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, start, tf.layers.Dense(2000))
    loss = tf.contrib.seq2seq.sequence_loss(
        tf.contrib.seq2seq.dynamic_decode(decoder)[0].rnn_output, target, tf.ones([32, 15])
    )
    feeds = {
        source: RANDOM.randint(0, 2000, (32, 20)),
        target: RANDOM.randint(0, 2000, (32, 15)),
        lengths: RANDOM.randint(5, 20, 32),
    }
    return adam(loss), feeds


@program
def beam_search():
    """What a translator does when it is used: the five best sentences for each of sixteen, without training."""
    memory, lengths = tf.placeholder(tf.float32, [16, 20, 64]), tf.placeholder(tf.int32, [16])
    wide, longer = (tf.contrib.seq2seq.tile_batch(t, 5) for t in (memory, lengths))
    cell = tf.contrib.seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.LSTMCell(64), tf.contrib.seq2seq.LuongAttention(64, wide, longer), 64
    )
    embedding, start, output = (
        tf.get_variable("embedding", [1000, 64]),
        cell.zero_state(80, tf.float32),
        tf.layers.Dense(1000),
    )
    decoder = tf.contrib.seq2seq.BeamSearchDecoder(
        cell, embedding, tf.fill([16], 1), 2, start, 5, output, length_penalty_weight=0.6
    )
    sentences = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=30)[0].predicted_ids
    return [sentences], {memory: RANDOM.randn(16, 20, 64), lengths: RANDOM.randint(5, 20, 16)}


@program
def character_rnn():
    x, y = tf.placeholder(tf.int32, [32, 50]), tf.placeholder(tf.int32, [32, 50])
    cells = [tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(128), output_keep_prob=0.8) for _ in range(2)]
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell(cells), tf.one_hot(x, 80), dtype=tf.float32)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.layers.dense(outputs, 80)))
    return adam(loss), {x: RANDOM.randint(0, 80, (32, 50)), y: RANDOM.randint(0, 80, (32, 50))}


@program
def variational_autoencoder():
    x = tf.placeholder(tf.float32, [100, 784])
    h = tf.layers.dense(x, 400, tf.nn.softplus)
    mean, log_variance = tf.layers.dense(h, 20), tf.layers.dense(h, 20)
    z = mean + tf.exp(0.5 * log_variance) * tf.random_normal([100, 20])
    logits = tf.layers.dense(tf.layers.dense(z, 400, tf.nn.softplus), 784)
    reconstruction = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
    divergence = -0.5 * tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance), 1)
    return adam(tf.reduce_mean(reconstruction + divergence)), {x: RANDOM.rand(100, 784)}


@program
def dqn():
    screens, actions, targets = (
        tf.placeholder(tf.float32, [32, 84, 84, 4]),
        tf.placeholder(tf.int32, [32]),
        tf.placeholder(tf.float32, [32]),
    )
    h = screens
    for channels, size, stride in ((32, 8, 4), (64, 4, 2), (64, 3, 1)):
        h = tf.layers.conv2d(h, channels, size, stride, activation=tf.nn.relu)
    values = tf.layers.dense(tf.layers.dense(tf.layers.flatten(h), 512, tf.nn.relu), 6)
    loss = tf.losses.huber_loss(targets, tf.reduce_sum(values * tf.one_hot(actions, 6), 1))
    train = tf.train.RMSPropOptimizer(2.5e-4, 0.95, epsilon=0.01).minimize(loss)
    return [train, loss], {
        screens: RANDOM.rand(32, 84, 84, 4),
        actions: RANDOM.randint(0, 6, 32),
        targets: RANDOM.rand(32),
    }


@program
def wide_and_deep():
    ids, numbers, y = (
        tf.placeholder(tf.int64, [256, 20]),
        tf.placeholder(tf.float32, [256, 13]),
        tf.placeholder(tf.float32, [256]),
    )
    wide = tf.reduce_sum(tf.nn.embedding_lookup(tf.get_variable("wide", [100000, 1]), ids), [1, 2])
    deep = tf.concat(
        [tf.reshape(tf.nn.embedding_lookup(tf.get_variable("deep", [100000, 16]), ids), [256, -1]), numbers], 1
    )
    for units in (128, 64, 1):
        deep = tf.layers.dense(deep, units, tf.nn.relu if units > 1 else None)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=wide + tf.squeeze(deep, 1)))
    feeds = {ids: RANDOM.randint(0, 100000, (256, 20)), numbers: RANDOM.rand(256, 13), y: RANDOM.randint(0, 2, 256)}
    return [tf.train.AdagradOptimizer(0.05).minimize(loss), loss], feeds


@program
def small_transformer(batch=8, length=64, width=96, heads=4):
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
    return adam(loss), {words: RANDOM.randint(0, 5000, (batch, length)), y: RANDOM.randint(0, 2, batch)}


def milliseconds(build, seconds: float) -> float:
    """What a step takes; of the steps, a quarter was quicker."""
    with tf.Graph().as_default(), tf.Session() as session:
        fetches, feeds = build()
        session.run(tf.global_variables_initializer())
        for _ in range(15):
            session.run(fetches, feeds)
        times, end = [], time.perf_counter() + seconds
        while len(times) < 5 or time.perf_counter() < end:
            start = time.perf_counter()
            session.run(fetches, feeds)
            times.append(time.perf_counter() - start)
    return 1e3 * float(np.percentile(times, 25))


def elsewhere(python: str, name: str, seconds: float) -> float:
    """The same under another interpreter."""
    command = [python, __file__, name, "--tensorflow", "--seconds", str(seconds)]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()[-1])[name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="program", help=", ".join(PROGRAMS))
    parser.add_argument("--against", metavar="PYTHON", help="an interpreter that has TensorFlow 1.x")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each program")
    parser.add_argument("--tensorflow", action="store_true", help="use this interpreter's TensorFlow, and print JSON")
    options = parser.parse_args()
    global tf
    if options.tensorflow:
        import tensorflow as tf
    else:
        import everflow as tf
    for name in options.names or PROGRAMS:
        ours = milliseconds(PROGRAMS[name], options.seconds)
        if options.tensorflow:
            print(json.dumps({name: ours}))
        elif options.against:
            theirs = elsewhere(options.against, name, options.seconds)
            print(f"{name:25} {ours:8.2f} ms   TensorFlow {theirs:8.2f} ms   {theirs / ours:5.2f}x", flush=True)
        else:
            print(f"{name:25} {ours:8.2f} ms", flush=True)


if __name__ == "__main__":
    sys.exit(main())
