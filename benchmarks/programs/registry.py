"""The programs by name, and what they share.

A program is a function that draws into the default graph of the module it is given, TensorFlow 1.x or Everflow, and
returns (fetches, feeds). So all of them run under the Python 3.7 of an old TensorFlow, too.
"""

import numpy as np

RANDOM = np.random.RandomState(0)
PROGRAMS = {}


def program(build):
    """Note a program."""
    PROGRAMS[build.__name__] = build
    return build


def adam(tf, loss):
    return [tf.train.AdamOptimizer(1e-3).minimize(loss), loss]
