"""Small changes to arrays that labels and features need."""

from __future__ import annotations

import numpy as np


def to_categorical(y, num_classes=None, dtype="float32"):
    """Numbers of classes as rows of zeros with a single one.

    Args:
        y: Whole numbers from 0.
        num_classes: How many classes there are; one more than the largest if None.
        dtype: The type of the result.

    Returns:
        An array with one axis more.

    Example:
        >>> tf.keras.utils.to_categorical([0, 2])
        array([[1., 0., 0.],
               [0., 0., 1.]], dtype=float32)
    """
    y = np.array(y, dtype="int")
    shape = y.shape
    if shape and shape[-1] == 1 and len(shape) > 1:
        shape = tuple(shape[:-1])
    y = y.ravel()
    if not num_classes:
        num_classes = np.max(y) + 1
    categorical = np.zeros((y.shape[0], num_classes), dtype=dtype)
    categorical[np.arange(y.shape[0]), y] = 1
    return np.reshape(categorical, (*shape, num_classes))


def normalize(x, axis=-1, order=2):
    """An array divided by its norms along an axis; rows of zeros stay.

    Args:
        x: An array.
        axis: The axis to work along; negative ones count from the last.
        order: Which norm.

    Returns:
        An array.

    Example:
        >>> tf.keras.utils.normalize(np.array([[3.0, 4.0]]))
        array([[0.6, 0.8]])
    """
    norms = np.atleast_1d(np.linalg.norm(x, order, axis))
    norms[norms == 0] = 1
    return x / np.expand_dims(norms, axis)
