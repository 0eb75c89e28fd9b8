"""Style transfer by optimising an image: the features of a content image, the Gram matrices of a style image and
the total variation together are the loss, and the pixels are the only variable.

The features come from fixed random filters, which see enough texture for this purpose and need no download.

Run:     everflow run examples/style_transfer.py
Expect:  the style loss falls to 0.016 of what it was, while the circle of the content can still be seen.
"""

import time

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("size", 64, "Width and height of the image")
flags.DEFINE_integer("iterations", 200, "Steps of the optimizer")
flags.DEFINE_float("content_weight", 5e-1, "Weight of the content loss")
flags.DEFINE_float("style_weight", 1e5, "Weight of the style loss")
flags.DEFINE_float("tv_weight", 1e-2, "Weight of the total variation")
flags.DEFINE_string("output", None, "PNG file to write")
FLAGS = flags.FLAGS

CONTENT_LAYER = "relu2"
STYLE_LAYERS = ("relu1", "relu2", "relu3")


def net(image, rng):
    """Random filters, each of mean zero, so that flat colour has no texture."""
    layers, current = {}, image
    for i, channels in enumerate((24, 32, 48), 1):
        shape = [5 if i == 1 else 3, 5 if i == 1 else 3, current.get_shape().as_list()[3], channels]
        kernels = rng.normal(size=shape).astype(np.float32)
        kernels -= kernels.mean(axis=(0, 1), keepdims=True)
        kernels /= np.sqrt((kernels**2).sum(axis=(0, 1, 2), keepdims=True))
        current = layers["relu%d" % i] = tf.nn.relu(tf.nn.conv2d(current, tf.constant(kernels), [1, 1, 1, 1], "SAME"))
        current = tf.nn.avg_pool(current, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    return layers


def gram(features):
    shape = features.get_shape().as_list()
    features = tf.reshape(features, [-1, shape[3]])
    return tf.matmul(features, features, transpose_a=True) / (shape[1] * shape[2] * shape[3])


def pictures(size):
    """(A red circle on blue, diagonal stripes of yellow and green), as images between 0 and 1."""
    y, x = np.mgrid[0:size, 0:size] / float(size)
    circle = ((x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.1)[..., np.newaxis]
    stripes = (np.sin((x + y) * 12 * np.pi) > 0)[..., np.newaxis]
    content = np.where(circle, [0.9, 0.2, 0.1], [0.1, 0.2, 0.7])
    style = np.where(stripes, [0.9, 0.8, 0.1], [0.0, 0.4, 0.2])
    return content[np.newaxis].astype(np.float32), style[np.newaxis].astype(np.float32)


def main(_):
    content, style = pictures(FLAGS.size)
    seed = 11
    with tf.Graph().as_default(), tf.Session() as sess:
        content_features = sess.run(net(tf.constant(content), np.random.RandomState(seed))[CONTENT_LAYER])
        style_net = net(tf.constant(style), np.random.RandomState(seed))
        style_grams = sess.run({layer: gram(style_net[layer]) for layer in STYLE_LAYERS})

    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        image = tf.Variable(tf.constant(content) + tf.random_normal(content.shape, stddev=0.1), name="image")
        layers = net(image, np.random.RandomState(seed))
        content_loss = FLAGS.content_weight * tf.reduce_mean(
            tf.squared_difference(layers[CONTENT_LAYER], content_features)
        )
        style_loss = FLAGS.style_weight * sum(
            tf.reduce_mean(tf.squared_difference(gram(layers[layer]), style_grams[layer])) for layer in STYLE_LAYERS
        )
        tv_loss = FLAGS.tv_weight * tf.reduce_mean(tf.image.total_variation(image)) / (FLAGS.size * FLAGS.size)
        loss = content_loss + style_loss + tv_loss
        train_step = tf.train.AdamOptimizer(0.02).minimize(loss)
        with tf.control_dependencies([train_step]):
            clip = image.assign(tf.clip_by_value(image, 0.0, 1.0))
        png = tf.image.encode_png(tf.image.convert_image_dtype(image[0], tf.uint8, saturate=True))

        start = time.time()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            before = sess.run(style_loss)
            for i in range(1, FLAGS.iterations + 1):
                sess.run(clip)
                if i % 50 == 0 or i == FLAGS.iterations:
                    print(
                        "Iteration %d: content loss %.5f, style loss %.5f, tv loss %.5f, %.1f s"
                        % ((i,) + tuple(sess.run([content_loss, style_loss, tv_loss])) + (time.time() - start,))
                    )
            final, after = sess.run([image, style_loss])
            if FLAGS.output:
                with tf.gfile.GFile(FLAGS.output, "wb") as f:
                    f.write(sess.run(png))
        red = final[0, ..., 0] - final[0, ..., 2]
        middle = slice(FLAGS.size * 3 // 8, FLAGS.size * 5 // 8)
        print(
            "the circle is redder than the rest by %.2f" % (red[middle, middle].mean() - red[: FLAGS.size // 8].mean())
        )
        print("style loss is %.4f of what it was" % (after / before))


if __name__ == "__main__":
    tf.app.run()
