"""A denoising autoencoder with tied weights: 784 pixels through 64 numbers and back.

Run:     everflow run examples/autoencoder.py
Expect:  the mean squared error of a pixel falls from 0.21 to 0.004.
"""

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("data_dir", "/tmp/tensorflow/mnist/input_data", "Directory for storing input data")
flags.DEFINE_integer("training_epochs", 30, "Passes over the training images")
flags.DEFINE_integer("batch_size", 64, "Images in a batch")
flags.DEFINE_integer("n_hidden", 64, "Size of the code")
flags.DEFINE_float("noise", 0.1, "Standard deviation of the noise added to the input")
FLAGS = flags.FLAGS


def xavier_init(fan_in, fan_out, constant=1):
    low = -constant * np.sqrt(6.0 / (fan_in + fan_out))
    high = constant * np.sqrt(6.0 / (fan_in + fan_out))
    return tf.random_uniform((fan_in, fan_out), minval=low, maxval=high, dtype=tf.float32)


class DenoisingAutoencoder(object):
    def __init__(
        self, n_input, n_hidden, transfer_function=tf.nn.softplus, optimizer=tf.train.AdamOptimizer(), scale=0.1
    ):
        self.scale = tf.placeholder(tf.float32)
        self.training_scale = scale
        self.weights = self._initialize_weights(n_input, n_hidden)

        # model
        self.x = tf.placeholder(tf.float32, [None, n_input])
        noisy = self.x + self.scale * tf.random_normal(tf.shape(self.x))
        self.hidden = transfer_function(tf.add(tf.matmul(noisy, self.weights["w1"]), self.weights["b1"]))
        self.logits = tf.add(tf.matmul(self.hidden, self.weights["w1"], transpose_b=True), self.weights["b2"])
        self.reconstruction = tf.sigmoid(self.logits)

        # cost
        self.error = tf.reduce_mean(tf.pow(tf.subtract(self.reconstruction, self.x), 2.0))
        self.cost = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=self.logits, labels=self.x))
        self.optimizer = optimizer.minimize(self.cost)

        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    def _initialize_weights(self, n_input, n_hidden):
        all_weights = dict()
        all_weights["w1"] = tf.Variable(xavier_init(n_input, n_hidden))
        all_weights["b1"] = tf.Variable(tf.zeros([n_hidden], dtype=tf.float32))
        all_weights["b2"] = tf.Variable(tf.zeros([n_input], dtype=tf.float32))
        return all_weights

    def partial_fit(self, X):
        cost, _ = self.sess.run((self.cost, self.optimizer), feed_dict={self.x: X, self.scale: self.training_scale})
        return cost

    def calc_error(self, X):
        return self.sess.run(self.error, feed_dict={self.x: X, self.scale: 0.0})

    def transform(self, X):
        return self.sess.run(self.hidden, feed_dict={self.x: X, self.scale: 0.0})

    def generate(self, hidden):
        return self.sess.run(self.reconstruction, feed_dict={self.hidden: hidden})


def show(image):
    for row in image.reshape(28, 28)[::2]:
        print("".join(" .:-=+*#%@"[int(v * 9.99)] for v in row))


def main(_):
    tf.set_random_seed(2)
    mnist = input_data.read_data_sets(FLAGS.data_dir, one_hot=True, seed=2)
    autoencoder = DenoisingAutoencoder(784, FLAGS.n_hidden, scale=FLAGS.noise)
    print("error before training %.4f" % autoencoder.calc_error(mnist.test.images))
    for epoch in range(FLAGS.training_epochs):
        total_batch = mnist.train.num_examples // FLAGS.batch_size
        avg_cost = 0.0
        for _ in range(total_batch):
            batch_xs, _ = mnist.train.next_batch(FLAGS.batch_size)
            avg_cost += autoencoder.partial_fit(batch_xs) / total_batch
        if epoch % 5 == 0 or epoch == FLAGS.training_epochs - 1:
            print("Epoch:", "%04d" % (epoch + 1), "cost=", "{:.6f}".format(avg_cost))
    code = autoencoder.transform(mnist.test.images[:1])
    print("a digit, and what comes back through %d numbers:" % code.shape[1])
    show(mnist.test.images[0])
    show(autoencoder.generate(code)[0])
    print("error after training %.4f" % autoencoder.calc_error(mnist.test.images))


if __name__ == "__main__":
    tf.app.run()
