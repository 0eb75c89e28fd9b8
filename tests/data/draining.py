"""All elements of a dataset, for tests that look at what comes out."""

import everflow as tf


def drain(dataset):
    following = dataset.make_one_shot_iterator().get_next()
    got = []
    with tf.Session() as sess:
        while True:
            try:
                got.append(sess.run(following))
            except tf.errors.OutOfRangeError:
                return got
