"""Functions built from other math: Bessel and beta functions, polynomials."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array
from everflow.ops.math import elementwise, reductions


def bessel_i0(x, name=None):
    """The modified Bessel function of order 0.

    Args:
        x: A tensor, or what can be made one.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.math.bessel_i0([0.0, 2.0]))
        array([0.99999994, 2.2795851 ], dtype=float32)
    """
    with name_scope(name, "bessel_i0", [x]):
        return elementwise.exp(elementwise.abs(x)) * elementwise.bessel_i0e(x)


def bessel_i1(x, name=None):
    """The modified Bessel function of order 1.

    Args:
        x: A tensor, or what can be made one.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.math.bessel_i1([0.0, 2.0]))
        array([0.       , 1.5906368], dtype=float32)
    """
    with name_scope(name, "bessel_i1", [x]):
        return elementwise.exp(elementwise.abs(x)) * elementwise.bessel_i1e(x)


def betainc(a, b, x, name=None):
    """The regularised incomplete beta function.

    Args:
        a: The first parameter, positive.
        b: The second parameter, positive.
        x: Numbers from 0 to 1.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the shape of the inputs.

    Example:
        >>> sess.run(tf.betainc(2.0, 3.0, 0.5))
        np.float32(0.6875)
    """
    return raw.Betainc(a, b, x, name=name)


def lbeta(x, name=None):
    """The logarithm of the absolute value of the beta function along the last dimension.

    Args:
        x: Numbers; the last axis has the arguments of the function.
        name: The name of the operation in the graph.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.lbeta([2.0, 3.0]))
        np.float32(-2.4849067)
    """
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        log_product = reductions.reduce_sum(elementwise.lgamma(x), axis=[-1])
        total = reductions.reduce_sum(x, axis=[-1])
        return log_product - elementwise.lgamma(total)


def polyval(coeffs, x, name=None):
    """The value at x of the polynomial with these coefficients, highest power first.

    Args:
        coeffs: A list of tensors, the highest power first.
        x: A tensor, or what can be made one.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.math.polyval([2.0, 0.0, 1.0], 3.0))
        np.float32(19.0)
    """
    with name_scope(name, "polyval", list(coeffs) + [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if len(coeffs) < 1:
            return array.zeros_like(x, name=scope)
        coeffs = [convert_to_tensor(c, name=f"coeff_{i}") for i, c in enumerate(coeffs)]
        value = coeffs[0]
        for coefficient in coeffs[1:]:
            value = coefficient + value * x
        return value


@shape_rule("Betainc")
def _betainc_shape(op):
    """Scalars go with any shape; the others have the same one."""
    shape = TensorShape(None)
    for tensor in op.inputs:
        if tensor.shape.rank != 0:
            shape = shape.merge_with(tensor.shape)
    all_scalars = all(tensor.shape.rank == 0 for tensor in op.inputs)
    return TensorShape([]) if all_scalars else shape
