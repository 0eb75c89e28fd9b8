"""Graph and MonitoredTrainingSession: the learning rate grows with the processes, variables begin alike, one process saves."""

import digits
import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.INFO)


def network(images, targets, mode):
    x = tf.reshape(images, [-1, 28, 28, 1])
    with tf.variable_scope("convolution"):
        x = tf.layers.conv2d(x, 8, kernel_size=[5, 5], activation=tf.nn.relu, padding="SAME")
        x = tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    x = tf.reshape(x, [-1, 14 * 14 * 8])
    x = tf.layers.dropout(tf.layers.dense(x, 64, tf.nn.relu), rate=0.5, training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = tf.layers.dense(x, 10, activation=None)
    loss = tf.losses.softmax_cross_entropy(tf.one_hot(targets, 10), logits)
    return tf.argmax(logits, 1), loss


def batches(images, labels, size):
    while True:
        order = np.random.permutation(len(images))
        for start in range(0, len(order) - size, size):
            chosen = order[start : start + size]
            yield images[chosen], labels[chosen]


def main(_):
    hvd.init()
    images, labels = digits.load(hvd.rank())
    with tf.name_scope("input"):
        image = tf.placeholder(tf.float32, [None, 28, 28], name="image")
        label = tf.placeholder(tf.int64, [None], name="label")
    predicted, loss = network(image, label, tf.estimator.ModeKeys.TRAIN)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(predicted, label), tf.float32))

    opt = tf.train.AdamOptimizer(0.001 * hvd.size())
    opt = hvd.DistributedOptimizer(opt)
    global_step = tf.train.get_or_create_global_step()
    train_op = opt.minimize(loss, global_step=global_step)

    hooks = [
        hvd.BroadcastGlobalVariablesHook(0),
        tf.train.StopAtStepHook(last_step=120 // hvd.size()),
        tf.train.LoggingTensorHook(tensors={"step": global_step, "loss": loss}, every_n_iter=20),
    ]
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    config.gpu_options.visible_device_list = str(hvd.local_rank())
    checkpoint_dir = "./checkpoints" if hvd.rank() == 0 else None
    some = batches(images, labels, 50)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=checkpoint_dir, hooks=hooks, config=config) as mon_sess:
        while not mon_sess.should_stop():
            x, y = next(some)
            _, seen = mon_sess.run([train_op, accuracy], feed_dict={image: x, label: y})
    print("rank", hvd.rank(), "accuracy is", seen)


if __name__ == "__main__":
    tf.app.run()
