"""tf.keras.constraints: what weights are brought to after each update."""

from __future__ import annotations

import numpy as np

from everflow.keras import backend as K
from everflow.keras.generic import from_identifier, reading_and_writing
from everflow.ops import array, math


class Constraint:
    """Base of constraints: `constraint(w)` gives the weights to use instead.

    Example:
        >>> isinstance(tf.keras.constraints.NonNeg(), tf.keras.constraints.Constraint)
        True
    """

    _arguments: tuple = ()

    def __call__(self, w):
        return w

    def get_config(self):
        """The arguments that make this constraint again."""
        return {name: getattr(self, name) for name in self._arguments}


def _length(w, axis):
    return K.sqrt(math.reduce_sum(math.square(w), axis=axis, keepdims=True))


class MaxNorm(Constraint):
    """Weights along an axis are no longer than `max_value`.

    Args:
        max_value: The greatest length.
        axis: The axis to work along; negative ones count from the last.

    Example:
        >>> sess.run(tf.keras.constraints.MaxNorm(1.0)(tf.constant([[3.0], [4.0]])))
        array([[0.6],
               [0.8]], dtype=float32)
    """

    _arguments = ("max_value", "axis")

    def __init__(self, max_value=2, axis=0):
        self.max_value, self.axis = max_value, axis

    def __call__(self, w):
        norms = _length(w, self.axis)
        desired = K.clip(norms, 0, self.max_value)
        return w * (desired / (K.epsilon() + norms))


class NonNeg(Constraint):
    """No weight is below zero.

    Example:
        >>> sess.run(tf.keras.constraints.NonNeg()(tf.constant([-1.0, 2.0])))
        array([-0.,  2.], dtype=float32)
    """

    def __call__(self, w):
        return w * math.cast(math.greater_equal(w, 0.0), K.floatx())


class UnitNorm(Constraint):
    """Weights along an axis have length one.

    Args:
        axis: The axis to work along; negative ones count from the last.

    Example:
        >>> sess.run(tf.keras.constraints.UnitNorm()(tf.constant([[3.0], [4.0]])))
        array([[0.6],
               [0.8]], dtype=float32)
    """

    _arguments = ("axis",)

    def __init__(self, axis=0):
        self.axis = axis

    def __call__(self, w):
        return w / (K.epsilon() + _length(w, self.axis))


class MinMaxNorm(Constraint):
    """Lengths along an axis move towards [min_value, max_value], by `rate` of the way at each step.

    Args:
        min_value: The least length.
        max_value: The greatest length.
        rate: How far lengths move at each step.
        axis: The axis to work along; negative ones count from the last.

    Example:
        >>> sess.run(tf.keras.constraints.MinMaxNorm(1.0, 2.0)(tf.constant([[3.0], [4.0]])))
        array([[1.2],
               [1.6]], dtype=float32)
    """

    _arguments = ("min_value", "max_value", "rate", "axis")

    def __init__(self, min_value=0.0, max_value=1.0, rate=1.0, axis=0):
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w):
        norms = _length(w, self.axis)
        desired = self.rate * K.clip(norms, self.min_value, self.max_value) + (1 - self.rate) * norms
        return w * (desired / (K.epsilon() + norms))


class RadialConstraint(Constraint):
    """Convolution kernels are the same at the same distance from their middle.

    Example:
        >>> tf.keras.constraints.RadialConstraint()(tf.ones([3, 3, 1, 1])).shape.as_list()
        [3, 3, 1, 1]
    """

    def __call__(self, w):
        shape = w.shape
        if shape.ndims is None or shape.ndims != 4:
            raise ValueError(
                f"Radial constraints are for kernels [height, width, inputs, outputs], not for weights of shape {shape}."
            )
        height, width = shape.as_list()[:2]
        middle = height // 2
        # Each ring around the middle takes the value of one place on the diagonal.
        distance = (
            np.maximum(
                np.abs(np.arange(height) * 2 - height + 1)[:, None], np.abs(np.arange(width) * 2 - width + 1)[None, :]
            )
            // 2
        )
        diagonal = np.where(distance == 0, middle - 1, middle + distance - height % 2)
        return array.gather_nd(w, np.stack([diagonal, diagonal], axis=-1).astype("int32"))


max_norm = maxnorm = MaxNorm
non_neg = nonneg = NonNeg
unit_norm = unitnorm = UnitNorm
min_max_norm = MinMaxNorm
radial_constraint = RadialConstraint


serialize, deserialize = reading_and_writing("constraint", globals(), "NonNeg()")


def get(identifier):
    """A constraint from its name, a written one, an object or None.

    Args:
        identifier: A name, a dictionary, an object or function, or None.

    Returns:
        A constraint, or None.

    Raises:
        ValueError: If it stands for none.

    Example:
        >>> type(tf.keras.constraints.get("non_neg")).__name__
        'NonNeg'
    """
    if isinstance(identifier, str):
        identifier = {"class_name": identifier, "config": {}}
    return from_identifier(identifier, deserialize, "constraint")
