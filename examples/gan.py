"""A generative adversarial network: one net invents digits, another tells them from real ones, each trained on
its own half of the variables (by scope), the discriminator shared between real and invented images.

Run:     everflow run examples/gan.py
Expect:  the invented images come near to the real ones: the distance of the mean images falls from 0.42 to 0.06.
"""

import time

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("data_dir", "/tmp/tensorflow/mnist/input_data", "Directory for storing input data")
flags.DEFINE_integer("steps", 3000, "Number of batches to train on")
flags.DEFINE_integer("batch_size", 64, "Images in a batch")
flags.DEFINE_integer("z_dim", 32, "Size of the noise")
FLAGS = flags.FLAGS


def generator(z, reuse=False):
    with tf.variable_scope("generator", reuse=reuse):
        h = tf.layers.dense(z, 128)
        h = tf.nn.leaky_relu(tf.layers.batch_normalization(h, training=True, momentum=0.9))
        return tf.layers.dense(h, 784, activation=tf.nn.sigmoid)


def discriminator(x, reuse=False):
    with tf.variable_scope("discriminator", reuse=reuse):
        h = tf.layers.dense(x, 128, activation=tf.nn.leaky_relu)
        return tf.layers.dense(h, 1)


def sample_Z(m, n):
    return np.random.uniform(-1.0, 1.0, size=[m, n])


def main(_):
    np.random.seed(3)
    tf.set_random_seed(3)
    mnist = input_data.read_data_sets(FLAGS.data_dir, seed=3)

    X = tf.placeholder(tf.float32, shape=[None, 784])
    Z = tf.placeholder(tf.float32, shape=[None, FLAGS.z_dim])
    G_sample = generator(Z)
    D_logit_real = discriminator(X)
    D_logit_fake = discriminator(G_sample, reuse=True)

    D_loss_real = tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(logits=D_logit_real, labels=0.9 * tf.ones_like(D_logit_real))
    )
    D_loss_fake = tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(logits=D_logit_fake, labels=tf.zeros_like(D_logit_fake))
    )
    D_loss = D_loss_real + D_loss_fake
    G_loss = tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(logits=D_logit_fake, labels=tf.ones_like(D_logit_fake))
    )

    theta_D = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="discriminator")
    theta_G = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="generator")
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        D_solver = tf.train.AdamOptimizer(1e-3, beta1=0.5).minimize(D_loss, var_list=theta_D)
        G_solver = tf.train.AdamOptimizer(1e-3, beta1=0.5).minimize(G_loss, var_list=theta_G)

    real_mean = mnist.test.images.mean(axis=0)

    def distance(sess):
        fake = sess.run(G_sample, {Z: sample_Z(512, FLAGS.z_dim)})
        return np.sqrt(np.mean((fake.mean(axis=0) - real_mean) ** 2))

    start = time.time()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        print("distance of the mean images before training %.3f" % distance(sess))
        for it in range(1, FLAGS.steps + 1):
            X_mb, _ = mnist.train.next_batch(FLAGS.batch_size)
            Z_mb = sample_Z(FLAGS.batch_size, FLAGS.z_dim)
            _, D_loss_curr = sess.run([D_solver, D_loss], feed_dict={X: X_mb, Z: Z_mb})
            _, G_loss_curr = sess.run([G_solver, G_loss], feed_dict={Z: Z_mb})
            if it % 250 == 0:
                print(
                    "Iter: {}, D loss: {:.4}, G loss: {:.4}, {:.1f} s".format(
                        it, D_loss_curr, G_loss_curr, time.time() - start
                    )
                )
        sample = sess.run(G_sample, {Z: sample_Z(16, FLAGS.z_dim)})[:2].reshape(2, 28, 28)
        for rows in zip(*sample[:, ::2]):
            print("   ".join("".join(" .:-=+*#%@"[int(v * 9.99)] for v in row) for row in rows))
        print("distance of the mean images after training %.3f" % distance(sess))


if __name__ == "__main__":
    tf.app.run()
