"""Batches by length, from queues."""

import pytest

import everflow as tf


def test_sequences_of_similar_length_share_a_batch():
    with tf.Graph().as_default():
        n = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
        lengths, batch = tf.contrib.training.bucket_by_sequence_length(
            n + 1, [tf.range(n + 1)], 2, [4], dynamic_pad=True, allow_smaller_final_batch=True
        )
        found = []
        with tf.Session() as sess:
            sess.run(tf.local_variables_initializer())
            with tf.contrib.slim.queues.QueueRunners(sess), pytest.raises(tf.errors.OutOfRangeError):
                while True:
                    found.append([value.tolist() for value in sess.run([lengths, batch[0]])])
    assert sorted(found) == [
        [[1, 2], [[0, 0], [0, 1]]],
        [[3], [[0, 1, 2]]],
        [[4, 5], [[0, 1, 2, 3, 0], [0, 1, 2, 3, 4]]],
        [[6], [[0, 1, 2, 3, 4, 5]]],
    ]


@pytest.mark.parametrize("boundaries", [[], [5, 2]])
def test_boundaries_grow(boundaries):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        tf.contrib.training.bucket_by_sequence_length(tf.constant(3), [tf.constant(1)], 2, boundaries)


def test_rejected_examples_are_left_out():
    with tf.Graph().as_default():
        n = tf.train.range_input_producer(10, shuffle=False).dequeue()
        (batch,) = tf.contrib.training.rejection_sample([n], lambda t: tf.cast(tf.equal(t[0] % 2, 0), tf.float32), 4)
        with tf.Session() as sess, tf.contrib.slim.queues.QueueRunners(sess):
            assert sess.run(batch).tolist() == [0, 2, 4, 6]
