"""What tests of nn functions share: values of small graphs, and placeholders of partly known shapes."""

import numpy as np

import everflow as tf

RANDOM = np.random.RandomState(5)
MATRIX = RANDOM.uniform(-3, 3, (4, 5))
IMAGE = np.zeros((1, 4, 4, 2), np.float32)


def evaluate(build):
    """The value of what a function builds."""
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


def x_of(*sizes, dtype=tf.float32):
    """A placeholder; None alone for one of an unknown rank."""
    return tf.placeholder(dtype, None if sizes == (None,) else list(sizes))


def fails_when_run(build, values):
    """What is built from placeholders of unknown shapes raises InvalidArgumentError for these values."""
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.placeholder(np.asarray(v).dtype) for v in values]
        output = build(*inputs)
        try:
            session.run(output, dict(zip(inputs, values)))
        except tf.errors.InvalidArgumentError:
            return True
    return False
