"""Functions of matrices: exponential, logarithm, square root."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array, control_flow, math
from everflow.ops.array.constants import constant
from everflow.ops.linalg.decompositions import eye, matrix_solve


def logm(input, name=None):
    """The principal logarithm of complex square matrices.

    Args:
        input: Matrices [..., n, n].
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.linalg.logm(tf.cast(tf.eye(2), tf.complex64)))
        array([[0.+0.j, 0.+0.j],
               [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return raw.MatrixLogarithm(input=input, name=name)


def matrix_square_root(input, name=None):
    """The principal square root of square matrices.

    Args:
        input: Matrices: [..., n, n].
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.matrix_square_root([[4.0, 0.0], [0.0, 9.0]]))
        array([[2., 0.],
               [0., 3.]], dtype=float32)
    """
    return raw.MatrixSquareRoot(input=input, name=name)


# Padé approximants of the exponential: numerator coefficients, constant term first. Each is used up to the 1-norm
# beside it, the last one for everything larger, after scaling.
_PADE = {
    3: [120.0, 60.0, 12.0],
    5: [30240.0, 15120.0, 3360.0, 420.0, 30.0],
    7: [17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0],
    9: [17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0, 2162160.0, 110880.0, 3960.0, 90.0],
    13: [
        64764752532480000.0,
        32382376266240000.0,
        7771770303897600.0,
        1187353796428800.0,
        129060195264000.0,
        10559470521600.0,
        670442572800.0,
        33522128640.0,
        1323241920.0,
        40840800.0,
        960960.0,
        16380.0,
        182.0,
    ],
}
_SINGLE = ([3, 5, 7], [4.258730016922831e-01, 1.880152677804762e00], 3.925724783138660)
_DOUBLE = (
    [3, 5, 7, 9, 13],
    [1.495585217958292e-02, 2.539398330063230e-01, 9.504178996162932e-01, 2.097847961257068e00],
    5.371920351148152,
)


def _pade(matrix, order):
    """(u, v) of the approximant (v + u) / (v - u) of the exponential."""
    b = [constant(value, matrix.dtype) for value in _PADE[order]]
    identity = eye(
        array.shape(matrix)[-2],
        batch_shape=array.shape(matrix)[:-2],
        dtype=matrix.dtype,
    )
    powers = [identity, math.matmul(matrix, matrix)]
    for _ in range((3 if order == 13 else order // 2) - 1):
        powers.append(math.matmul(powers[-1], powers[1]))
    if order == 13:
        return _pade_13(matrix, b, powers)
    # The highest odd coefficient is one and is not multiplied.
    top = len(powers) - 1
    odd = powers[top]
    for k in range(top - 1, -1, -1):
        odd = odd + b[2 * k + 1] * powers[k]
    u = math.matmul(matrix, odd)
    v = b[2 * top] * powers[top]
    for k in range(top - 1, -1, -1):
        v = v + b[2 * k] * powers[k]
    return u, v


def _pade_13(matrix, b, powers):
    identity, square, fourth, sixth = powers
    inner = math.matmul(sixth, sixth + b[11] * fourth + b[9] * square)
    odd = inner + b[7] * sixth + b[5] * fourth + b[3] * square + b[1] * identity
    u = math.matmul(matrix, odd)
    even = b[12] * sixth + b[10] * fourth + b[8] * square
    v = math.matmul(sixth, even) + b[6] * sixth + b[4] * fourth + b[2] * square + b[0] * identity
    return u, v


def _of_numbers(matrix):
    """A matrix, unless its type has no exponential."""
    dtype = matrix.dtype
    if not (dtype.is_complex or dtype in (dtypes.float16, dtypes.float32, dtypes.float64)):
        raise ValueError(f"The exponential is one of real or complex numbers, not of {dtype.name}")
    return matrix


def matrix_exponential(input, name=None):
    """The exponential of square matrices, by scaling, a Padé approximant and squaring.

    Args:
        input: Matrices [..., n, n].
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]))
        array([[1., 1.],
               [0., 1.]], dtype=float32)
    """
    with name_scope(name, "matrix_exponential", [input]):
        matrix = convert_to_tensor(input, name="input")
        if matrix.shape[-2:] == [0, 0]:
            return matrix
        batch_shape = _of_numbers(matrix).shape[:-2]
        if not batch_shape.is_fully_defined():
            batch_shape = array.shape(matrix)[:-2]
        # Reshaping makes the batch one dimension.
        matrix = array.reshape(matrix, array.concat(([-1], array.shape(matrix)[-2:]), axis=0))
        l1_norm = math.reduce_max(
            math.reduce_sum(math.abs(matrix), axis=array.size(array.shape(matrix)) - 2),
            axis=-1,
        )
        orders, bounds, largest = (
            _SINGLE if matrix.dtype in (dtypes.float16, dtypes.float32, dtypes.complex64) else _DOUBLE
        )

        def in_real_type(value):
            return constant(value, l1_norm.dtype)

        squarings = math.maximum(math.floor(math.log(l1_norm / in_real_type(largest)) / math.log(in_real_type(2.0))), 0)
        approximants = [_pade(matrix, order) for order in orders[:-1]]
        divisor = math.pow(constant(2.0, matrix.dtype), math.cast(squarings, matrix.dtype))
        scaled = matrix / divisor[..., None, None]
        approximants.append(_pade(scaled, orders[-1]))

        def nested_where(values):
            chosen = values[-1]
            conditions = [math.less(l1_norm, in_real_type(bound)) for bound in bounds]
            for condition, value in reversed(list(zip(conditions, values))):
                chosen = array.where(condition, value, chosen)
            return chosen

        u = nested_where([a[0] for a in approximants])
        v = nested_where([a[1] for a in approximants])
        numerator = u + v
        result = matrix_solve(-u + v, numerator)
        most = math.reduce_max(squarings)
        i = in_real_type(0.0)
        _, result = control_flow.while_loop(
            lambda i, _: math.less(i, most),
            lambda i, r: [i + 1.0, array.where(math.less(i, squarings), math.matmul(r, r), r)],
            [i, result],
        )
        if isinstance(batch_shape, TensorShape):
            static = batch_shape.concatenate(result.shape[-2:])
            if static.is_fully_defined():
                return array.reshape(result, static)
        return array.reshape(result, array.concat((batch_shape, array.shape(result)[-2:]), axis=0))
