"""A model for phones: a convolutional network trained with fake quantization, converted to TensorFlow Lite in four ways and run there.

Run:     everflow run examples/mobile_digits.py
Expect:  the same accuracy of all four, above 0.95, in files of about a half and a third of the size.
"""

import os

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("data_dir", "/tmp/tensorflow/mnist/input_data", "Directory for storing input data")
flags.DEFINE_string("export_dir", "/tmp/mobile_digits", "Where the converted models go")
flags.DEFINE_integer("steps", 300, "Number of batches to train on")
FLAGS = flags.FLAGS


def quantized(tensor, limit, low=None):
    """What is left of a tensor when it has only 8 bits, in a fixed range."""
    return tf.fake_quant_with_min_max_args(tensor, -limit if low is None else low, limit)


def weights(name, shape):
    return quantized(tf.get_variable(name, shape, initializer=tf.initializers.he_normal(seed=1)), 1.0)


def network(images):
    net = tf.nn.conv2d(images, weights("conv1", [5, 5, 1, 8]), [1, 2, 2, 1], "SAME")
    net = quantized(
        tf.nn.relu6(tf.nn.bias_add(net, tf.get_variable("bias1", [8], initializer=tf.zeros_initializer()))), 6.0, 0.0
    )
    net = tf.nn.conv2d(net, weights("conv2", [3, 3, 8, 16]), [1, 2, 2, 1], "SAME")
    net = quantized(
        tf.nn.relu6(tf.nn.bias_add(net, tf.get_variable("bias2", [16], initializer=tf.zeros_initializer()))), 6.0, 0.0
    )
    net = tf.reshape(net, [-1, 7 * 7 * 16])
    net = tf.matmul(net, weights("dense", [7 * 7 * 16, 10])) + tf.get_variable(
        "bias3", [10], initializer=tf.zeros_initializer()
    )
    return quantized(net, 24.0)


def accuracy_of(model, images, labels):
    """How many digits a TensorFlow Lite model gets right, one image at a time."""
    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    source, target = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    right = 0
    for image, label in zip(images, labels):
        if source["dtype"] == np.uint8:
            image = np.round(image * 255).astype(np.uint8)
        interpreter.set_tensor(source["index"], image[np.newaxis])
        interpreter.invoke()
        right += interpreter.get_tensor(target["index"]).argmax() == label
    return right / float(len(labels))


def main(_):
    tf.set_random_seed(0)
    mnist = input_data.read_data_sets(FLAGS.data_dir, seed=0, reshape=False)
    images = tf.placeholder(tf.float32, [None, 28, 28, 1], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    logits = network(images)
    scores = tf.nn.softmax(logits, name="scores")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_step = tf.train.AdamOptimizer(2e-3).minimize(loss)

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(1, FLAGS.steps + 1):
            batch = mnist.train.next_batch(64)
            _, value = sess.run([train_step, loss], {images: batch[0], labels: batch[1]})
            if i % 100 == 0:
                print("step %d, loss %.4f" % (i, value))

        def floats(converter):
            pass

        def small_weights(converter):
            converter.optimizations = [tf.lite.Optimize.DEFAULT]

        def halves(converter):
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
            converter.target_spec.supported_types = [tf.float16]

        def integers(converter):
            converter.inference_type = tf.uint8
            converter.quantized_input_stats = {"images": (0.0, 255.0)}

        if not os.path.isdir(FLAGS.export_dir):
            os.makedirs(FLAGS.export_dir)
        for settings in (floats, small_weights, halves, integers):
            converter = tf.lite.TFLiteConverter.from_session(sess, [images], [scores])
            settings(converter)
            model = converter.convert()
            with open(os.path.join(FLAGS.export_dir, settings.__name__ + ".tflite"), "wb") as f:
                f.write(model)
            share = accuracy_of(model, mnist.test.images[:300], mnist.test.labels[:300])
            print("%s: %d bytes, test accuracy %.4f" % (settings.__name__, len(model), share))


if __name__ == "__main__":
    tf.app.run()
