"""Programs over rows of columns."""

from benchmarks.programs.registry import RANDOM, program


@program
def wide_and_deep(tf):
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
