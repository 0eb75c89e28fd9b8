"""Programs that learn to act."""

from benchmarks.programs.registry import RANDOM, program


@program
def dqn(tf):
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
def actor_critic(tf, steps=20, actions=4):
    """A policy and the values of states over one trunk, after twenty steps of an environment."""
    seen, taken, returns = (
        tf.placeholder(tf.float32, [steps, 8]),
        tf.placeholder(tf.int32, [steps]),
        tf.placeholder(tf.float32, [steps]),
    )
    h = tf.layers.dense(tf.layers.dense(seen, 64, tf.tanh), 64, tf.tanh)
    logits, value = tf.layers.dense(h, actions), tf.squeeze(tf.layers.dense(h, 1), 1)
    log_policy = tf.nn.log_softmax(logits)
    chosen = tf.reduce_sum(log_policy * tf.one_hot(taken, actions), 1)
    entropy = -tf.reduce_mean(tf.reduce_sum(tf.nn.softmax(logits) * log_policy, 1))
    advantage = returns - value
    loss = -tf.reduce_mean(chosen * tf.stop_gradient(advantage)) - 0.01 * entropy
    loss += 0.5 * tf.reduce_mean(tf.square(advantage))
    variables = tf.trainable_variables()
    gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 0.5)
    train = tf.train.RMSPropOptimizer(7e-4, 0.99, epsilon=1e-5).apply_gradients(zip(gradients, variables))
    feeds = {seen: RANDOM.randn(steps, 8), taken: RANDOM.randint(0, actions, steps), returns: RANDOM.randn(steps)}
    return [train, loss, entropy, norm], feeds
