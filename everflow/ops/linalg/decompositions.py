"""Decompositions, solvers and determinants of matrices: build functions and the shape rules of their ops.

All of them work on the last two dimensions; those before are a batch.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, same_size
from everflow.framework.static_values import is_tensor
from everflow.ops import array, control_flow, math
from everflow.ops.array.operator_forms import takes_operators


@takes_operators
def cholesky(input, name=None):
    """The lower triangular L with L Lᴴ = input; only the lower triangle of a matrix is read.

    Args:
        input: Symmetric positive definite matrices: [..., n, n].
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.cholesky([[4.0, 2.0], [2.0, 5.0]]))
        array([[2., 0.],
               [1., 2.]], dtype=float32)
    """
    return raw.Cholesky(input=input, name=name)


def cholesky_solve(chol, rhs, name=None):
    """x with A x = rhs, given A's Cholesky factor.

    Args:
        chol: The Cholesky factors: [..., n, n].
        rhs: The right sides: [..., n, k].
        name: The name of the operation in the graph.

    Returns:
        The solutions: [..., n, k].

    Example:
        >>> sess.run(tf.cholesky_solve(tf.cholesky([[4.0, 2.0], [2.0, 5.0]]), [[8.0], [12.0]]))
        array([[1.],
               [2.]], dtype=float32)
    """
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        y = matrix_triangular_solve(chol, rhs, adjoint=False, lower=True)
        return matrix_triangular_solve(chol, y, adjoint=True, lower=True)


@takes_operators
def matrix_inverse(input, adjoint=False, name=None):
    """The inverse of square matrices, or of their adjoints.

    Args:
        input: Matrices: [..., n, n].
        adjoint: Whether the adjoints are inverted.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: When it runs, if a matrix has no inverse.

    Example:
        >>> sess.run(tf.matrix_inverse([[1.0, 2.0], [3.0, 4.0]]))
        array([[-2.0000002 ,  1.0000001 ],
               [ 1.5000001 , -0.50000006]], dtype=float32)
    """
    return raw.MatrixInverse(input=input, adjoint=adjoint, name=name)


@takes_operators
def matrix_determinant(input, name=None):
    """The determinant of square matrices.

    Args:
        input: Matrices: [..., n, n].
        name: The name of the operation in the graph.

    Returns:
        Numbers [...].

    Example:
        >>> sess.run(tf.matrix_determinant([[1.0, 2.0], [3.0, 4.0]]))
        np.float32(-2.0)
    """
    return raw.MatrixDeterminant(input=input, name=name)


def slogdet(input, name=None):
    """(sign, log |det|) of square matrices, for determinants that would overflow.

    Args:
        input: Matrices [..., n, n].
        name: The name of the operation in the graph.

    Returns:
        A named tuple of the signs and the logarithms.

    Example:
        >>> sess.run(tf.linalg.slogdet([[0.0, 1.0], [1.0, 0.0]]))
        LogMatrixDeterminant(sign=np.float32(-1.0), log_abs_determinant=np.float32(0.0))
    """
    return raw.LogMatrixDeterminant(input=input, name=name)


def logdet(matrix, name=None):
    """The logarithm of the determinant of Hermitian positive definite matrices.

    Args:
        matrix: Matrices [..., n, n].
        name: The name of the operation in the graph.

    Returns:
        Numbers [...].

    Example:
        >>> sess.run(tf.linalg.logdet([[4.0, 0.0], [0.0, 1.0]]))
        np.float32(1.3862944)
    """
    with name_scope(name, "logdet", [matrix]):
        factor = cholesky(matrix)
        return 2.0 * math.reduce_sum(math.log(math.real(array.matrix_diag_part(factor))), axis=[-1])


def qr(input, full_matrices=False, name=None):
    """(q, r) with q r = input, q unitary and r upper triangular.

    Args:
        input: Matrices: [..., n, m].
        full_matrices: Whether q is square.
        name: The name of the operation in the graph.

    Returns:
        A named tuple of q and r.

    Example:
        >>> q, r = tf.qr([[3.0, 1.0], [4.0, 2.0]])
        >>> sess.run(tf.matmul(q, r))
        array([[3., 1.],
               [4., 2.]], dtype=float32)
    """
    return raw.Qr(input=input, full_matrices=full_matrices, name=name)


def lu(input, output_idx_type=dtypes.int32, name=None):
    """(lu, p): both triangular factors in one matrix, and the order in which rows were taken.

    Args:
        input: Matrices [..., n, n].
        output_idx_type: The type of the order.
        name: The name of the operation in the graph.

    Returns:
        A named tuple of the factors [..., n, n] and the order [..., n].

    Example:
        >>> sess.run(tf.linalg.lu([[1.0, 2.0], [4.0, 2.0]]))
        Lu(lu=array([[4.  , 2.  ],
               [0.25, 1.5 ]], dtype=float32), p=array([1, 0], dtype=int32))
    """
    return raw.Lu(input=input, output_idx_type=output_idx_type, name=name)


def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """Singular values s, largest first, and u, v with tensor = u diag(s) vᴴ; s alone without `compute_uv`.

    Args:
        tensor: Matrices: [..., n, m].
        full_matrices: Whether u and v are square.
        compute_uv: Whether u and v are wanted.
        name: The name of the operation in the graph.

    Returns:
        The tensors s, u and v; s alone without `compute_uv`.

    Example:
        >>> s, u, v = tf.svd([[3.0, 0.0], [0.0, 4.0]])
        >>> sess.run(s)
        array([4., 3.], dtype=float32)
    """
    s, u, v = raw.Svd(input=tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    # They come in the matrix's dtype but are real; `real` of a real tensor is the tensor itself.
    s = math.real(s)
    return (s, u, v) if compute_uv else s


def self_adjoint_eig(tensor, name=None):
    """(e, v): eigenvalues, smallest first, and eigenvectors as columns, of self-adjoint matrices.

    Args:
        tensor: Matrices: [..., n, n]; only the lower triangle is read.
        name: The name of the operation in the graph.

    Returns:
        The values [..., n] and the vectors [..., n, n].

    Example:
        >>> values, vectors = tf.self_adjoint_eig([[2.0, 0.0], [0.0, 1.0]])
        >>> sess.run(values)
        array([1., 2.], dtype=float32)
    """
    return tuple(raw.SelfAdjointEigV2(input=tensor, compute_v=True, name=name))


def self_adjoint_eigvals(tensor, name=None):
    """The eigenvalues of self-adjoint matrices, smallest first.

    Args:
        tensor: Matrices: [..., n, n]; only the lower triangle is read.
        name: The name of the operation in the graph.

    Returns:
        A tensor [..., n].

    Example:
        >>> sess.run(tf.self_adjoint_eigvals([[2.0, 0.0], [0.0, 1.0]]))
        array([1., 2.], dtype=float32)
    """
    return raw.SelfAdjointEigV2(input=tensor, compute_v=False, name=name)[0]


@takes_operators
def matrix_solve(matrix, rhs, adjoint=False, name=None):
    """x with matrix x = rhs (or with the matrix's adjoint).

    Args:
        matrix: Matrices: [..., n, n].
        rhs: The right sides: [..., n, k].
        adjoint: Whether the adjoints of the matrices are used.
        name: The name of the operation in the graph.

    Returns:
        The solutions: [..., n, k].

    Raises:
        InvalidArgumentError: When it runs, if a matrix has no inverse.

    Example:
        >>> sess.run(tf.matrix_solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]))
        array([[1. ],
               [0.5]], dtype=float32)
    """
    return raw.MatrixSolve(matrix=matrix, rhs=rhs, adjoint=adjoint, name=name)


def matrix_triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None):
    """x with matrix x = rhs, for a triangular matrix; the other triangle is not read.

    Args:
        matrix: Triangular matrices: [..., n, n].
        rhs: The right sides: [..., n, k].
        lower: Whether it is the lower triangle that counts.
        adjoint: Whether the adjoints of the matrices are used.
        name: The name of the operation in the graph.

    Returns:
        The solutions: [..., n, k].

    Example:
        >>> sess.run(tf.matrix_triangular_solve([[2.0, 0.0], [1.0, 1.0]], [[2.0], [3.0]]))
        array([[1.],
               [2.]], dtype=float32)
    """
    return raw.MatrixTriangularSolve(matrix=matrix, rhs=rhs, lower=lower, adjoint=adjoint, name=name)


def matrix_solve_ls(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """The x that comes nearest to matrix x = rhs in the least squares sense.

    `fast` goes over the Cholesky factor of the normal equations, with `l2_regularizer` added; otherwise a complete
    orthogonal factorisation is used, which takes deficient matrices as well.

    Args:
        matrix: Matrices: [..., n, m].
        rhs: The right sides: [..., n, k].
        l2_regularizer: How much the square of x counts.
        fast: Whether the normal equations are solved; else a decomposition is used that also takes matrices of lower
            rank.
        name: The name of the operation in the graph.

    Returns:
        The solutions: [..., m, k].

    Example:
        >>> sess.run(tf.matrix_solve_ls([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]], [[1.0], [2.0], [3.0]]))
        array([[1.3765103e-07],
               [1.0000000e+00]], dtype=float32)
    """
    matrix = convert_to_tensor(matrix, name="matrix")
    if not fast:
        return raw.MatrixSolveLs(matrix=matrix, rhs=rhs, l2_regularizer=l2_regularizer, fast=fast, name=name)
    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):

        def tall():
            factor = regularized_gram_factor(matrix, l2_regularizer, True)
            return cholesky_solve(factor, math.matmul(matrix, rhs, adjoint_a=True))

        def wide():
            factor = regularized_gram_factor(matrix, l2_regularizer, False)
            return math.matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)

        sides = matrix.shape[-2:]
        if sides.is_fully_defined():
            return tall() if int(sides.dims[-2]) >= int(sides.dims[-1]) else wide()
        sides = array.shape(matrix)[-2:]
        return control_flow.cond(sides[-2] >= sides[-1], tall, wide)


def regularized_gram_factor(matrix, l2_regularizer, tall):
    """The Cholesky factor of matrixᴴ matrix + l2 I, or of matrix matrixᴴ + l2 I for wide matrices."""
    gram = math.matmul(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    if is_tensor(l2_regularizer) or l2_regularizer != 0:
        sizes = array.shape(matrix)
        batch_shape = sizes[:-2]
        side = -1 if tall else -2
        identity = eye(sizes[side], batch_shape=batch_shape, dtype=matrix.dtype)
        static = matrix.shape[side]
        identity.set_shape(matrix.shape[:-2].concatenate([static, static]))
        gram = gram + l2_regularizer * identity
    return cholesky(gram)


def eye(num_rows, num_columns=None, batch_shape=None, dtype=dtypes.float32, name=None):
    """Identity matrices, one for each place of `batch_shape`.

    Args:
        num_rows: How many rows.
        num_columns: How many columns; as many as rows if None.
        batch_shape: The shape before the matrices.
        dtype: The type of the elements.
        name: The name of the operation in the graph.

    Returns:
        A tensor [..., rows, columns].

    Example:
        >>> sess.run(tf.eye(2, 3))
        array([[1., 0., 0.],
               [0., 1., 0.]], dtype=float32)
    """
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        square = num_columns is None or (
            not is_tensor(num_rows) and not is_tensor(num_columns) and num_rows == num_columns
        )
        batch_shape = [] if batch_shape is None else batch_shape
        num_columns = num_rows if square else num_columns
        dynamic = is_tensor(num_rows) or is_tensor(num_columns)
        diagonal = math.minimum(num_rows, num_columns) if dynamic else min(num_rows, num_columns)
        if not dynamic and not is_tensor(batch_shape) and any(is_tensor(n) for n in batch_shape):
            diagonal_shape, shape = [*batch_shape, diagonal], [*batch_shape, num_rows, num_columns]
        elif dynamic or is_tensor(batch_shape):
            batch_shape = convert_to_tensor(
                batch_shape, name="shape", dtype=None if is_tensor(batch_shape) else dtypes.int32
            )
            diagonal_shape = array.concat((batch_shape, [diagonal]), axis=0)
            if not square:
                shape = array.concat((batch_shape, [num_rows, num_columns]), axis=0)
        else:
            batch_shape = TensorShape(batch_shape).as_list()
            diagonal_shape, shape = [*batch_shape, diagonal], [*batch_shape, num_rows, num_columns]
        diagonal_ones = array.ones(diagonal_shape, dtype=dtype)
        if square:
            return array.matrix_diag(diagonal_ones)
        return array.matrix_set_diag(array.zeros(shape, dtype=dtype), diagonal_ones)


@takes_operators
def trace(x, name=None):
    """The sum of the diagonal of each matrix.

    Args:
        x: Matrices: [..., n, m].
        name: The name of the operation in the graph.

    Returns:
        A tensor [...].

    Example:
        >>> sess.run(tf.trace([[1, 2], [3, 4]]))
        np.int32(5)
    """
    with name_scope(name, "Trace", [x]) as name:
        x = convert_to_tensor(x, name="x")
        return math.reduce_sum(array.matrix_diag_part(x), [-1], name=name)


@takes_operators
def adjoint(matrix, name=None):
    """Matrices transposed and conjugated.

    Args:
        matrix: Matrices [..., n, m].
        name: The name of the operation in the graph.

    Returns:
        Matrices [..., m, n].

    Example:
        >>> sess.run(tf.linalg.adjoint([[1 + 2j, 3j]]))
        array([[1.-2.j],
               [0.-3.j]])
    """
    with name_scope(name, "adjoint", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        return array.matrix_transpose(matrix, conjugate=True)


def matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """Matrices times vectors: the last dimension of `b` is summed with the columns of `a`.

    Args:
        a: Matrices [..., n, m].
        b: Vectors [..., m].
        transpose_a: Whether the matrices are transposed first.
        adjoint_a: Whether the matrices are transposed and conjugated first.
        a_is_sparse: A hint that many elements of `a` are zero.
        b_is_sparse: A hint that many elements of `b` are zero.
        name: The name of the operation in the graph.

    Returns:
        Vectors [..., n].

    Example:
        >>> sess.run(tf.linalg.matvec([[1, 2], [3, 4]], [10, 1]))
        array([12, 34], dtype=int32)
    """
    with name_scope(name, "MatVec", [a, b]):
        result = math.matmul(
            a,
            array.expand_dims(b, axis=-1),
            transpose_a=transpose_a,
            adjoint_a=adjoint_a,
            a_is_sparse=a_is_sparse,
            b_is_sparse=b_is_sparse,
        )
        return array.squeeze(result, axis=-1)


# Shape rules


def _matrix(tensor: Tensor):
    """(batch, rows, columns) of a tensor of at least two dimensions."""
    shape = tensor.shape
    if shape.rank is not None and shape.rank < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {shape.rank}")
    return shape[:-2], shape.size(-2), shape.size(-1)


def _square(tensor: Tensor):
    batch, rows, columns = _matrix(tensor)
    return batch, same_size(rows, columns)


def _smaller(rows, columns):
    """The smaller of two sizes, unknown where one of them is."""
    return None if rows is None or columns is None else min(rows, columns)


@shape_rule(
    "Cholesky",
    "BatchCholesky",
    "CholeskyGrad",
    "BatchCholeskyGrad",
    "MatrixInverse",
    "BatchMatrixInverse",
    "MatrixSquareRoot",
    "MatrixLogarithm",
    "MatrixExponential",
)
def _square_shape(op):
    batch, size = _square(op.inputs[0])
    return batch.concatenate([size, size])


@shape_rule("MatrixDeterminant", "BatchMatrixDeterminant")
def _determinant_shape(op):
    batch, rows, columns = _matrix(op.inputs[0])
    same_size(columns, rows)
    return batch


@shape_rule("LogMatrixDeterminant")
def _log_determinant_shape(op):
    return [_determinant_shape(op)] * 2


@shape_rule("SelfAdjointEigV2", "BatchSelfAdjointEigV2")
def _eigen_shape(op):
    batch, size = _square(op.inputs[0])
    return [batch.concatenate([size]), batch.concatenate([size, size]) if op.attrs["compute_v"] else TensorShape([0])]


@shape_rule("SelfAdjointEig", "BatchSelfAdjointEig")
def _packed_eigen_shape(op):
    batch, size = _square(op.inputs[0])
    return batch.concatenate([None if size is None else size + 1, size])


@shape_rule("Lu")
def _lu_shape(op):
    batch, size = _square(op.inputs[0])
    return [batch.concatenate([size, size]), batch.concatenate([size])]


@shape_rule("Qr")
def _qr_shape(op):
    batch, rows, columns = _matrix(op.inputs[0])
    inner = rows if op.attrs["full_matrices"] else _smaller(rows, columns)
    return [batch.concatenate([rows, inner]), batch.concatenate([inner, columns])]


@shape_rule("Svd", "BatchSvd")
def _svd_shape(op):
    batch, rows, columns = _matrix(op.inputs[0])
    rank = _smaller(rows, columns)
    values = batch.concatenate([rank])
    if not op.attrs["compute_uv"]:
        return [values, TensorShape([0]), TensorShape([0])]
    full = op.attrs["full_matrices"]
    return [
        values,
        batch.concatenate([rows, rows if full else rank]),
        batch.concatenate([columns, columns if full else rank]),
    ]


def _solution_shape(op, square):
    batch, rows, columns = _matrix(op.inputs[0])
    if square:
        rows = columns = same_size(rows, columns)
    rhs_batch, rhs_rows, rhs_columns = _matrix(op.inputs[1])
    rows = same_size(rows, rhs_rows)
    return same_batch(batch, rhs_batch).concatenate([rows if square else columns, rhs_columns])


def same_batch(a, b):
    """The shape that two batches of matrices share; ValueError where they can't."""
    if a.rank is not None and b.rank is not None:
        if a.rank != b.rank:
            raise ValueError(f"Shapes must be equal rank, but are {a.rank} and {b.rank}")
        for i, (x, y) in enumerate(zip(a.sizes, b.sizes)):
            if x is not None and y is not None and x != y:
                raise ValueError(
                    f"Dimension {i} in both shapes must be equal, but are {x} and {y}. Shapes are {show(a)} and {show(b)}."
                )
    return a.merge_with(b)


def show(shape):
    """A shape as TensorFlow's messages write it: [2,?]."""
    return "?" if shape.rank is None else "[" + ",".join("?" if n is None else str(n) for n in shape.sizes) + "]"


@shape_rule("MatrixSolve", "BatchMatrixSolve", "MatrixTriangularSolve", "BatchMatrixTriangularSolve")
def _solve_shape(op):
    return _solution_shape(op, square=True)


@shape_rule("MatrixSolveLs", "BatchMatrixSolveLs")
def _solve_ls_shape(op):
    if op.inputs[2].shape.rank not in (None, 0):
        raise ValueError(f"Shape must be rank 0 but is rank {op.inputs[2].shape.rank}")
    return _solution_shape(op, square=False)
