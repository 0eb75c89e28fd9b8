"""Solvers whose batch dimensions broadcast, and the checks of operator arguments."""

from __future__ import annotations

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.checks.shapes import assert_integer
from everflow.ops.control_flow.grouping import no_op
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.variables.variable import Variable


def keep_variable(value, name):
    """A variable as it is, to be read when the operator is used; anything else as a tensor."""
    return value if isinstance(value, Variable) else convert_to_tensor(value, name=name)


def settled(kind, hint, said, fact=True):
    """A hint that operators of a kind settle themselves; ValueError where something else was said."""
    if said is not None and bool(said) is not fact:
        raise ValueError(f"{kind} always has {hint}={fact}; {hint}={said} was given")
    return fact


def check_dimensions(tensor, name, count):
    """ValueError where an operator's argument is known to have too few dimensions."""
    if tensor.shape.rank is not None and tensor.shape.rank < count:
        raise ValueError(f"{name} has the shape {tensor.shape}, but must have at least {count} dimensions")


def broadcast_matrix_batch_dims(matrices, name=None):
    """Matrices with their batch dimensions broadcast against each other."""
    with name_scope(name or "broadcast_matrix_batch_dims"):
        matrices = [convert_to_tensor(m) for m in matrices]
        for matrix in matrices:
            check_dimensions(matrix, "A matrix", 2)
        if len(matrices) < 2:
            return matrices
        static = TensorShape(matrices[0].shape[:-2])
        for matrix in matrices[1:]:
            static = array.broadcast_static_shape(static, matrix.shape[:-2])
        if static.is_fully_defined():
            return [
                m
                if m.shape[:-2] == static
                else array.broadcast_to(m, array.concat([static.as_list(), array.shape(m)[-2:]], 0))
                for m in matrices
            ]
        dynamic = array.shape(matrices[0])[:-2]
        for matrix in matrices[1:]:
            dynamic = array.broadcast_dynamic_shape(dynamic, array.shape(matrix)[:-2])
        return [array.broadcast_to(m, array.concat([dynamic, array.shape(m)[-2:]], 0)) for m in matrices]


def _reshaped_for_efficiency(a, b, adjoint):
    """Extra batch dimensions of `b` moved into its columns, so that one factorisation of `a` serves them all.

    Returns (a, b, whether the adjoint of a is still to be taken, function that puts them back).
    """
    if a.shape.rank is None or b.shape.rank is None or a.shape.rank >= b.shape.rank:
        return a, b, adjoint, lambda x: x
    extra = b.shape.rank - a.shape.rank
    array.shape(b)[:extra], array.shape(b)[extra:]  # TensorFlow's graph has these twice
    if _is_enough(a.shape[-2 if adjoint else -1], b.shape[-1], b.shape[:extra]):
        return a, b, adjoint, lambda x: x
    if adjoint:
        a = linalg.adjoint(a)
    extra_shape, main_shape = array.shape(b)[:extra], array.shape(b)[extra:]
    order = [*range(extra, b.shape.rank), *range(extra)]
    inverse = [order.index(i) for i in range(len(order))]
    moved = array.transpose(b, order)
    flat = array.reshape(moved, array.concat((main_shape[:-1], [-1]), axis=0))

    def back(x):
        full = array.concat((array.shape(x)[:-1], [main_shape[-1]], extra_shape), axis=0)
        return array.transpose(array.reshape(x, full), inverse)

    return a, flat, False, back


def _is_enough(size, columns, extra):
    """Whether so many columns are solved for at once already that further ones in a row would not help."""
    if size is None or columns is None or not extra.is_fully_defined():
        return False
    return extra.num_elements() < 2 or size <= columns


def cholesky_solve(chol, rhs, name=None):
    """`tf.cholesky_solve` with broadcasting."""
    with name_scope(name or "CholeskySolveWithBroadcast"):
        chol, rhs = convert_to_tensor(chol, name="chol"), convert_to_tensor(rhs, name="rhs", dtype=chol.dtype)
        chol, rhs = _broadcast_if_needed(chol, rhs)
        return linalg.cholesky_solve(chol, rhs)


def matrix_solve(matrix, rhs, adjoint=False, name=None):
    """`tf.matrix_solve` with broadcasting."""
    with name_scope(name or "MatrixSolveWithBroadcast"):
        matrix = convert_to_tensor(matrix, name="matrix")
        rhs = convert_to_tensor(rhs, name="rhs", dtype=matrix.dtype)
        matrix, rhs, adjoint, back = _reshaped_for_efficiency(matrix, rhs, adjoint)
        matrix, rhs = _broadcast_if_needed(matrix, rhs)
        return back(linalg.matrix_solve(matrix, rhs, adjoint=adjoint))


def matrix_triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None):
    """`tf.matrix_triangular_solve` with broadcasting."""
    with name_scope(name or "MatrixTriangularSolve"):
        matrix = convert_to_tensor(matrix, name="matrix")
        rhs = convert_to_tensor(rhs, name="rhs", dtype=matrix.dtype)
        matrix, rhs, pending, back = _reshaped_for_efficiency(matrix, rhs, adjoint)
        # The adjoint of a lower triangle is an upper one.
        lower = not lower if adjoint and not pending else lower
        matrix, rhs = _broadcast_if_needed(matrix, rhs)
        return back(linalg.matrix_triangular_solve(matrix, rhs, lower=lower, adjoint=pending))


def _broadcast_if_needed(a, b):
    batches = a.shape[:-2], b.shape[:-2]
    if all(shape.is_fully_defined() for shape in batches) and batches[0] == batches[1]:
        return a, b
    return broadcast_matrix_batch_dims([a, b])


def assert_no_entries_with_modulus_zero(x, message=None, name="assert_no_entries_with_modulus_zero"):
    """An assertion that no entry is zero."""
    with name_scope(name):
        x = convert_to_tensor(x, name="x")
        dtype = x.dtype.base_dtype
        size = math.abs(x)
        zero = convert_to_tensor(0, dtype=dtype.real_dtype)
        return check.assert_less(zero, size, message=message)


def assert_zero_imag_part(x, message=None, name="assert_zero_imag_part"):
    """An assertion that entries are real; nothing to do for a real dtype."""
    with name_scope(name):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_complex:
            return no_op()
        zero = convert_to_tensor(0, dtype=x.dtype.base_dtype.real_dtype)
        return check.assert_equal(zero, math.imag(x), message=message)


def assert_compatible_matrix_dimensions(operator, x):
    """An assertion that an operator can be multiplied with a matrix."""
    message = "The matrix must have as many rows as the operator has columns"
    rows = array.shape(x)[-2]
    return check.assert_equal(rows, operator.domain_dimension_tensor(), message=message)


def rotate_transpose(x, shift, name="rotate_transpose"):
    """Dimensions of `x` rotated by `shift` places."""
    with name_scope(name):
        x = convert_to_tensor(x, name="x")
        shift = convert_to_tensor(shift, name="shift")
        assert_integer(shift)
        known = constant_value(shift)
        if known is not None and x.shape.rank is not None:
            rank = x.shape.rank
            if rank < 2:
                return x
            order = [(i - int(known)) % rank for i in range(rank)]
            return array.transpose(x, perm=order)
        rank = array.rank(x)
        shift = array.where_v2(math.less(shift, 0), math.mod(-shift, rank), rank - math.mod(shift, rank))
        first, last = math.range(0, shift), math.range(shift, rank)
        return array.transpose(x, perm=array.concat([last, first], 0))
