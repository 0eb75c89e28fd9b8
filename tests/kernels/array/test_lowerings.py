"""Concatenations, parts and places as expressions, beside the kernels."""

import numpy as np
import pytest

import everflow as tf
from tests.runtime.plan.native.test_regions import both_ways

LABELS = np.array([2, 0, 5, -1])


@pytest.mark.parametrize(
    "build",
    [
        lambda x: tf.concat([x * 2.0, tf.tanh(x), x], 1),
        lambda x: tf.concat([x, x, tf.exp(x)], 0),
        lambda x: tf.stack([x + 1.0, x, x * x], 1),
        lambda x: tf.stack([tf.reduce_sum(x), tf.reduce_max(x)]) * 2.0,
        lambda x: tf.pad(x * 2.0, [[1, 0], [2, 1]], constant_values=3.0) + 1.0,
        lambda x: tf.add_n(tf.split(x * 2.0, 3, 1)) + 1.0,
        lambda x: tf.concat([tf.exp(p) for p in tf.split(x + 1.0, [1, 2, 3], 1)], 1),
        lambda x: tf.add_n(tf.unstack(x * 3.0, axis=1)) - 1.0,
        lambda x: tf.reverse(x * 2.0, [1]) + x,
        lambda x: tf.one_hot(tf.constant(LABELS), 6) * x + 1.0,
        lambda x: tf.one_hot(tf.cast(tf.argmax(x, 1), tf.int32), 6, 2.0, -1.0, axis=0) * 2.0 + tf.transpose(x),
        lambda x: tf.cast(tf.argmin(x * 2.0, 0), tf.float32) + tf.cast(tf.argmax(tf.round(x), 0), tf.float32),
        lambda x: tf.matrix_band_part(x * 2.0, 1, 0) + 1.0,
        lambda x: tf.gradients(tf.concat([tf.exp(x), x * 2.0], 1) ** 2, x)[0],
    ],
)
def test_machine_code_gives_what_kernels_give(build):
    assert both_ways(lambda x: [build(x)]) >= 1


def test_positions_pass_over_nan_as_kernels_do():
    data = np.array([[np.nan, 1, 3, 3, np.nan, 0], [np.nan] * 6, [-np.inf] * 6, [0, 1, 1, 0, 1, -1]], np.float32)

    def build(x):
        both = [tf.argmax(x, 1), tf.argmin(x, 1)]
        return [tf.cast(p, tf.int32) * 2 + 1 for p in both]

    assert both_ways(build, data) >= 1


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_sparse_cross_entropy_with_its_gradient(dtype):
    def build(x):
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.cast([0, 5, 2, 2], dtype), logits=x * 2.0)
        return [loss, *tf.gradients(loss, x)]

    assert both_ways(build) >= 1


def test_a_label_that_is_no_class_is_told_and_nothing_is_written():
    for level in (-1, 1):
        config = tf.ConfigProto()
        config.graph_options.optimizer_options.global_jit_level = level
        with tf.Graph().as_default(), tf.Session(config=config) as sess:
            labels = tf.placeholder(tf.int32, [4])
            logits = tf.Variable(tf.zeros([4, 3]))
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
            train = tf.train.MomentumOptimizer(0.5, 0.9).minimize(loss)
            sess.run(tf.global_variables_initializer())
            with pytest.raises(tf.errors.InvalidArgumentError, match="label value of 3"):
                sess.run([train, loss], {labels: [0, 1, 3, 0]})
            assert not sess.run(logits).any()
            sess.run(train, {labels: [0, 1, 2, 0]})
            assert sess.run(logits).any()
