"""What is computed for all iterations at once is what a loop computes."""

import numpy as np

import everflow as tf

ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)
MATRICES = np.arange(12, dtype=np.float32).reshape(3, 2, 2)


def evaluated(fetches, feed=None):
    with tf.Session() as session:
        return session.run(fetches, feed)


def check_agreement(fn, elements, known_size=True):
    """A function gives by `tf.vectorized_map` what it gives by `tf.map_fn`."""
    with tf.Graph().as_default():
        fed = tf.placeholder(tf.float32, elements.shape if known_size else [None, *elements.shape[1:]])
        at_once = tf.vectorized_map(fn, fed)
        one_by_one = tf.map_fn(fn, fed, dtype=at_once.dtype)
        at_once, one_by_one = evaluated([at_once, one_by_one], {fed: elements})
    np.testing.assert_allclose(at_once, one_by_one, rtol=1e-5)
