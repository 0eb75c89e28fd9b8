"""The least that programs do: what a run costs by itself, a line through points, and arithmetic on many numbers."""

import numpy as np

from benchmarks.programs.registry import RANDOM, program


@program
def scalars(tf):
    """Three operations on single numbers: what a run costs by itself."""
    a, b, c = (tf.placeholder(tf.float32, []) for _ in range(3))
    return [(a + b) * c - a], {a: 1.0, b: 2.0, c: 3.0}


@program
def linear(tf, batch=64, features=4):
    """A line through points, by gradient descent."""
    x, y = tf.placeholder(tf.float32, [None, features]), tf.placeholder(tf.float32, [None])
    w, b = tf.Variable(tf.zeros([features, 1])), tf.Variable(0.0)
    loss = tf.reduce_mean(tf.squared_difference(tf.squeeze(tf.matmul(x, w), 1) + b, y))
    train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
    return [train, loss], {x: RANDOM.rand(batch, features), y: RANDOM.rand(batch)}


@program
def perceptron(tf, batch=100, hidden=500):
    """Digits by one hidden layer, with weight decay, a rate that falls, and averages of the weights."""
    x, y = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int64, [None])
    decay = tf.contrib.layers.l2_regularizer(1e-4)
    h = tf.layers.dense(x, hidden, tf.nn.relu, kernel_regularizer=decay)
    logits = tf.layers.dense(h, 10, kernel_regularizer=decay)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits) + tf.losses.get_regularization_loss()
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.1, step, 600, 0.99)
    train = tf.train.GradientDescentOptimizer(rate).minimize(loss, step)
    with tf.control_dependencies([train]):
        averaged = tf.train.ExponentialMovingAverage(0.99, step).apply(tf.trainable_variables())
    return [averaged, loss], {x: RANDOM.rand(batch, 784), y: RANDOM.randint(0, 10, batch)}


@program
def elementwise(tf, size=1000000):
    """Sixty element-wise operations on a million numbers, then their sum."""
    x = tf.placeholder(tf.float32, [size])
    y = x
    for _ in range(10):
        y = tf.sigmoid(y * 1.2 - 0.3) + tf.maximum(y, 0.1) * 0.4
    return [tf.reduce_sum(y)], {x: RANDOM.rand(size).astype(np.float32)}
