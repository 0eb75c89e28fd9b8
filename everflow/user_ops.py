"""tf.user_ops: the op that TensorFlow's tutorial on adding ops made."""

from everflow.framework import raw_ops as _raw


def my_fact():
    """A fact about factorials, as a string.

    Returns:
        A scalar string.

    Example:
        >>> tf.user_ops.my_fact().dtype
        tf.string
    """
    return _raw.Fact()
