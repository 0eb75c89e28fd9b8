"""A first program: softmax regression on MNIST, the tutorial everybody began with.

Run:     everflow run examples/mnist_softmax.py
Expect:  about 0.92 on MNIST itself; 0.978 with the 1,797 small digits that stand in for it without a network.
"""

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("data_dir", "/tmp/tensorflow/mnist/input_data", "Directory for storing input data")
flags.DEFINE_integer("steps", 1000, "Number of batches to train on")
FLAGS = flags.FLAGS


def main(_):
    tf.set_random_seed(0)
    mnist = input_data.read_data_sets(FLAGS.data_dir, one_hot=True, seed=0)

    # Create the model
    x = tf.placeholder(tf.float32, [None, 784])
    W = tf.Variable(tf.zeros([784, 10]))
    b = tf.Variable(tf.zeros([10]))
    y = tf.matmul(x, W) + b

    # Define loss and optimizer
    y_ = tf.placeholder(tf.float32, [None, 10])
    cross_entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y_, logits=y))
    train_step = tf.train.GradientDescentOptimizer(0.5).minimize(cross_entropy)

    sess = tf.InteractiveSession()
    tf.global_variables_initializer().run()

    # Train
    for i in range(1, FLAGS.steps + 1):
        batch_xs, batch_ys = mnist.train.next_batch(100)
        _, loss = sess.run([train_step, cross_entropy], feed_dict={x: batch_xs, y_: batch_ys})
        if i % 100 == 0:
            print("step %d, loss %.4f" % (i, loss))

    # Test trained model
    correct_prediction = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
    accuracy = tf.reduce_mean(tf.cast(correct_prediction, tf.float32))
    print("test accuracy %.4f" % accuracy.eval({x: mnist.test.images, y_: mnist.test.labels}))


if __name__ == "__main__":
    tf.app.run()
