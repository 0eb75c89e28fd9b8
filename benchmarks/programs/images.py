"""Programs over images."""

from benchmarks.programs.registry import RANDOM, adam, program


@program
def residual_network(tf):
    x, y = tf.placeholder(tf.float32, [16, 32, 32, 3]), tf.placeholder(tf.int32, [16])

    def block(h, channels, stride=1):
        h = tf.layers.conv2d(h, channels, 3, stride, "same", use_bias=False)
        return tf.nn.relu(tf.layers.batch_normalization(h, training=True))

    h = block(x, 16)
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        shortcut = h if stride == 1 else tf.layers.conv2d(h, channels, 1, stride)
        h = tf.nn.relu(block(block(h, channels, stride), channels) + shortcut)
    logits = tf.layers.dense(tf.reduce_mean(h, [1, 2]), 10)
    return adam(tf, tf.losses.sparse_softmax_cross_entropy(y, logits)), {
        x: RANDOM.rand(16, 32, 32, 3),
        y: RANDOM.randint(0, 10, 16),
    }


@program
def adversarial_networks(tf):
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
def variational_autoencoder(tf):
    x = tf.placeholder(tf.float32, [100, 784])
    h = tf.layers.dense(x, 400, tf.nn.softplus)
    mean, log_variance = tf.layers.dense(h, 20), tf.layers.dense(h, 20)
    z = mean + tf.exp(0.5 * log_variance) * tf.random_normal([100, 20])
    logits = tf.layers.dense(tf.layers.dense(z, 400, tf.nn.softplus), 784)
    reconstruction = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
    divergence = -0.5 * tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance), 1)
    return adam(tf, tf.reduce_mean(reconstruction + divergence)), {x: RANDOM.rand(100, 784)}


@program
def lenet(tf, batch=64):
    x, y = tf.placeholder(tf.float32, [None, 28, 28, 1]), tf.placeholder(tf.int64, [None])
    h = x
    for channels in (32, 64):
        h = tf.layers.max_pooling2d(tf.layers.conv2d(h, channels, 5, padding="same", activation=tf.nn.relu), 2, 2)
    h = tf.layers.dropout(tf.layers.dense(tf.layers.flatten(h), 1024, tf.nn.relu), 0.5, training=True)
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(h, 10))
    return adam(tf, loss), {x: RANDOM.rand(batch, 28, 28, 1), y: RANDOM.randint(0, 10, batch)}
