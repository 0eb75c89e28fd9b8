"""Batches whose labels come in wanted proportions."""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.mark.parametrize("init_probs", [None, [1 / 3, 1 / 3, 1 / 3]])
def test_labels_come_in_the_wanted_proportions(init_probs):
    tf.set_random_seed(3)
    rows = np.arange(60)
    value, label = tf.train.slice_input_producer([rows.astype(np.float32), (rows % 3).astype(np.int32)], shuffle=False)
    (values,), labels = tf.contrib.training.stratified_sample([value], label, [0.8, 0.1, 0.1], 10, init_probs)
    assert values.shape.as_list() == [10]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        pairs = [sess.run([values, labels]) for _ in range(30)]
        coord.request_stop()
        coord.join(threads)
    for some, their_labels in pairs:
        np.testing.assert_array_equal(some % 3, their_labels)
    assert 0.7 < np.mean([their_labels == 0 for _, their_labels in pairs]) < 0.9


def test_wrong_arguments():
    value, label = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [])
    sample = tf.contrib.training.stratified_sample
    with pytest.raises(ValueError, match="same length"):
        sample([value], label, [0.5, 0.5], 4, [0.2, 0.2, 0.6])
    with pytest.raises(ValueError, match="fully defined"):
        sample([value], label, tf.placeholder(tf.float32, [None]), 4)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sample([value], label, [1.5, -0.5], 4)
    with pytest.raises(TypeError):
        sample([value], tf.placeholder(tf.float32, []), [0.5, 0.5], 4)
