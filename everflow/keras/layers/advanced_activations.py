"""Activations that are layers, because they have arguments or weights."""

from __future__ import annotations

from everflow.keras import backend as K
from everflow.keras.engine.arguments import shape_tuples
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.layers.configured import Elementwise, keeps, takes, weight_of
from everflow.ops import math


@keeps("alpha=0.3", alpha=K.cast_to_floatx)
class LeakyReLU(Elementwise):
    """x where it is positive, alpha * x elsewhere.

    Args:
        alpha: The slope, or scale, where x is negative.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.LeakyReLU()(tf.constant([-1.0, 2.0])))
        array([-0.3,  2. ], dtype=float32)
    """

    def call(self, inputs):
        return K.relu(inputs, alpha=self.alpha)


class PReLU(Elementwise):
    """x where it is positive, alpha * x elsewhere, and alpha is learned.

    Args:
        alpha_initializer: What alpha starts as.
        alpha_regularizer: A function of alpha whose result is added to the losses.
        alpha_constraint: A function that gives alpha back as it may be.
        shared_axes: The axes along which one alpha is for all.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> layer = tf.keras.layers.PReLU()
        >>> layer(tf.ones([2, 3])).shape.as_list(), layer.alpha.shape.as_list()
        ([2, 3], [3])
    """

    @takes('alpha_initializer="zeros", alpha_regularizer=None, alpha_constraint=None, shared_axes=None')
    def __init__(self, given, **kwargs):
        super().__init__(**kwargs)
        axes = given["shared_axes"]
        if axes is not None:
            axes = list(axes) if isinstance(axes, (list, tuple)) else [axes]
        self._keep_given(given, shared_axes=axes)

    @shape_tuples
    def build(self, input_shape):
        shared = self.shared_axes or ()
        shape = list(input_shape[1:])
        for axis in shared:
            shape[axis - 1] = 1
        self.alpha = weight_of(self, "alpha", shape)
        own = {axis: size for axis, size in enumerate(input_shape) if axis and axis not in shared}
        self.input_spec = InputSpec(ndim=len(input_shape), axes=own)
        self.built = True

    def call(self, inputs):
        return K.relu(inputs) + -self.alpha * K.relu(-inputs)


@keeps("alpha=1.0", alpha=K.cast_to_floatx)
class ELU(Elementwise):
    """x where it is positive, alpha * (exp(x) - 1) elsewhere.

    Args:
        alpha: The slope, or scale, where x is negative.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.ELU()(tf.constant([-1.0, 2.0])))
        array([-0.63212055,  2.        ], dtype=float32)
    """

    def call(self, inputs):
        return K.elu(inputs, self.alpha)


@keeps("theta=1.0", theta=K.cast_to_floatx)
class ThresholdedReLU(Elementwise):
    """x where it is above theta, 0 elsewhere.

    Args:
        theta: The threshold.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.ThresholdedReLU(1.0)(tf.constant([0.5, 2.0])))
        array([0., 2.], dtype=float32)
    """

    def call(self, inputs):
        return inputs * math.cast(math.greater(inputs, self.theta), K.floatx())


@keeps("axis=-1")
class Softmax(Elementwise):
    """Shares that are positive and sum to one along an axis.

    Args:
        axis: The axis to work along; negative ones count from the last.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.Softmax()(tf.constant([[1.0, 3.0]])))
        array([[0.11920291, 0.880797  ]], dtype=float32)
    """

    def call(self, inputs):
        return K.softmax(inputs, axis=self.axis)


class ReLU(Elementwise):
    """x between `threshold` and `max_value`; below, negative_slope * (x - threshold).

    Args:
        max_value: The greatest value; None for any.
        negative_slope: The slope below the threshold.
        threshold: Where it begins.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.ReLU(max_value=6.0)(tf.constant([-1.0, 2.0, 9.0])))
        array([0., 2., 6.], dtype=float32)
    """

    def __init__(self, max_value=None, negative_slope=0, threshold=0, **kwargs):
        super().__init__(**kwargs)
        for name, value in (("max_value", max_value), ("negative_slope", negative_slope)):
            if value is not None and value < 0.0:
                raise ValueError(f"{name} of a ReLU layer cannot be negative: {value}")
        self._keep(
            max_value=None if max_value is None else K.cast_to_floatx(max_value),
            negative_slope=K.cast_to_floatx(negative_slope),
            threshold=K.cast_to_floatx(threshold),
        )

    def call(self, inputs):
        return K.relu(inputs, alpha=self.negative_slope, max_value=self.max_value, threshold=self.threshold)
