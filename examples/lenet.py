"""LeNet-5 with L2 regularisation through a collection, a decaying learning rate, moving averages of the
weights that are used for evaluation, and checkpoints from which training goes on.

Run:     everflow run examples/lenet.py
Expect:  a test accuracy of about 0.986, both with the last and with the averaged weights, after 300 steps.
"""

import os
import time

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

INPUT_NODE = 784
OUTPUT_NODE = 10
IMAGE_SIZE = 28
CONV1_DEEP, CONV1_SIZE = 32, 5
CONV2_DEEP, CONV2_SIZE = 64, 5
FC_SIZE = 512

BATCH_SIZE = 50
LEARNING_RATE_BASE = 0.05
LEARNING_RATE_DECAY = 0.99
REGULARIZATION_RATE = 0.0001
MOVING_AVERAGE_DECAY = 0.99

tf.app.flags.DEFINE_string("data_dir", "/tmp/tensorflow/mnist/input_data", "Directory for storing input data")
tf.app.flags.DEFINE_string("model_dir", None, "Where to save checkpoints, and to look for one to start from")
tf.app.flags.DEFINE_integer("steps", 300, "Train until this global step")
FLAGS = tf.app.flags.FLAGS


def get_weight_variable(shape, regularizer):
    weights = tf.get_variable("weights", shape, initializer=tf.truncated_normal_initializer(stddev=0.1))
    if regularizer is not None:
        tf.add_to_collection("losses", regularizer(weights))
    return weights


def inference(input_tensor, train, regularizer):
    with tf.variable_scope("layer1-conv1"):
        conv1_weights = get_weight_variable([CONV1_SIZE, CONV1_SIZE, 1, CONV1_DEEP], None)
        conv1_biases = tf.get_variable("biases", [CONV1_DEEP], initializer=tf.constant_initializer(0.0))
        conv1 = tf.nn.conv2d(input_tensor, conv1_weights, strides=[1, 1, 1, 1], padding="SAME")
        relu1 = tf.nn.relu(tf.nn.bias_add(conv1, conv1_biases))

    with tf.name_scope("layer2-pool1"):
        pool1 = tf.nn.max_pool(relu1, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")

    with tf.variable_scope("layer3-conv2"):
        conv2_weights = get_weight_variable([CONV2_SIZE, CONV2_SIZE, CONV1_DEEP, CONV2_DEEP], None)
        conv2_biases = tf.get_variable("biases", [CONV2_DEEP], initializer=tf.constant_initializer(0.0))
        conv2 = tf.nn.conv2d(pool1, conv2_weights, strides=[1, 1, 1, 1], padding="SAME")
        relu2 = tf.nn.relu(tf.nn.bias_add(conv2, conv2_biases))

    with tf.name_scope("layer4-pool2"):
        pool2 = tf.nn.max_pool(relu2, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
        pool_shape = pool2.get_shape().as_list()
        nodes = pool_shape[1] * pool_shape[2] * pool_shape[3]
        reshaped = tf.reshape(pool2, [-1, nodes])

    with tf.variable_scope("layer5-fc1"):
        fc1_weights = get_weight_variable([nodes, FC_SIZE], regularizer)
        fc1_biases = tf.get_variable("biases", [FC_SIZE], initializer=tf.constant_initializer(0.1))
        fc1 = tf.nn.relu(tf.matmul(reshaped, fc1_weights) + fc1_biases)
        fc1 = tf.cond(train, lambda: tf.nn.dropout(fc1, 0.5), lambda: fc1)

    with tf.variable_scope("layer6-fc2"):
        fc2_weights = get_weight_variable([FC_SIZE, OUTPUT_NODE], regularizer)
        fc2_biases = tf.get_variable("biases", [OUTPUT_NODE], initializer=tf.constant_initializer(0.1))
        logit = tf.matmul(fc1, fc2_weights) + fc2_biases

    return logit


def main(argv=None):
    tf.set_random_seed(1)
    mnist = input_data.read_data_sets(FLAGS.data_dir, one_hot=True, seed=1)

    x = tf.placeholder(tf.float32, [None, IMAGE_SIZE, IMAGE_SIZE, 1], name="x-input")
    y_ = tf.placeholder(tf.float32, [None, OUTPUT_NODE], name="y-input")
    train = tf.placeholder_with_default(False, [], name="train")
    regularizer = tf.contrib.layers.l2_regularizer(REGULARIZATION_RATE)
    y = inference(x, train, regularizer)
    global_step = tf.Variable(0, trainable=False)

    variable_averages = tf.train.ExponentialMovingAverage(MOVING_AVERAGE_DECAY, global_step)
    variables_averages_op = variable_averages.apply(tf.trainable_variables())
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=y, labels=tf.argmax(y_, 1))
    loss = tf.reduce_mean(cross_entropy) + tf.add_n(tf.get_collection("losses"))
    learning_rate = tf.train.exponential_decay(
        LEARNING_RATE_BASE, global_step, mnist.train.num_examples / BATCH_SIZE, LEARNING_RATE_DECAY, staircase=True
    )
    train_step = tf.train.GradientDescentOptimizer(learning_rate).minimize(loss, global_step=global_step)
    with tf.control_dependencies([train_step, variables_averages_op]):
        train_op = tf.no_op(name="train_op")

    correct_prediction = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
    accuracy = tf.reduce_mean(tf.cast(correct_prediction, tf.float32))

    saver = tf.train.Saver()
    # Under the names of the averages, the same variables can be filled with the averaged values.
    average_saver = tf.train.Saver(variable_averages.variables_to_restore())
    model_dir = FLAGS.model_dir or os.path.join(tf.test.get_temp_dir(), "lenet")
    tf.gfile.MakeDirs(model_dir)
    test_feed = {x: np.reshape(mnist.test.images[:1000], [-1, IMAGE_SIZE, IMAGE_SIZE, 1]), y_: mnist.test.labels[:1000]}

    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        ckpt = tf.train.get_checkpoint_state(model_dir) if FLAGS.model_dir else None
        if ckpt and ckpt.model_checkpoint_path:
            saver.restore(sess, ckpt.model_checkpoint_path)
            print("going on from", os.path.basename(ckpt.model_checkpoint_path))
        start, step = time.time(), sess.run(global_step)
        while step < FLAGS.steps:
            xs, ys = mnist.train.next_batch(BATCH_SIZE)
            xs = np.reshape(xs, [BATCH_SIZE, IMAGE_SIZE, IMAGE_SIZE, 1])
            _, loss_value, step = sess.run([train_op, loss, global_step], feed_dict={x: xs, y_: ys, train: True})
            if step % 50 == 0:
                print(
                    "After %d training step(s), loss on training batch is %g. (%.1f s)"
                    % (step, loss_value, time.time() - start)
                )
        path = saver.save(sess, os.path.join(model_dir, "model.ckpt"), global_step=global_step)
        print("accuracy with the last weights     %.4f" % sess.run(accuracy, test_feed))
        average_saver.restore(sess, path)
        print("accuracy with the averaged weights %.4f" % sess.run(accuracy, test_feed))


if __name__ == "__main__":
    tf.app.run()
