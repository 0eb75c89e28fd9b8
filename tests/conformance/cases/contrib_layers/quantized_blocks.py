"""Fake quantization in blocks of MobileNet V2 with gradients, residual sums, and convolutions in a row."""

import tensorflow as tf

slim, quantize = tf.contrib.slim, tf.contrib.quantize


def mobile_blocks(image):
    params = {"is_training": True, "decay": 0.9, "scale": True}
    with slim.arg_scope(
        [slim.conv2d, slim.separable_conv2d], normalizer_fn=slim.batch_norm, normalizer_params=params, activation_fn=tf.nn.relu6
    ):
        y = slim.conv2d(image, 8, 3, stride=2, scope="net/conv")
        z = slim.conv2d(y, 16, 1, scope="net/a/expand")
        z = slim.separable_conv2d(z, None, 3, 1, scope="net/a/depthwise")
        z = slim.conv2d(z, 8, 1, activation_fn=None, scope="net/a/project")
        y = tf.identity(y + z, name="net/a/output")
        y = y + slim.conv2d(y, 8, 1, activation_fn=None, scope="net/b/project")
    y = slim.conv2d(slim.avg_pool2d(y, 8), 3, 1, activation_fn=None, scope="logits")
    return tf.squeeze(y, [1, 2])


def sums(image):
    y = slim.conv2d(image, 4, 3, activation_fn=None, scope="r/c1")
    z = slim.conv2d(image, 4, 1, activation_fn=None, scope="r/c2")
    y = tf.nn.relu(y + z)
    y = tf.add(slim.conv2d(y, 4, 3, scope="r2/c1"), y, name="r2/sum")
    return slim.conv2d(y, 2, 1, scope="end")


def in_a_row(image):
    y = tf.layers.separable_conv2d(image, 4, 3, activation=tf.nn.relu6, name="s")
    y = slim.conv2d(y, 4, 3, biases_initializer=None, activation_fn=None, scope="a")
    y = slim.conv2d(y, 4, 3, rate=2, biases_initializer=None, scope="b")
    return tf.layers.dense(tf.layers.flatten(y), 2, name="d")


def run(out):
    for model, rewrite in (
        (mobile_blocks, quantize.create_training_graph),
        (sums, lambda: quantize.create_training_graph(quant_delay=3)),
        (in_a_row, quantize.create_eval_graph),
    ):
        with tf.Graph().as_default() as graph:
            y = tf.identity(model(tf.placeholder(tf.float32, [2, 16, 16, 3], name="image")))
            rewrite()
            if model is mobile_blocks:
                out("gradients", [g.name for g in tf.gradients(tf.reduce_sum(y), tf.trainable_variables())])
            out.graph(model.__name__, graph)
