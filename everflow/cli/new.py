"""Write a program to begin with: it trains a small network, saves a checkpoint and writes logs.

everflow new train.py
"""

from __future__ import annotations

import argparse
import os
import sys

USAGE = "everflow new [FILE]"
PROGRAM = '''"""A small network learns to tell handwritten digits apart.

everflow run {name} --steps=500
everflow plot logs
"""

import os

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

tf.flags.DEFINE_integer("steps", 500, "how many batches to train on")
tf.flags.DEFINE_string("logdir", "logs", "where logs and the checkpoint go")
FLAGS = tf.flags.FLAGS


def network(images):
    hidden = tf.layers.dense(images, 128, tf.nn.relu, name="hidden")
    return tf.layers.dense(hidden, 10, name="scores")


def main(_):
    digits = input_data.read_data_sets("MNIST_data")  # a small set comes with the package
    images = tf.placeholder(tf.float32, [None, digits.train.images.shape[1]], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")

    scores = network(images)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, scores)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(scores, 1), labels), tf.float32))
    train = tf.train.AdamOptimizer(1e-3).minimize(loss)
    tf.summary.scalar("loss", loss)
    tf.summary.scalar("accuracy", accuracy)
    summaries = tf.summary.merge_all()
    saver = tf.train.Saver()

    with tf.Session() as sess, tf.summary.FileWriter(FLAGS.logdir, sess.graph) as writer:
        sess.run(tf.global_variables_initializer())
        for step in range(1, FLAGS.steps + 1):
            x, y = digits.train.next_batch(64)
            _, now, summary = sess.run([train, loss, summaries], {{images: x, labels: y}})
            writer.add_summary(summary, step)
            if step % 100 == 0:
                print("step %d: loss %.3f" % (step, now))
        saver.save(sess, os.path.join(FLAGS.logdir, "model.ckpt"), global_step=FLAGS.steps)
        unseen = {{images: digits.test.images, labels: digits.test.labels}}
        print("accuracy on unseen digits: %.3f" % sess.run(accuracy, unseen))


if __name__ == "__main__":
    tf.app.run()
'''


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="train.py", metavar="FILE", help="where to write it (train.py)")


def main(args: argparse.Namespace) -> int:
    try:
        with open(args.file, "x", encoding="utf-8") as file:
            file.write(PROGRAM.format(name=os.path.basename(args.file)))
    except FileExistsError:
        print(f"everflow new: {args.file} is there already", file=sys.stderr)
        return 1
    except OSError as e:
        print(f"everflow new: {e}", file=sys.stderr)
        return 1
    print(f"{args.file} is written. Run it: everflow run {args.file}, and look at it: everflow plot logs")
    return 0
