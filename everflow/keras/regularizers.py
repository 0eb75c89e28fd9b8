"""tf.keras.regularizers: penalties on weights and activations that are added to a model's loss."""

from __future__ import annotations

from everflow.keras import backend as K
from everflow.keras.generic import from_identifier, reading_and_writing
from everflow.ops import math


class Regularizer:
    """Base of regularizers: `regularizer(x)` gives a penalty.

    Example:
        >>> isinstance(tf.keras.regularizers.L1L2(), tf.keras.regularizers.Regularizer)
        True
    """

    def __call__(self, x):
        return 0.0

    @classmethod
    def from_config(cls, config):
        """A regularizer from what `get_config` gave."""
        return cls(**config)


class L1L2(Regularizer):
    """l1 times the sum of absolute values plus l2 times the sum of squares.

    Args:
        l1: The cost of absolute values.
        l2: The cost of squares.

    Example:
        >>> sess.run(tf.keras.regularizers.L1L2(l1=0.1, l2=0.01)(tf.constant([1.0, -2.0])))
        np.float32(0.35000002)
    """

    def __init__(self, l1=0.0, l2=0.0):
        self.l1 = K.cast_to_floatx(l1)
        self.l2 = K.cast_to_floatx(l2)

    def __call__(self, x):
        wanted = [(factor, size) for factor, size in ((self.l1, math.abs), (self.l2, math.square)) if factor]
        return sum((factor * math.reduce_sum(size(x)) for factor, size in wanted), 0.0) if wanted else K.constant(0.0)

    def get_config(self):
        """The two factors."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


def l1(l=0.01):  # noqa: E741  Keras's own name
    """l times the sum of absolute values.

    Args:
        l: The cost.

    Returns:
        A regularizer.

    Example:
        >>> sess.run(tf.keras.regularizers.l1(0.1)(tf.constant([1.0, -2.0])))
        np.float32(0.3)
    """
    return L1L2(l1=l)


def l2(l=0.01):  # noqa: E741
    """l times the sum of squares.

    Args:
        l: The cost.

    Returns:
        A regularizer.

    Example:
        >>> sess.run(tf.keras.regularizers.l2(0.1)(tf.constant([1.0, -2.0])))
        np.float32(0.5)
    """
    return L1L2(l2=l)


def l1_l2(l1=0.01, l2=0.01):
    """l1 times the sum of absolute values plus l2 times the sum of squares.

    Args:
        l1: The cost of absolute values.
        l2: The cost of squares.

    Returns:
        A regularizer.

    Example:
        >>> sess.run(tf.keras.regularizers.l1_l2(0.1)(tf.constant([1.0, -2.0])))
        np.float32(0.35000002)
    """
    return L1L2(l1=l1, l2=l2)


serialize, deserialize = reading_and_writing("regularizer", globals(), "L1L2()")


def get(identifier):
    """A regularizer from its name, a written one, an object or None.

    Args:
        identifier: A name, a dictionary, an object or function, or None.

    Returns:
        A regularizer, or None.

    Raises:
        ValueError: If it stands for none.

    Example:
        >>> type(tf.keras.regularizers.get("l2")).__name__
        'L1L2'
    """
    made = from_identifier(identifier, deserialize, "regularizer")
    # "l2" names a function that makes one.
    return made() if isinstance(identifier, str) and made in (l1, l2, l1_l2) else made
