"""A convolutional network as a custom Estimator: one model function for training, evaluation and prediction, `train_and_evaluate`
with an evaluation after every checkpoint, early stopping, and an export for serving that is loaded again.

Run:     everflow run examples/mnist_estimator.py
Expect:  evaluations every 100 steps with a rising accuracy, about 0.98 after 300 steps, and the same from the exported model.
"""

import os
import shutil

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

tf.app.flags.DEFINE_string("data_dir", "/tmp/tensorflow/mnist/input_data", "Directory for storing input data")
tf.app.flags.DEFINE_string(
    "model_dir", "/tmp/tensorflow/mnist_estimator", "Where checkpoints, summaries and exports go"
)
tf.app.flags.DEFINE_integer("steps", 300, "Train until this global step")
tf.app.flags.DEFINE_integer("batch_size", 50, "Images in a batch")
tf.app.flags.DEFINE_float("learning_rate", 1e-3, "Of the Adam optimizer")
FLAGS = tf.app.flags.FLAGS


def cnn_model_fn(features, labels, mode, params):
    """Model function for a CNN."""
    training = mode == tf.estimator.ModeKeys.TRAIN
    input_layer = tf.reshape(features["x"], [-1, 28, 28, 1])
    conv1 = tf.layers.conv2d(input_layer, filters=16, kernel_size=[5, 5], padding="same", activation=tf.nn.relu)
    pool1 = tf.layers.max_pooling2d(conv1, pool_size=[2, 2], strides=2)
    conv2 = tf.layers.conv2d(pool1, filters=32, kernel_size=[5, 5], padding="same", activation=tf.nn.relu)
    pool2 = tf.layers.max_pooling2d(conv2, pool_size=[2, 2], strides=2)
    dense = tf.layers.dense(tf.layers.flatten(pool2), units=128, activation=tf.nn.relu)
    dropout = tf.layers.dropout(dense, rate=params["dropout"], training=training)
    logits = tf.layers.dense(dropout, units=10)

    predictions = {
        "classes": tf.argmax(logits, axis=1),
        "probabilities": tf.nn.softmax(logits, name="softmax_tensor"),
    }
    if mode == tf.estimator.ModeKeys.PREDICT:
        outputs = {"classify": tf.estimator.export.PredictOutput(predictions)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)

    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    accuracy = tf.metrics.accuracy(labels, predictions["classes"], name="accuracy_op")
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})

    tf.summary.scalar("train_accuracy", accuracy[1])
    optimizer = tf.train.AdamOptimizer(params["learning_rate"])
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    logging_hook = tf.train.LoggingTensorHook({"loss": loss, "accuracy": accuracy[1]}, every_n_iter=50)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[logging_hook])


def serving_input_receiver_fn():
    images = tf.placeholder(tf.float32, [None, 784], name="images")
    return tf.estimator.export.ServingInputReceiver({"x": images}, {"images": images})


def main(_):
    mnist = input_data.read_data_sets(FLAGS.data_dir)
    if os.path.exists(FLAGS.model_dir):
        shutil.rmtree(FLAGS.model_dir)

    def train_input_fn():
        images, labels = mnist.train.images, mnist.train.labels.astype(np.int32)
        dataset = tf.data.Dataset.from_tensor_slices(({"x": images}, labels))
        return dataset.shuffle(len(images), seed=1).repeat().batch(FLAGS.batch_size)

    eval_input_fn = tf.estimator.inputs.numpy_input_fn(
        x={"x": mnist.test.images}, y=mnist.test.labels.astype(np.int32), num_epochs=1, shuffle=False
    )

    config = tf.estimator.RunConfig(
        model_dir=FLAGS.model_dir,
        tf_random_seed=1,
        save_checkpoints_steps=100,
        save_summary_steps=20,
        log_step_count_steps=100,
    )
    classifier = tf.estimator.Estimator(
        cnn_model_fn, config=config, params={"learning_rate": FLAGS.learning_rate, "dropout": 0.4}
    )

    stop_early = tf.estimator.experimental.stop_if_no_increase_hook(
        classifier, "accuracy", max_steps_without_increase=1000
    )
    train_spec = tf.estimator.TrainSpec(train_input_fn, max_steps=FLAGS.steps, hooks=[stop_early])
    exporter = tf.estimator.FinalExporter("digits", serving_input_receiver_fn)
    eval_spec = tf.estimator.EvalSpec(
        eval_input_fn, steps=None, exporters=exporter, start_delay_secs=0, throttle_secs=0
    )
    metrics, exports = tf.estimator.train_and_evaluate(classifier, train_spec, eval_spec)
    print("step %d: evaluation loss %.4f" % (metrics["global_step"], metrics["loss"]))

    few = tf.estimator.inputs.numpy_input_fn({"x": mnist.test.images[:10]}, shuffle=False)
    guesses = [p["classes"] for p in classifier.predict(few, predict_keys=["classes"])]
    print("predicted", *guesses)
    print("labels   ", *mnist.test.labels[:10])

    predict_fn = tf.contrib.predictor.from_saved_model(exports[0].decode())
    served = predict_fn({"images": mnist.test.images})["classes"]
    print("exported model agrees on %.4f of the test images" % np.mean(served == mnist.test.labels))
    print("test accuracy %.4f" % metrics["accuracy"])


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run()
