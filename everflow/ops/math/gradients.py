"""Gradients of element-wise functions of one input, of casts and of complex parts.

Many are built under a control dependency on the incoming gradient, as TensorFlow does: nothing is computed before it is
needed.
"""

from __future__ import annotations

import math

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.operation import Tensor
from everflow.framework.registry import gradient, not_differentiable
from everflow.framework.scopes import control_dependencies
from everflow.ops import array
from everflow.ops.array import constants
from everflow.ops.math import binary, elementwise

not_differentiable(
    *("ApproximateEqual", "Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"),
    *("LogicalAnd", "LogicalOr", "LogicalNot", "EuclideanNorm", "LinSpace", "Range"),
    *("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Invert", "LeftShift", "RightShift", "PopulationCount"),
)


def after(grad):
    """A context whose operations wait for a gradient."""
    return control_dependencies([grad if isinstance(grad, Tensor) else grad.values])


@gradient("Ceil", "Floor", "Rint", "Round")
def _no_slope(op, grad):
    return [None]


@gradient("Abs")
def _abs_grad(op, grad):
    return grad * elementwise.sign(op.inputs[0])


@gradient("ComplexAbs")
def _complex_abs_grad(op, grad):
    return binary.div_no_nan(
        elementwise.complex(grad, array.zeros_like(grad)) * op.inputs[0],
        elementwise.complex(op.outputs[0], array.zeros_like(op.outputs[0])),
    )


def _of_input(op_type, slope):
    """Register grad * slope(x), with the conjugate of a complex x."""

    @gradient(op_type)
    def _grad(op, grad):
        with after(grad):
            return grad * slope(elementwise.conj(op.inputs[0]))


def _of_output(op_type, make):
    """Register make(grad, y), with the conjugate of a complex y."""

    @gradient(op_type)
    def _grad(op, grad):
        with after(grad):
            return make(grad, elementwise.conj(op.outputs[0]))


def _one(x):
    return constants.constant(1, dtype=x.dtype.base_dtype)


def _asin_slope(x):
    squared = raw.Square(x)
    return raw.Reciprocal(raw.Sqrt(raw.Sub(_one(x), squared)))


def _atan_slope(x):
    squared = raw.Square(x)
    return raw.Reciprocal(raw.Add(_one(x), squared))


def _atanh_slope(x):
    squared = raw.Square(x)
    return raw.Reciprocal(raw.Sub(_one(x), squared))


for _op_type, _slope in {
    "Asin": _asin_slope,
    "Atan": _atan_slope,
    "Atanh": _atanh_slope,
    "Cosh": lambda x: raw.Sinh(x),
    "Digamma": lambda x: raw.Polygamma(_one(x), x),
    "Expm1": lambda x: raw.Exp(x),
    "Lgamma": lambda x: raw.Digamma(x),
    "Log": lambda x: raw.Reciprocal(x),
    "Log1p": lambda x: raw.Reciprocal(1 + x),
    "Sin": lambda x: raw.Cos(x),
    "Sinh": lambda x: raw.Cosh(x),
}.items():
    _of_input(_op_type, _slope)

for _op_type, _make in {
    "Acosh": lambda grad, y: grad / raw.Sinh(y),
    "Asinh": lambda grad, y: grad / raw.Cosh(y),
    "Exp": lambda grad, y: grad * y,
    "Sigmoid": lambda grad, y: raw.SigmoidGrad(y, grad),
    "Tanh": lambda grad, y: raw.TanhGrad(y, grad),
}.items():
    _of_output(_op_type, _make)


@gradient("Acos")
def _acos_grad(op, grad):
    with after(grad):
        slope = _asin_slope(elementwise.conj(op.inputs[0]))
        return -grad * slope


@gradient("Cos")
def _cos_grad(op, grad):
    with after(grad):
        x = elementwise.conj(op.inputs[0])
        return -grad * raw.Sin(x)


@gradient("Tan")
def _tan_grad(op, grad):
    with after(grad):
        x = elementwise.conj(op.inputs[0])
        secant_squared = raw.Square(raw.Reciprocal(raw.Cos(x)))
        return secant_squared * grad


@gradient("Erf", "Erfc")
def _erf_grad(op, grad):
    factor = 2 / math.sqrt(math.pi) * (1 if op.type == "Erf" else -1)
    factor = constants.constant(factor, dtype=grad.dtype.base_dtype)
    with after(grad):
        x = elementwise.conj(op.inputs[0])
        return grad * factor * raw.Exp(-raw.Square(x))


@gradient("Neg")
def _neg_grad(op, grad):
    return -grad


@gradient("Reciprocal", "Inv")
def _reciprocal_grad(op, grad):
    return raw.ReciprocalGrad(op.outputs[0], grad)


@gradient("ReciprocalGrad", "InvGrad")
def _reciprocal_grad_grad(op, grad):
    y_grad = op.inputs[1]
    with after(grad):
        y, g = elementwise.conj(op.inputs[0]), elementwise.conj(grad)
        return g * -2.0 * y_grad * y, raw.ReciprocalGrad(y, grad)


@gradient("Square")
def _square_grad(op, grad):
    x = op.inputs[0]
    with after(grad):
        x = elementwise.conj(x)
        two = constants.constant(2.0, dtype=x.dtype.base_dtype)
        return raw.Mul(grad, raw.Mul(x, two))


@gradient("Sqrt")
def _sqrt_grad(op, grad):
    return raw.SqrtGrad(op.outputs[0], grad)


@gradient("SqrtGrad")
def _sqrt_grad_grad(op, grad):
    y = op.inputs[0]
    with after(grad):
        ratio = grad / y
        return -elementwise.conj(ratio) * op.outputs[0], 0.5 * ratio


@gradient("Rsqrt")
def _rsqrt_grad(op, grad):
    return raw.RsqrtGrad(op.outputs[0], grad)


@gradient("RsqrtGrad")
def _rsqrt_grad_grad(op, grad):
    y, y_grad = op.inputs
    with after(grad):
        y, g = elementwise.conj(y), elementwise.conj(grad)
        first = -1.5 * g * y_grad * raw.Square(y)
        return first, raw.RsqrtGrad(y, grad)


@gradient("SigmoidGrad")
def _sigmoid_grad_grad(op, grad):
    with after(grad):
        y, y_grad = elementwise.conj(op.inputs[0]), elementwise.conj(op.inputs[1])
        product = grad * y_grad
        return product - 2.0 * product * y, raw.SigmoidGrad(y, grad)


@gradient("TanhGrad")
def _tanh_grad_grad(op, grad):
    with after(grad):
        y, y_grad = elementwise.conj(op.inputs[0]), elementwise.conj(op.inputs[1])
        return grad * -2.0 * y_grad * y, raw.TanhGrad(y, grad)


@gradient("Sign")
def _sign_grad(op, grad):
    x = op.inputs[0]
    return array.zeros(array.shape(x), dtype=x.dtype.base_dtype)


@gradient("BesselI0e")
def _bessel_i0e_grad(op, grad):
    x, y = op.inputs[0], op.outputs[0]
    with after(grad):
        slope = raw.BesselI1e(x) - raw.Sign(x) * y
        return grad * slope


@gradient("BesselI1e")
def _bessel_i1e_grad(op, grad):
    """Near zero the slope is taken as its limit, 1/2, since the formula divides by x."""
    x, y = op.inputs[0], op.outputs[0]
    with after(grad):
        zeros = array.zeros_like(x)
        far = raw.Abs(x) > _EPSILON[x.dtype.base_dtype]
        safe_x = array.where(far, x, _EPSILON[x.dtype.base_dtype] + zeros)
        slope = raw.BesselI0e(safe_x) - y * (raw.Sign(safe_x) + raw.Reciprocal(safe_x))
        return grad * array.where(far, slope, 0.5 + zeros)


_EPSILON = {dtypes.float16: 2.0**-10, dtypes.float32: 2.0**-23, dtypes.float64: 2.0**-52}


@gradient("Real")
def _real_grad(op, grad):
    zero = constants.constant(0, dtype=grad.dtype.base_dtype)
    return elementwise.complex(grad, zero)


@gradient("Imag")
def _imag_grad(op, grad):
    zero = constants.constant(0, dtype=grad.dtype.base_dtype)
    return elementwise.complex(zero, grad)


@gradient("Angle")
def _angle_grad(op, grad):
    x = op.inputs[0]
    with after(grad):
        re, im = elementwise.real(x), elementwise.imag(x)
        inverse = raw.Reciprocal(elementwise.complex(im, re))
        zero = constants.constant(0, dtype=grad.dtype.base_dtype)
        return -elementwise.complex(grad, zero) * inverse


@gradient("Conj")
def _conj_grad(op, grad):
    return elementwise.conj(grad)


_CAST_DIFFERENTIABLE = [
    dtypes.float16,
    dtypes.float32,
    dtypes.float64,
    dtypes.bfloat16,
    dtypes.complex64,
    dtypes.complex128,
]


@gradient("Cast")
def _cast_grad(op, grad):
    source, target = op.inputs[0].dtype.base_dtype, grad.dtype.base_dtype
    if source in _CAST_DIFFERENTIABLE and target in _CAST_DIFFERENTIABLE:
        return elementwise.cast(grad, source)
    return None


@gradient("CheckNumerics")
def _check_numerics_grad(op, grad):
    message = f"Not a number (NaN) or infinity (Inf) values detected in gradient. {op.get_attr('message')}"
    return raw.CheckNumerics(grad, message=message)
