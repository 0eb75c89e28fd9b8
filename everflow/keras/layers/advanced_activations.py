"""Activations that are layers, because they have arguments or weights."""

from __future__ import annotations

from everflow.keras import backend as K
from everflow.keras.engine.arguments import shape_tuples
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.layers.configured import Elementwise, keeps, takes, weight_of
from everflow.ops import math


@keeps("alpha=0.3", alpha=K.cast_to_floatx)
class LeakyReLU(Elementwise):
    """x where it is positive, alpha * x elsewhere."""

    def call(self, inputs):
        return K.relu(inputs, alpha=self.alpha)


class PReLU(Elementwise):
    """x where it is positive, alpha * x elsewhere, and alpha is learned."""

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
    """x where it is positive, alpha * (exp(x) - 1) elsewhere."""

    def call(self, inputs):
        return K.elu(inputs, self.alpha)


@keeps("theta=1.0", theta=K.cast_to_floatx)
class ThresholdedReLU(Elementwise):
    """x where it is above theta, 0 elsewhere."""

    def call(self, inputs):
        return inputs * math.cast(math.greater(inputs, self.theta), K.floatx())


@keeps("axis=-1")
class Softmax(Elementwise):
    """Shares that are positive and sum to one along an axis."""

    def call(self, inputs):
        return K.softmax(inputs, axis=self.axis)


class ReLU(Elementwise):
    """x between `threshold` and `max_value`; below, negative_slope * (x - threshold)."""

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
