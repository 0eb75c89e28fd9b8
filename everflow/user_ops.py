"""tf.user_ops: the op that TensorFlow's tutorial on adding ops made."""

from everflow.framework import raw_ops as _raw


def my_fact():
    """A fact about factorials, as a string."""
    return _raw.Fact()
