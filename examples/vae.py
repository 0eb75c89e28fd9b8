"""A variational autoencoder of digits: a two-layer encoder to the mean and variance of a few latent numbers,
samples of those, and a decoder back to pixels.

Run:     everflow run examples/vae.py
Expect:  the cost of an image (cross entropy and divergence, in nats) falls from 579 to 142; a drawn sample looks like a digit.
"""

import time

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("data_dir", "/tmp/tensorflow/mnist/input_data", "Directory for storing input data")
flags.DEFINE_integer("steps", 1000, "Number of batches to train on")
flags.DEFINE_integer("batch_size", 100, "Images in a batch")
flags.DEFINE_integer("n_z", 8, "Size of the latent space")
flags.DEFINE_integer("hidden", 200, "Units in each hidden layer")
FLAGS = flags.FLAGS


class VariationalAutoencoder(object):
    def __init__(self, learning_rate=0.001):
        self.x = tf.placeholder(tf.float32, [None, 784])
        with tf.variable_scope("recognition"):
            net = self._mlp(self.x)
            self.z_mean = tf.layers.dense(net, FLAGS.n_z, name="z_mean")
            self.z_log_sigma_sq = tf.layers.dense(net, FLAGS.n_z, name="z_log_sigma_sq")
        # Draw one sample z from a Gaussian: z = mu + sigma * epsilon
        eps = tf.random_normal(tf.shape(self.z_mean), 0, 1, dtype=tf.float32)
        self.z = tf.add(self.z_mean, tf.multiply(tf.sqrt(tf.exp(self.z_log_sigma_sq)), eps))
        with tf.variable_scope("generator"):
            logits = tf.layers.dense(self._mlp(self.z), 784, name="pixels")
        self.x_reconstr_mean = tf.nn.sigmoid(logits)

        reconstr_loss = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=self.x, logits=logits), 1)
        latent_loss = -0.5 * tf.reduce_sum(
            1 + self.z_log_sigma_sq - tf.square(self.z_mean) - tf.exp(self.z_log_sigma_sq), 1
        )
        self.latent_cost = tf.reduce_mean(latent_loss)
        self.cost = tf.reduce_mean(reconstr_loss + latent_loss)
        self.optimizer = tf.train.AdamOptimizer(learning_rate=learning_rate).minimize(self.cost)

    def _mlp(self, net):
        for i in range(2):
            net = tf.layers.dense(
                net,
                FLAGS.hidden,
                activation=tf.nn.softplus,
                name="hidden%d" % i,
                kernel_initializer=tf.contrib.layers.xavier_initializer(),
            )
        return net


def main(_):
    np.random.seed(0)
    tf.set_random_seed(0)
    mnist = input_data.read_data_sets(FLAGS.data_dir, one_hot=True, seed=0)
    vae = VariationalAutoencoder()
    start = time.time()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        print("test cost before training %.1f" % sess.run(vae.cost, {vae.x: mnist.test.images}))
        for step in range(1, FLAGS.steps + 1):
            batch_xs, _ = mnist.train.next_batch(FLAGS.batch_size)
            _, cost, latent = sess.run([vae.optimizer, vae.cost, vae.latent_cost], {vae.x: batch_xs})
            if step % 200 == 0:
                print("step %d, cost %.2f, of it divergence %.2f, %.1f s" % (step, cost, latent, time.time() - start))
        sample = sess.run(vae.x_reconstr_mean, {vae.z: np.random.normal(size=[1, FLAGS.n_z])})
        print("a digit nobody wrote:")
        for row in sample.reshape(28, 28)[::2]:
            print("".join(" .:-=+*#%@"[int(v * 9.99)] for v in row))
        print("test cost after training %.1f" % sess.run(vae.cost, {vae.x: mnist.test.images}))


if __name__ == "__main__":
    tf.app.run()
