"""Bijectors of single numbers."""

from __future__ import annotations

import numpy as np

from everflow.contrib.distributions.bijectors.bijector import Bijector, KeepsVolume
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.array.indexing import where_v2
from everflow.ops.checks import values as check
from everflow.ops.checks.shapes import assert_same_float_dtype
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.nn import activations as nn


def softplus_inverse(x, name=None):
    """What softplus maps to x: `log(exp(x) - 1)`, exact for small and large x too."""
    with name_scope(name, "softplus_inverse", values=[x]):
        x = convert_to_tensor(x, name="x")
        threshold = np.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
        small = math.less(x, np.exp(threshold))
        large = math.greater(x, -threshold)
        too_small = math.log(x)
        # Values outside the middle get a harmless one there, so that gradients stay finite.
        middle = where_v2(math.logical_or(small, large), array.ones_like(x), x)
        y = middle + math.log(-math.expm1(-middle))
        return where_v2(small, too_small, where_v2(large, x, y))


class Identity(KeepsVolume, Bijector):
    """`y = x`."""

    def __init__(self, validate_args=False, name="identity"):
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    def _forward(self, x):
        return x

    def _inverse(self, y):
        return y


class PowerTransform(Bijector):
    """`y = (1 + power * x) ** (1 / power)`; exp(x) for a power of 0."""

    def __init__(self, power=0.0, validate_args=False, name="power_transform"):
        with self._init_scope(name, [power]):
            power = convert_to_tensor(power, name="power")
        self._power = constant_value(power)
        if self._power is None or self._power < 0:
            raise ValueError("`power` must be a non-negative Python number")
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    power = property(lambda self: self._power, doc="The power.")

    def _forward(self, x):
        x = self._checked_forward(x)
        if self.power == 0.0:
            return math.exp(x)
        return math.exp(math.log1p(x * self.power) / self.power)

    def _inverse(self, y):
        y = self._checked_inverse(y)
        if self.power == 0.0:
            return math.log(y)
        return math.expm1(math.log(y) * self.power) / self.power

    def _inverse_log_det_jacobian(self, y):
        y = self._checked_inverse(y)
        return (self.power - 1.0) * math.log(y)

    def _forward_log_det_jacobian(self, x):
        x = self._checked_forward(x)
        if self.power == 0.0:
            return x
        return (1.0 / self.power - 1.0) * math.log1p(x * self.power)

    def _checked_forward(self, x):
        if not self.validate_args or self.power == 0.0:
            return x
        message = f"Forward transformation input must be at least {-1.0 / self.power}."
        return with_dependencies([check.assert_non_negative(1.0 + self.power * x, message=message)], x)

    def _checked_inverse(self, y):
        if not self.validate_args:
            return y
        message = "Inverse transformation input must be greater than 0."
        return with_dependencies([check.assert_positive(y, message=message)], y)


class Exp(PowerTransform):
    """`y = exp(x)`."""

    def __init__(self, validate_args=False, name="exp"):
        super().__init__(validate_args=validate_args, name=name)


class AffineScalar(Bijector):
    """`y = scale * x + shift`, number by number."""

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_scalar"):
        with self._init_scope(name, [scale, shift]):
            self._shift = shift if shift is None else convert_to_tensor(shift, name="shift")
            self._scale = scale if scale is None else convert_to_tensor(scale, name="scale")
            if validate_args and scale is not None:
                nonzero = check.assert_none_equal(self._scale, array.zeros([], dtype=self._scale.dtype))
                self._scale = with_dependencies([nonzero], self._scale)
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    shift = property(lambda self: self._shift, doc="What is added.")
    scale = property(lambda self: self._scale, doc="What is multiplied by.")

    def _forward(self, x):
        y = array.identity(x)
        if self.scale is not None:
            y *= self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y):
        x = array.identity(y)
        if self.shift is not None:
            x -= self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x):
        if self.scale is None:
            return convert_to_tensor(0.0, dtype=x.dtype.base_dtype)
        return math.log(math.abs(self.scale))


class Sigmoid(Bijector):
    """`y = 1 / (1 + exp(-x))`."""

    def __init__(self, validate_args=False, name="sigmoid"):
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x):
        return math.sigmoid(x)

    def _inverse(self, y):
        return math.log(y) - math.log1p(-y)

    def _inverse_log_det_jacobian(self, y):
        return -math.log(y) - math.log1p(-y)

    def _forward_log_det_jacobian(self, x):
        return -nn.softplus(-x) - nn.softplus(x)


class Softplus(Bijector):
    """`y = log(1 + exp(x))`, the softer around 0 the larger `hinge_softness` is."""

    def __init__(self, hinge_softness=None, validate_args=False, name="softplus"):
        with self._init_scope(name, [hinge_softness]):
            self._hinge_softness = (
                None if hinge_softness is None else convert_to_tensor(hinge_softness, name="hinge_softness")
            )
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    hinge_softness = property(lambda self: self._hinge_softness, doc="How soft it is around 0.")

    def _forward(self, x):
        return self._in_units(x, nn.softplus)

    def _inverse(self, y):
        return self._in_units(y, softplus_inverse)

    def _in_units(self, value, function):
        """A function of a value measured by the softness, measured back."""
        if self.hinge_softness is None:
            return function(value)
        unit = math.cast(self.hinge_softness, value.dtype)
        return unit * function(value / unit)

    def _measured(self, value):
        return value if self.hinge_softness is None else value / math.cast(self.hinge_softness, value.dtype)

    def _inverse_log_det_jacobian(self, y):
        return -math.log(-math.expm1(-self._measured(y)))

    def _forward_log_det_jacobian(self, x):
        return -nn.softplus(-self._measured(x))


class Softsign(Bijector):
    """`y = x / (1 + |x|)`."""

    def __init__(self, validate_args=False, name="softsign"):
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x):
        return x / (1.0 + math.abs(x))

    def _inverse(self, y):
        return y / (1.0 - math.abs(y))

    def _forward_log_det_jacobian(self, x):
        return -2.0 * math.log1p(math.abs(x))

    def _inverse_log_det_jacobian(self, y):
        return -2.0 * math.log1p(-math.abs(y))


class Square(Bijector):
    """`y = x ** 2` of values that aren't negative."""

    def __init__(self, validate_args=False, name="square"):
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x):
        return math.square(self._checked(x))

    def _inverse(self, y):
        return math.sqrt(self._checked(y))

    def _forward_log_det_jacobian(self, x):
        return np.log(2.0) + math.log(self._checked(x))

    def _checked(self, value):
        if not self.validate_args:
            return value
        return with_dependencies([check.assert_non_negative(value, message="Elements must be non-negative.")], value)


class AbsoluteValue(Bijector):
    """`y = |x|`; its inverse gives both values that it may have come from."""

    def __init__(self, validate_args=False, name="absolute_value"):
        with self._init_scope(name, []):  # TensorFlow's graphs count it
            pass
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    def _forward(self, x):
        return math.abs(x)

    def inverse(self, y, name="inverse"):
        """The negative and the positive value that give y."""
        with self._name_scope(name, [y]):
            y = convert_to_tensor(y, name="y")
            if self.validate_args:
                y = with_dependencies([check.assert_non_negative(y, message="Argument y was negative")], y)
            return -y, y

    def inverse_log_det_jacobian(self, y, event_ndims, name="inverse_log_det_jacobian"):
        """0 for both."""
        with self._name_scope(name, [y]):
            y = convert_to_tensor(y, name="y")
            ndims = self._checked_ndims(event_ndims, self._inverse_min_event_ndims)
            zero = constant(0.0, dtype=y.dtype)
            return self._summed(y, zero, ndims, "inverse"), self._summed(y, zero, ndims, "inverse")

    def forward_log_det_jacobian(self, x, event_ndims, name="forward_log_det_jacobian"):
        """Not known: a map that has no inverse changes volume in no one way."""
        raise NotImplementedError("The absolute value has no forward_log_det_jacobian: it isn't one to one.")


class SinhArcsinh(Bijector):
    """`y = sinh((arcsinh(x) + skewness) * tailweight)`: skews, and makes tails heavier or lighter."""

    def __init__(self, skewness=None, tailweight=None, validate_args=False, name="SinhArcsinh"):
        with self._init_scope(name, [skewness, tailweight]):
            skewness, like = 0.0 if skewness is None else skewness, _dtype_of(tailweight)
            self._skewness = convert_to_tensor(skewness, name="skewness", preferred_dtype=like)
            self._tailweight = convert_to_tensor(1.0 if tailweight is None else tailweight, name="tailweight")
            assert_same_float_dtype([self._skewness, self._tailweight])
            if validate_args:
                positive = check.assert_positive(self._tailweight, message="Argument tailweight was not positive")
                self._tailweight = with_dependencies([positive], self._tailweight)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    skewness = property(lambda self: self._skewness, doc="To which side it leans.")
    tailweight = property(lambda self: self._tailweight, doc="How heavy the tails get.")

    def _forward(self, x):
        return math.sinh((math.asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y):
        return math.sinh(math.asinh(y) / self.tailweight - self.skewness)

    def _inverse_log_det_jacobian(self, y):
        stretched = math.cosh(math.asinh(y) / self.tailweight - self.skewness)
        return math.log(stretched / _root(y)) - math.log(self.tailweight)

    def _forward_log_det_jacobian(self, x):
        stretched = math.cosh((math.asinh(x) + self.skewness) * self.tailweight)
        return math.log(stretched / _root(x)) + math.log(self.tailweight)


def _dtype_of(value):
    """The type of a tensor or an array; None for plain numbers."""
    return getattr(value, "dtype", None)


def _root(x):
    """`sqrt(x ** 2 + 1)`, also for values whose square is too large."""
    small = math.abs(x) * np.sqrt(np.finfo(x.dtype.as_numpy_dtype).eps) <= 1.0
    return where_v2(small, math.sqrt(x**2.0 + 1.0), math.abs(x))


class Gumbel(Bijector):
    """`y = exp(-exp(-(x - loc) / scale))`: maps Gumbel draws to uniform ones."""

    def __init__(self, loc=0.0, scale=1.0, validate_args=False, name="gumbel"):
        with self._init_scope(name, [loc, scale]):
            self._loc = convert_to_tensor(loc, name="loc")
            self._scale = convert_to_tensor(scale, name="scale")
            assert_same_float_dtype([self._loc, self._scale])
            if validate_args:
                positive = check.assert_positive(self._scale, message="Argument scale was not positive")
                self._scale = with_dependencies([positive], self._scale)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    loc = property(lambda self: self._loc, doc="The location.")
    scale = property(lambda self: self._scale, doc="The scale.")

    def _forward(self, x):
        return math.exp(-math.exp(-((x - self.loc) / self.scale)))

    def _inverse(self, y):
        return self.loc - self.scale * math.log(-math.log(y))

    def _inverse_log_det_jacobian(self, y):
        return math.log(self.scale / (-math.log(y) * y))

    def _forward_log_det_jacobian(self, x):
        z = (x - self.loc) / self.scale
        return -z - math.exp(-z) - math.log(self.scale)


def _positive(x, name):
    return with_dependencies([check.assert_positive(x, message=f"{name} must be positive.")], x)


class Kumaraswamy(Bijector):
    """`y = (1 - (1 - x) ** (1 / concentration0)) ** (1 / concentration1)`: uniform draws to Kumaraswamy's."""

    def __init__(self, concentration1=None, concentration0=None, validate_args=False, name="kumaraswamy"):
        with self._init_scope(name, [concentration1, concentration0]):
            self._concentration1, self._concentration0 = (
                _positive(convert_to_tensor(given, name=kind), kind)
                if validate_args
                else convert_to_tensor(given, name=kind)
                for kind, given in (("concentration1", concentration1), ("concentration0", concentration0))
            )
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    concentration1 = property(lambda self: self._concentration1, doc="The weight of 1.")
    concentration0 = property(lambda self: self._concentration0, doc="The weight of 0.")

    def _checked(self, x):
        if not self.validate_args:
            return x
        above = check.assert_non_negative(x, message="Values must not be negative.")
        one = array.ones([], self.concentration0.dtype)
        below = check.assert_less_equal(x, one, message="Values must not be greater than 1.")
        return with_dependencies([above, below], x)

    def _forward(self, x):
        x = self._checked(x)
        return math.exp(math.log1p(-math.exp(math.log1p(-x) / self.concentration0)) / self.concentration1)

    def _inverse(self, y):
        y = self._checked(y)
        return math.exp(math.log1p(-((1 - y**self.concentration1) ** self.concentration0)))

    def _inverse_log_det_jacobian(self, y):
        y, a, b = self._checked(y), self.concentration1, self.concentration0
        return math.log(a) + math.log(b) + (a - 1) * math.log(y) + (b - 1) * math.log1p(-(y**a))
