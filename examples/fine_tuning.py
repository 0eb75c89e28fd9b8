"""Transfer learning from a frozen graph, as with the downloaded Inception: a network is trained on the digits 0-4
and frozen to a .pb file; then a new program imports that file, cuts it at its bottleneck, computes the bottleneck
values of a few examples of 5-9 once, and trains a new last layer on them.

Run:     everflow run examples/fine_tuning.py
Expect:  an accuracy of about 0.88 on digits the imported part was never trained on, from 200 examples.
"""

import os

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

slim = tf.contrib.slim

flags = tf.app.flags
flags.DEFINE_string("data_dir", "/tmp/tensorflow/mnist/input_data", "Directory for storing input data")
flags.DEFINE_string("graph", None, "The frozen graph; trained and written there if it does not exist")
flags.DEFINE_integer("pretrain_steps", 300, "Batches for the first network")
flags.DEFINE_integer("steps", 300, "Batches for the new last layer")
flags.DEFINE_integer("examples", 200, "How many images of new digits to learn from")
FLAGS = flags.FLAGS

BOTTLENECK_TENSOR_NAME = "net/bottleneck/Relu:0"
INPUT_TENSOR_NAME = "input:0"


def convnet(images, is_training):
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        activation_fn=tf.nn.relu,
        weights_regularizer=slim.l2_regularizer(5e-4),
        normalizer_params={"is_training": is_training, "decay": 0.9},
    ):
        with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm, padding="SAME"):
            with tf.variable_scope("net"):
                net = slim.conv2d(images, 16, [5, 5], scope="conv1")
                net = slim.max_pool2d(net, [2, 2], scope="pool1")
                net = slim.conv2d(net, 32, [3, 3], scope="conv2")
                net = slim.max_pool2d(net, [2, 2], scope="pool2")
                net = slim.flatten(net, scope="flatten")
                net = slim.fully_connected(net, 64, normalizer_params=None, scope="bottleneck")
                net = slim.dropout(net, 0.7, is_training=is_training, scope="dropout")
                return slim.fully_connected(net, 5, activation_fn=None, normalizer_params=None, scope="logits")


def pretrain(images, labels, path):
    with tf.Graph().as_default():
        tf.set_random_seed(12)
        rng = np.random.RandomState(12)
        x = tf.placeholder(tf.float32, [None, 784], name="input")
        y = tf.placeholder(tf.int32, [None])
        is_training = tf.placeholder_with_default(False, [], name="is_training")
        logits = convnet(tf.reshape(x, [-1, 28, 28, 1]), is_training)
        tf.losses.sparse_softmax_cross_entropy(y, logits)
        total_loss = tf.losses.get_total_loss()
        train_op = slim.learning.create_train_op(total_loss, tf.train.AdamOptimizer(0.002))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(1, FLAGS.pretrain_steps + 1):
                chosen = rng.randint(len(images), size=32)
                loss = sess.run(train_op, {x: images[chosen], y: labels[chosen], is_training: True})
                if step % 50 == 0:
                    print("digits 0-4, step %d, loss %.4f" % (step, loss))
            frozen = tf.graph_util.convert_variables_to_constants(
                sess, sess.graph.as_graph_def(), [BOTTLENECK_TENSOR_NAME.split(":")[0]]
            )
            with tf.gfile.GFile(path, "wb") as f:
                f.write(frozen.SerializeToString())
    print("frozen: %d nodes, %d kB" % (len(frozen.node), os.path.getsize(path) // 1024))


def main(_):
    mnist = input_data.read_data_sets(FLAGS.data_dir, seed=12)
    images, labels = mnist.train.images[:5000], mnist.train.labels[:5000].astype(np.int32)
    path = FLAGS.graph or os.path.join(tf.test.get_temp_dir(), "frozen.pb")
    if not tf.gfile.Exists(path):
        pretrain(images[labels < 5], labels[labels < 5], path)

    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(13)
        with tf.gfile.GFile(path, "rb") as f:
            graph_def = tf.GraphDef()
            graph_def.ParseFromString(f.read())
        bottleneck_tensor, image_tensor = tf.import_graph_def(
            graph_def, name="pretrained", return_elements=[BOTTLENECK_TENSOR_NAME, INPUT_TENSOR_NAME]
        )
        bottleneck_size = bottleneck_tensor.get_shape().as_list()[1]

        chosen = np.flatnonzero(labels >= 5)[: FLAGS.examples]
        train_values = sess.run(bottleneck_tensor, {image_tensor: images[chosen]})
        train_labels = labels[chosen] - 5
        new = mnist.test.labels >= 5
        test_values = sess.run(bottleneck_tensor, {image_tensor: mnist.test.images[new]})
        test_labels = mnist.test.labels[new].astype(np.int32) - 5
        print("%d images of 5-9 as %d numbers each" % (len(train_values), bottleneck_size))

        bottleneck_input = tf.placeholder_with_default(
            bottleneck_tensor, [None, bottleneck_size], name="BottleneckInput"
        )
        ground_truth_input = tf.placeholder(tf.int32, [None], name="GroundTruthInput")
        with tf.name_scope("final_training_ops"):
            weights = tf.Variable(tf.truncated_normal([bottleneck_size, 5], stddev=0.001))
            biases = tf.Variable(tf.zeros([5]))
            logits = tf.matmul(bottleneck_input, weights) + biases
        cross_entropy = tf.losses.sparse_softmax_cross_entropy(ground_truth_input, logits)
        train_step = tf.train.GradientDescentOptimizer(0.05).minimize(cross_entropy)
        accuracy = tf.reduce_mean(tf.cast(tf.nn.in_top_k(logits, ground_truth_input, 1), tf.float32))

        sess.run(tf.global_variables_initializer())
        for step in range(1, FLAGS.steps + 1):
            _, loss = sess.run(
                [train_step, cross_entropy], {bottleneck_input: train_values, ground_truth_input: train_labels}
            )
            if step % 50 == 0:
                print("digits 5-9, step %d, loss %.4f" % (step, loss))
        print(
            "test accuracy on 5-9 %.4f"
            % sess.run(accuracy, {bottleneck_input: test_values, ground_truth_input: test_labels})
        )


if __name__ == "__main__":
    tf.app.run()
