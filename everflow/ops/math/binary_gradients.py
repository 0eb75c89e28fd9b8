"""Gradients of element-wise functions of two inputs. Where an input was broadcast, its gradient is summed back to its
shape.
"""

from __future__ import annotations

import weakref

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.operation import Tensor
from everflow.framework.registry import gradient
from everflow.framework.scopes import get_default_graph
from everflow.framework.shapes import broadcast_gradient_axes
from everflow.framework.tapes import is_asked
from everflow.ops import array
from everflow.ops.math import binary, elementwise, reductions
from everflow.ops.math.gradients import after

# Per graph: what was worked out for two static shapes. TensorFlow makes its BroadcastGradientArgs node once for each
# pair too.
_static_axes: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


class _Sides:
    """How to bring gradients of a broadcast result back to the shapes of two inputs."""

    def __init__(self, x, y, grad=None):
        """With `grad`, the gradient of the result, shapes that are known become constants, and a side of the gradient's
        own shape is left as it is.
        """
        fold = grad is not None
        self.static = fold and x.shape.is_fully_defined() and y.shape.is_fully_defined()
        if self.static:
            self.shapes = (tuple(x.shape.as_list()), tuple(y.shape.as_list()))
            self.axes = _known_axes(*self.shapes)
            self.full = tuple(grad.shape.as_list()) if grad.shape.is_fully_defined() else None
            return
        shape = (lambda t: array.shape_internal(t, optimize=False)) if fold else array.shape
        self.shapes = (shape(x), shape(y))

    def find_axes(self):
        """Make the node that tells the axes, where they aren't known."""
        if not self.static:
            self.axes = raw.BroadcastGradientArgs(*self.shapes)
        return self

    def reduced(self, op, make_x, make_y):
        """The gradients of both inputs that functions make, summed to their shapes; None where nobody asks for one."""
        made = [self.reduce(side, make()) if is_asked(op, side) else None for side, make in enumerate((make_x, make_y))]
        return tuple(made)

    def reduce(self, side, grad):
        """A gradient, summed to the shape of one side (0 or 1)."""
        if self.static and self.shapes[side] == self.full:
            return grad
        axes = np.array(self.axes[side], np.int32) if self.static else self.axes[side]
        return array.reshape(reductions.reduce_sum(grad, axes), self.shapes[side])


def _known_axes(x_shape, y_shape):
    cache = _static_axes.setdefault(get_default_graph(), {})
    key = (x_shape, y_shape)
    if key not in cache:
        raw.BroadcastGradientArgs(np.array(x_shape, np.int32), np.array(y_shape, np.int32))
        cache[key] = broadcast_gradient_axes(x_shape, y_shape)
    return cache[key]


def _sides(op):
    return _Sides(op.inputs[0], op.inputs[1]).find_axes()


def _folded(op, grad):
    """As `_sides`, with what is known folded; TensorFlow doesn't do so for gradients that are IndexedSlices."""
    return _Sides(op.inputs[0], op.inputs[1], grad if isinstance(grad, Tensor) else None).find_axes()


def _is_scaled(op):
    """Whether it is the gradient of the first input only that counts, and the second is one number."""
    return op.inputs[1].shape.rank == 0 and not is_asked(op, 1)


def _all_shapes_same(*tensors):
    return all(t.shape.is_fully_defined() for t in tensors) and len({tuple(t.shape.as_list()) for t in tensors}) == 1


@gradient("AddN", "AccumulateNV2")
def _add_n_grad(op, grad):
    return [grad] * len(op.inputs)


@gradient("Add", "AddV2")
def _add_grad(op, grad):
    x, y = op.inputs
    if _is_scaled(op):
        return grad, None
    if isinstance(grad, Tensor) and _all_shapes_same(x, y, grad):
        return grad, grad
    return _folded(op, grad).reduced(op, lambda: grad, lambda: grad)


@gradient("Sub")
def _sub_grad(op, grad):
    x, y = op.inputs
    if _is_scaled(op):
        return grad, None
    if isinstance(grad, Tensor) and _all_shapes_same(x, y, grad):
        return grad, -grad
    return _folded(op, grad).reduced(op, lambda: grad, lambda: -grad)


@gradient("Mul")
def _mul_grad(op, grad):
    x, y = op.inputs
    if _is_scaled(op):
        return raw.Mul(grad, elementwise.conj(y)), None
    if isinstance(grad, Tensor) and _all_shapes_same(x, y, grad) and grad.dtype in (dtypes.int32, dtypes.float32):
        return raw.Mul(grad, y), raw.Mul(grad, x)
    if x.dtype.base_dtype != y.dtype.base_dtype:
        raise AssertionError(f"{x.dtype} vs. {y.dtype}")
    sides = _folded(op, grad)
    x, y = elementwise.conj(x), elementwise.conj(y)
    return sides.reduced(op, lambda: raw.Mul(grad, y), lambda: raw.Mul(x, grad))


@gradient("MulNoNan")
def _mul_no_nan_grad(op, grad):
    x, y = op.inputs
    if isinstance(grad, Tensor) and _all_shapes_same(x, y, grad):
        return raw.MulNoNan(grad, y), raw.MulNoNan(x, grad)
    sides = _sides(op)
    grad_x = sides.reduce(0, raw.MulNoNan(grad, y))
    return grad_x, sides.reduce(1, raw.MulNoNan(x, grad))


def _quotient_grad(op, grad, divide):
    sides = _sides(op)
    x, y = (elementwise.conj(t) for t in op.inputs)
    grad_x = sides.reduce(0, divide(grad, y))
    return grad_x, sides.reduce(1, grad * divide(divide(-x, y), y))


gradient("Div")(lambda op, grad: _quotient_grad(op, grad, lambda a, b: a / b))
gradient("RealDiv")(lambda op, grad: _quotient_grad(op, grad, raw.RealDiv))
gradient("DivNoNan")(lambda op, grad: _quotient_grad(op, grad, binary.div_no_nan))


@gradient("FloorDiv", "TruncateDiv")
def _whole_div_grad(op, grad):
    return None, None


@gradient("FloorMod")
def _floor_mod_grad(op, grad):
    x, y = op.inputs
    sides = _sides(op)
    quotient = raw.FloorDiv(x, y)
    grad_x = sides.reduce(0, grad)
    return grad_x, sides.reduce(1, grad * raw.Neg(quotient))


@gradient("Pow")
def _pow_grad(op, grad):
    x, y = op.inputs
    if _is_scaled(op):
        x, y = elementwise.conj(x), elementwise.conj(y)
        return grad * y * raw.Pow(x, y - 1), None
    sides = _folded(op, grad)
    x, y = elementwise.conj(x), elementwise.conj(y)

    def of_power():
        z = elementwise.conj(op.outputs[0])
        # The logarithm of zero and of negative numbers is left out.
        has_log = raw.NotEqual(x, 0) if x.dtype.is_complex else x > 0
        safe_x = array.where(has_log, x, array.ones_like(x))
        log_x = array.where(has_log, raw.Log(safe_x), array.zeros_like(x))
        return grad * z * log_x

    return sides.reduced(op, lambda: grad * y * raw.Pow(x, y - 1), of_power)


def _selecting_grad(op, grad, choose):
    """The gradient goes to the side that was chosen; to the first where both are the same."""
    x, y = op.inputs
    if _is_scaled(op):
        zeros = array.zeros_like(grad)
        return array.where(choose(x, y), grad, zeros), None
    sides = _Sides(x, y)
    zeros = array.zeros(array.shape(grad), grad.dtype.base_dtype)
    first = choose(x, y)
    sides.find_axes()
    return sides.reduced(op, lambda: array.where(first, grad, zeros), lambda: array.where(first, zeros, grad))


gradient("Maximum")(lambda op, grad: _selecting_grad(op, grad, raw.GreaterEqual))
gradient("Minimum")(lambda op, grad: _selecting_grad(op, grad, raw.LessEqual))


@gradient("SquaredDifference")
def _squared_difference_grad(op, grad):
    x, y = op.inputs
    with after(grad):
        grad_x = binary.scalar_mul(2.0, grad) * (x - y)
    if isinstance(grad, Tensor) and _all_shapes_same(x, y, grad):
        return grad_x, -grad_x
    sides = _folded(op, grad)
    first = sides.reduce(0, grad_x) if is_asked(op, 0) else None
    return first, -sides.reduce(1, grad_x) if is_asked(op, 1) else None


def _slopes(op_type):
    """Register the gradient of a function of two inputs by its slopes, which the decorated function gives."""

    def register(slopes):
        @gradient(op_type)
        def by_slopes(op, grad):
            sides = _sides(op)
            with after(grad):
                first, second = slopes(*op.inputs, sides.shapes)
                grad_x = sides.reduce(0, first * grad)
                return grad_x, sides.reduce(1, second * grad)

        return by_slopes

    return register


def _nonzero(x):
    """1 where x isn't zero."""
    return elementwise.cast(raw.NotEqual(x, elementwise.cast(0.0, dtype=x.dtype)), dtype=x.dtype)


@_slopes("Xlogy")
def _xlogy_grad(x, y, shapes):
    return raw.Xlogy(_nonzero(x), y), raw.Xdivy(x, y)


@_slopes("Xdivy")
def _xdivy_grad(x, y, shapes):
    return raw.Xdivy(_nonzero(x), y), raw.Xdivy(raw.Neg(x), y**2)


@_slopes("NextAfter")
def _next_after_grad(x1, x2, shapes):
    return array.ones(shapes[0], dtype=x1.dtype.base_dtype), array.zeros(shapes[1], dtype=x2.dtype.base_dtype)


@_slopes("Igamma")
def _igamma_grad(a, x, shapes):
    return raw.IgammaGradA(a, x), raw.Exp(-x + (a - 1) * raw.Log(x) - raw.Lgamma(a))


@gradient("Atan2")
def _atan2_grad(op, grad):
    y, x = op.inputs
    with after(grad):
        share = grad / (raw.Square(x) + raw.Square(y))
        return x * share, -y * share


@gradient("Igammac")
def _igammac_grad(op, grad):
    grad_a, grad_x = _igamma_grad(op, grad)
    return -grad_a, -grad_x


@gradient("Polygamma")
def _polygamma_grad(op, grad):
    n, x = op.inputs
    sides = _sides(op)
    with after(grad):
        slope = raw.Polygamma(n + 1, x)
        return None, sides.reduce(1, slope * grad)


@gradient("Zeta")
def _zeta_grad(op, grad):
    x, q = op.inputs
    sides = _sides(op)
    with after(grad):
        slope = -x * raw.Zeta(x + 1, q)
        return None, sides.reduce(1, slope * grad)


@gradient("Betainc")
def _betainc_grad(op, grad):
    a, b, x = op.inputs
    sides = _Sides(a, x).find_axes()
    log_beta = raw.Lgamma(a) + raw.Lgamma(b) - raw.Lgamma(a + b)
    slope = raw.Exp((b - 1) * raw.Log(1 - x) + (a - 1) * raw.Log(x) - log_beta)
    return None, None, sides.reduce(1, slope * grad)


@gradient("Complex")
def _complex_grad(op, grad):
    sides = _sides(op)
    grad_real = sides.reduce(0, elementwise.real(grad))
    return grad_real, sides.reduce(1, elementwise.imag(grad))
