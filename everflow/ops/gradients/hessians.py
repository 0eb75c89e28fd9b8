"""Matrices of second derivatives, a loop over the elements of the first."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import while_loop
from everflow.ops.gradients.reverse import gradients
from everflow.ops.tensor_arrays.tensor_array import TensorArray


def hessians(ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None):
    """The matrix (tensor) of second derivatives of the sum of `ys` with respect to each x of `xs`.

    Args:
        ys: A tensor, or list of tensors, to differentiate.
        xs: A tensor or variable, or a list of them, to differentiate by.
        name: The name of the operation in the graph.
        colocate_gradients_with_ops: Whether gradients go to the devices of the operations they are of.
        gate_gradients: Whether all gradients of an operation wait for each other.
        aggregation_method: How several gradients of one tensor are added up: a value of `tf.AggregationMethod`.

    Returns:
        A list of tensors, one for each x, each of the shape of the x twice.

    Example:
        >>> x = tf.constant([1.0, 2.0])
        >>> sess.run(tf.hessians(tf.reduce_sum(x ** 3), x))
        [array([[ 6.,  0.],
               [ 0., 12.]], dtype=float32)]
    """
    xs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    options = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
    }
    found = gradients(ys, xs, **options)
    return [_hessian(gradient, x) for gradient, x in zip(found, xs, strict=True)]


def _hessian(gradient, x):
    """The derivatives of each element of a gradient, one row after the other, as a tensor of x's shape twice."""
    gradient = array.reshape(gradient, [-1])
    n = array.size(x)
    first = [constant(0, dtypes.int32), TensorArray(x.dtype, n)]
    _, rows = while_loop(
        lambda j, _: j < n, lambda j, rows: (j + 1, rows.write(j, gradients(gradient[j], x)[0])), first
    )
    dims = array.shape(x)
    return array.reshape(rows.stack(), array.concat((dims, dims), 0))
