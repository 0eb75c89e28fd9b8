"""Train a small convolutional network to read handwritten digits, as programs for TensorFlow 1 do it.

everflow run examples/digits_convnet.py --steps=400
"""

import time

import numpy as np
import tensorflow as tf

from everflow.datasets.digits import LEVELS, load_digits

flags = tf.app.flags
flags.DEFINE_integer("steps", 400, "how many batches to train on")
flags.DEFINE_integer("batch_size", 64, "images in a batch")
flags.DEFINE_float("learning_rate", 2e-3, "of the Adam optimizer, at the start")
flags.DEFINE_string("train_dir", None, "where to keep checkpoints; none are kept without it")
FLAGS = flags.FLAGS


def model(images, keep_prob):
    """Logits of the ten digits."""
    net = tf.layers.conv2d(images, 32, 3, padding="same", activation=tf.nn.relu, name="conv1")
    net = tf.layers.conv2d(net, 64, 3, padding="same", activation=tf.nn.relu, name="conv2")
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.flatten(net)
    net = tf.layers.dense(net, 128, activation=tf.nn.relu, name="dense")
    net = tf.nn.dropout(net, keep_prob)
    return tf.layers.dense(net, 10, name="logits")


def batches(images, labels, size):
    """Batches without end, shuffled anew for each pass."""
    order = np.random.RandomState(0)
    while True:
        shuffled = order.permutation(len(images))
        for start in range(0, len(images) - size + 1, size):
            chosen = shuffled[start : start + size]
            yield images[chosen], labels[chosen]


def main(_):
    (train_images, train_labels), (test_images, test_labels) = load_digits()
    train_images, test_images = (x[..., np.newaxis].astype(np.float32) / LEVELS for x in (train_images, test_images))

    tf.set_random_seed(1)
    images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    keep_prob = tf.placeholder_with_default(1.0, [], name="keep_prob")
    logits = model(images, keep_prob)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
    global_step = tf.train.get_or_create_global_step()
    learning_rate = tf.train.exponential_decay(FLAGS.learning_rate, global_step, 200, 0.5)
    train_op = tf.train.AdamOptimizer(learning_rate).minimize(loss, global_step=global_step)
    saver = tf.train.Saver()

    started = time.time()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        data = batches(train_images, train_labels, FLAGS.batch_size)
        for step in range(1, FLAGS.steps + 1):
            batch_images, batch_labels = next(data)
            feed = {images: batch_images, labels: batch_labels, keep_prob: 0.5}
            _, batch_loss = sess.run([train_op, loss], feed)
            if step % 100 == 0 or step == FLAGS.steps:
                test_accuracy = sess.run(accuracy, {images: test_images, labels: test_labels})
                print(
                    f"step {step:4d}  loss {batch_loss:.4f}  test accuracy {test_accuracy:.1%}  {time.time() - started:.1f} s",
                    flush=True,
                )
        if FLAGS.train_dir:
            tf.gfile.MakeDirs(FLAGS.train_dir)
            print("saved", saver.save(sess, f"{FLAGS.train_dir}/model.ckpt", global_step=global_step))
    print(f"{len(test_images)} digits it has not seen: {test_accuracy:.1%} read correctly")


if __name__ == "__main__":
    tf.app.run()
