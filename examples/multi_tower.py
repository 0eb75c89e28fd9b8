"""Multi-tower training as the CIFAR-10 tutorial did it: a copy of the model on each device, variables shared on
the CPU, the gradients of the towers averaged and applied once.

With --devices=gpu the towers go to /gpu:0, /gpu:1 ...; the default needs none: two virtual CPU devices.

Run:     everflow run examples/multi_tower.py
Expect:  a test accuracy of about 0.97 after 400 steps, with one tower as with two that share its batch.
"""

import time

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("data_dir", "/tmp/tensorflow/mnist/input_data", "Directory for storing input data")
flags.DEFINE_integer("num_towers", 2, "How many copies of the model")
flags.DEFINE_string("devices", "cpu", "cpu or gpu")
flags.DEFINE_integer("max_steps", 400, "Number of batches to run")
flags.DEFINE_integer("batch_size", 64, "Images in the batch that the towers share")
FLAGS = flags.FLAGS

TOWER_NAME = "tower"


def _variable_on_cpu(name, shape, initializer):
    with tf.device("/cpu:0"):
        return tf.get_variable(name, shape, initializer=initializer, dtype=tf.float32)


def _variable_with_weight_decay(name, shape, stddev, wd):
    var = _variable_on_cpu(name, shape, tf.truncated_normal_initializer(stddev=stddev))
    if wd is not None:
        weight_decay = tf.multiply(tf.nn.l2_loss(var), wd, name="weight_loss")
        tf.add_to_collection("losses", weight_decay)
    return var


def inference(images):
    with tf.variable_scope("conv1") as scope:
        kernel = _variable_with_weight_decay("weights", [5, 5, 1, 16], 0.1, None)
        biases = _variable_on_cpu("biases", [16], tf.constant_initializer(0.0))
        conv = tf.nn.conv2d(images, kernel, [1, 2, 2, 1], padding="SAME")
        conv1 = tf.nn.relu(tf.nn.bias_add(conv, biases), name=scope.name)
    pool1 = tf.nn.max_pool(conv1, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME", name="pool1")
    norm1 = tf.nn.lrn(pool1, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75, name="norm1")
    with tf.variable_scope("local2") as scope:
        reshape = tf.reshape(norm1, [-1, 7 * 7 * 16])
        weights = _variable_with_weight_decay("weights", [7 * 7 * 16, 64], 0.04, 0.004)
        biases = _variable_on_cpu("biases", [64], tf.constant_initializer(0.1))
        local2 = tf.nn.relu(tf.matmul(reshape, weights) + biases, name=scope.name)
    with tf.variable_scope("softmax_linear") as scope:
        weights = _variable_with_weight_decay("weights", [64, 10], 0.1, None)
        biases = _variable_on_cpu("biases", [10], tf.constant_initializer(0.0))
        return tf.add(tf.matmul(local2, weights), biases, name=scope.name)


def tower_loss(scope, images, labels):
    """The total loss of a single tower."""
    logits = inference(images)
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    tf.add_to_collection("losses", tf.reduce_mean(cross_entropy, name="cross_entropy"))
    # Only the losses of this tower.
    losses = tf.get_collection("losses", scope)
    return tf.add_n(losses, name="total_loss"), logits


def average_gradients(tower_grads):
    """The average gradient for each shared variable across all towers: the synchronization point."""
    average_grads = []
    for grad_and_vars in zip(*tower_grads):
        # ((grad0_tower0, var0), ... , (grad0_towerN, var0))
        grads = [tf.expand_dims(g, 0) for g, _ in grad_and_vars]
        grad = tf.reduce_mean(tf.concat(axis=0, values=grads), 0)
        # The variables are shared across towers: the first tower's pointer will do.
        average_grads.append((grad, grad_and_vars[0][1]))
    return average_grads


def main(_):
    mnist = input_data.read_data_sets(FLAGS.data_dir, reshape=False, seed=9)
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        tf.set_random_seed(9)
        global_step = tf.get_variable("global_step", [], initializer=tf.constant_initializer(0), trainable=False)
        lr = tf.train.exponential_decay(0.1, global_step, 200, 0.5, staircase=True)
        opt = tf.train.GradientDescentOptimizer(lr)
        images = tf.placeholder(tf.float32, [None, 28, 28, 1])
        labels = tf.placeholder(tf.int64, [None])
        image_parts = tf.split(images, FLAGS.num_towers) if FLAGS.num_towers > 1 else [images]
        label_parts = tf.split(labels, FLAGS.num_towers) if FLAGS.num_towers > 1 else [labels]

        tower_grads, tower_losses, tower_logits = [], [], []
        with tf.variable_scope(tf.get_variable_scope()):
            for i in range(FLAGS.num_towers):
                with tf.device("/%s:%d" % (FLAGS.devices, i)):
                    with tf.name_scope("%s_%d" % (TOWER_NAME, i)) as scope:
                        loss, logits = tower_loss(scope, image_parts[i], label_parts[i])
                        tf.get_variable_scope().reuse_variables()
                        tower_grads.append(opt.compute_gradients(loss))
                        tower_losses.append(loss)
                        tower_logits.append(logits)
        apply_gradient_op = opt.apply_gradients(average_gradients(tower_grads), global_step=global_step)
        variable_averages = tf.train.ExponentialMovingAverage(0.9, global_step)
        train_op = tf.group(apply_gradient_op, variable_averages.apply(tf.trainable_variables()))
        mean_loss = tf.add_n(tower_losses) / FLAGS.num_towers
        accuracy = tf.reduce_mean(tf.cast(tf.nn.in_top_k(tf.concat(tower_logits, 0), labels, 1), tf.float32))

        config = tf.ConfigProto(allow_soft_placement=True, device_count={"CPU": FLAGS.num_towers})
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(1, FLAGS.max_steps + 1):
                start_time = time.time()
                batch_images, batch_labels = mnist.train.next_batch(FLAGS.batch_size)
                feed = {images: batch_images, labels: batch_labels}
                _, loss_value = sess.run([train_op, mean_loss], feed)
                duration = time.time() - start_time
                assert not np.isnan(loss_value), "Model diverged with loss = NaN"
                if step % 20 == 0:
                    print(
                        "step %d, loss = %.3f (%.1f examples/sec; %.3f sec/batch)"
                        % (step, loss_value, FLAGS.batch_size / duration, duration)
                    )
            count = len(mnist.test.images) // FLAGS.num_towers * FLAGS.num_towers
            print("final loss %.3f" % loss_value)
            print(
                "test accuracy with %d towers %.4f"
                % (
                    FLAGS.num_towers,
                    sess.run(accuracy, {images: mnist.test.images[:count], labels: mnist.test.labels[:count]}),
                )
            )


if __name__ == "__main__":
    tf.app.run()
