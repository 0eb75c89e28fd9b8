"""A tour of TensorBoard: a small network on digits that leaves scalars, histograms, images, audio, text, the graph,
run metadata (time and memory of each node) and embeddings with labels for two runs, train and test.

Run:     everflow run examples/tensorboard_tour.py --logdir=/tmp/tour
         tensorboard --logdir=/tmp/tour
Expect:  a test accuracy of 0.975 after 200 steps, and every tab of TensorBoard filled.
"""

import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib.tensorboard.plugins import projector
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("data_dir", "/tmp/tensorflow/mnist/input_data", "Directory for storing input data")
flags.DEFINE_string("logdir", "/tmp/tensorflow/mnist/logs/tour", "Summaries log directory")
flags.DEFINE_integer("max_steps", 200, "Number of steps to run trainer.")
flags.DEFINE_float("learning_rate", 0.003, "Initial learning rate")
flags.DEFINE_float("dropout", 0.9, "Keep probability for training dropout.")
FLAGS = flags.FLAGS

SAMPLE_RATE = 8000


def variable_summaries(var):
    """Attach a lot of summaries to a Tensor (for TensorBoard visualization)."""
    with tf.name_scope("summaries"):
        mean = tf.reduce_mean(var)
        tf.summary.scalar("mean", mean)
        with tf.name_scope("stddev"):
            stddev = tf.sqrt(tf.reduce_mean(tf.square(var - mean)))
        tf.summary.scalar("stddev", stddev)
        tf.summary.scalar("max", tf.reduce_max(var))
        tf.summary.scalar("min", tf.reduce_min(var))
        tf.summary.histogram("histogram", var)


def nn_layer(input_tensor, input_dim, output_dim, layer_name, act=tf.nn.relu):
    """A fully connected layer that shows its parts."""
    with tf.name_scope(layer_name):
        with tf.name_scope("weights"):
            weights = tf.Variable(tf.truncated_normal([input_dim, output_dim], stddev=0.1))
            variable_summaries(weights)
        with tf.name_scope("biases"):
            biases = tf.Variable(tf.constant(0.1, shape=[output_dim]))
            variable_summaries(biases)
        with tf.name_scope("Wx_plus_b"):
            preactivate = tf.matmul(input_tensor, weights) + biases
            tf.summary.histogram("pre_activations", preactivate)
        activations = act(preactivate, name="activation")
        tf.summary.histogram("activations", activations)
        return activations, weights


def embed(sess, writer, images, labels):
    """The test images as points for the projector: a variable in a checkpoint, and as .tsv files what TensorBoard
    reads where it has no TensorFlow to open a checkpoint with."""
    points = tf.Variable(images, name="digits", trainable=False)
    sess.run(points.initializer)
    tf.train.Saver([points]).save(sess, os.path.join(writer.get_logdir(), "digits.ckpt"))
    np.savetxt(os.path.join(writer.get_logdir(), "digits.tsv"), images, fmt="%.3f", delimiter="\t")
    with tf.gfile.GFile(os.path.join(writer.get_logdir(), "labels.tsv"), "w") as f:
        f.write("\n".join(str(label) for label in labels) + "\n")
    config = projector.ProjectorConfig()
    embedding = config.embeddings.add()
    embedding.tensor_name = points.name
    embedding.tensor_path = "digits.tsv"
    embedding.metadata_path = "labels.tsv"
    projector.visualize_embeddings(writer, config)


def main(_):
    if tf.gfile.Exists(FLAGS.logdir):
        tf.gfile.DeleteRecursively(FLAGS.logdir)
    tf.gfile.MakeDirs(FLAGS.logdir)
    tf.set_random_seed(14)
    mnist = input_data.read_data_sets(FLAGS.data_dir, seed=14)
    sess = tf.InteractiveSession()

    with tf.name_scope("input"):
        x = tf.placeholder(tf.float32, [None, 784], name="x-input")
        y_ = tf.placeholder(tf.int64, [None], name="y-input")
    with tf.name_scope("input_reshape"):
        image_shaped_input = tf.reshape(x, [-1, 28, 28, 1])
        tf.summary.image("input", image_shaped_input, 10)

    hidden1, weights1 = nn_layer(x, 784, 100, "layer1")
    with tf.name_scope("filters"):
        tf.summary.image("weights", tf.reshape(tf.transpose(weights1), [-1, 28, 28, 1]), 4)
    with tf.name_scope("dropout"):
        keep_prob = tf.placeholder(tf.float32)
        tf.summary.scalar("dropout_keep_probability", keep_prob)
        dropped = tf.nn.dropout(hidden1, keep_prob)
    y, _ = nn_layer(dropped, 100, 10, "layer2", act=tf.identity)

    with tf.name_scope("cross_entropy"):
        cross_entropy = tf.losses.sparse_softmax_cross_entropy(labels=y_, logits=y)
    tf.summary.scalar("cross_entropy", cross_entropy)
    with tf.name_scope("train"):
        train_step = tf.train.AdamOptimizer(FLAGS.learning_rate).minimize(cross_entropy)
    with tf.name_scope("accuracy"):
        correct_prediction = tf.equal(tf.argmax(y, 1), y_)
        accuracy = tf.reduce_mean(tf.cast(correct_prediction, tf.float32))
    tf.summary.scalar("accuracy", accuracy)
    merged = tf.summary.merge_all()

    # How sure the network is, as a tone: the higher, the surer. And its answers, as text. Not part of `merged`.
    with tf.name_scope("probes"):
        sureness = tf.reduce_mean(tf.reduce_max(tf.nn.softmax(y), 1))
        seconds = tf.range(SAMPLE_RATE, dtype=tf.float32) / SAMPLE_RATE
        wave = tf.sin(2 * np.pi * (200.0 + 600.0 * sureness) * seconds)
        answers = tf.strings.join([tf.as_string(y_[:8]), tf.fill([8], " read as "), tf.as_string(tf.argmax(y[:8], 1))])
        probes = tf.summary.merge(
            [
                tf.summary.audio("sureness", tf.reshape(wave, [1, -1]), SAMPLE_RATE, collections=[]),
                tf.summary.text("answers", answers, collections=[]),
            ]
        )

    train_writer = tf.summary.FileWriter(FLAGS.logdir + "/train", sess.graph)
    test_writer = tf.summary.FileWriter(FLAGS.logdir + "/test")
    tf.global_variables_initializer().run()

    test_feed = {x: mnist.test.images, y_: mnist.test.labels, keep_prob: 1.0}
    for i in range(FLAGS.max_steps):
        xs, ys = mnist.train.next_batch(100)
        train_feed = {x: xs, y_: ys, keep_prob: FLAGS.dropout}
        if i % 10 == 0:  # Record summaries and test-set accuracy
            summary, probe, acc = sess.run([merged, probes, accuracy], feed_dict=test_feed)
            test_writer.add_summary(summary, i)
            test_writer.add_summary(probe, i)
            if i % 50 == 0:
                print("Accuracy at step %s: %s" % (i, acc))
        elif i % 100 == 99:  # Record execution stats
            run_options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            run_metadata = tf.RunMetadata()
            summary, _ = sess.run(
                [merged, train_step], feed_dict=train_feed, options=run_options, run_metadata=run_metadata
            )
            train_writer.add_run_metadata(run_metadata, "step%03d" % i)
            train_writer.add_summary(summary, i)
            print("Adding run metadata for", i)
        else:  # Record a summary
            summary, _ = sess.run([merged, train_step], feed_dict=train_feed)
            train_writer.add_summary(summary, i)
    # A summary made by hand.
    by_hand = tf.Summary(value=[tf.Summary.Value(tag="steps", simple_value=FLAGS.max_steps)])
    train_writer.add_summary(by_hand, FLAGS.max_steps)
    embed(sess, test_writer, mnist.test.images[:200], mnist.test.labels[:200])
    train_writer.close()
    test_writer.close()
    print("now: tensorboard --logdir=%s" % FLAGS.logdir)
    print("test accuracy %.4f" % accuracy.eval(test_feed))


if __name__ == "__main__":
    tf.app.run()
