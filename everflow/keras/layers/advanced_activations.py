"""Activations that are layers, because they have arguments or weights."""

from __future__ import annotations

from everflow.keras import backend as K
from everflow.keras.engine.arguments import shape_tuples
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.layers.configured import Elementwise, weight_of
from everflow.ops import math


class LeakyReLU(Elementwise):
    """x where it is positive, alpha * x elsewhere."""

    def __init__(self, alpha=0.3, **kwargs):
        super().__init__(**kwargs)
        self._keep(alpha=K.cast_to_floatx(alpha))

    def call(self, inputs):
        return K.relu(inputs, alpha=self.alpha)


class PReLU(Elementwise):
    """x where it is positive, alpha * x elsewhere, and alpha is learned."""

    def __init__(
        self, alpha_initializer="zeros", alpha_regularizer=None, alpha_constraint=None, shared_axes=None, **kwargs
    ):
        super().__init__(**kwargs)
        if shared_axes is not None and not isinstance(shared_axes, (list, tuple)):
            shared_axes = [shared_axes]
        self._keep_given(locals(), shared_axes=None if shared_axes is None else list(shared_axes))

    @shape_tuples
    def build(self, input_shape):
        shape = [getattr(size, "value", size) for size in input_shape][1:]
        for axis in self.shared_axes or ():
            shape[axis - 1] = 1
        self.alpha = weight_of(self, "alpha", shape)
        shared = self.shared_axes or ()
        sizes = [getattr(size, "value", size) for size in input_shape]
        self.input_spec = InputSpec(
            ndim=len(sizes), axes={i: sizes[i] for i in range(1, len(sizes)) if i not in shared}
        )
        self.built = True

    def call(self, inputs):
        pos = K.relu(inputs)
        neg = -self.alpha * K.relu(-inputs)
        return pos + neg


class ELU(Elementwise):
    """x where it is positive, alpha * (exp(x) - 1) elsewhere."""

    def __init__(self, alpha=1.0, **kwargs):
        super().__init__(**kwargs)
        self._keep(alpha=K.cast_to_floatx(alpha))

    def call(self, inputs):
        return K.elu(inputs, self.alpha)


class ThresholdedReLU(Elementwise):
    """x where it is above theta, 0 elsewhere."""

    def __init__(self, theta=1.0, **kwargs):
        super().__init__(**kwargs)
        self._keep(theta=K.cast_to_floatx(theta))

    def call(self, inputs):
        return inputs * math.cast(math.greater(inputs, self.theta), K.floatx())


class Softmax(Elementwise):
    """Shares that are positive and sum to one along an axis."""

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self._keep(axis=axis)

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
