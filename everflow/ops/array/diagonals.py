"""Matrices from diagonals, diagonals from matrices, and bands of them."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.operation import Tensor
from everflow.framework.registry import shape_rule
from everflow.framework.shapes import TensorShape, unknown_shape
from everflow.ops.array.basic import known_int, known_ints
from everflow.ops.array.operator_forms import takes_operators


def _is(value, default):
    return not isinstance(value, Tensor) and isinstance(value, (int, float)) and value == default


def matrix_diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0):
    """(Batches of) matrices with `diagonal` on the main diagonal, or on those that `k` names, and `padding_value`
    elsewhere.

    Args:
        diagonal: The diagonals: [..., n].
        name: The name of the operation in the graph.
        k: Which diagonal, 0 for the main one; or the lowest and the highest of several.
        num_rows: How many rows; -1 for as many as needed.
        num_cols: How many columns; -1 for as many as needed.
        padding_value: What stands elsewhere.

    Returns:
        Matrices.

    Example:
        >>> sess.run(tf.matrix_diag([1, 2]))
        array([[1, 0],
               [0, 2]], dtype=int32)
    """
    if _is(k, 0) and _is(num_rows, -1) and _is(num_cols, -1) and _is(padding_value, 0):
        return raw.MatrixDiag(diagonal=diagonal, name=name)
    return raw.MatrixDiagV2(
        diagonal=diagonal, k=k, num_rows=num_rows, num_cols=num_cols, padding_value=padding_value, name=name
    )


@takes_operators
def matrix_diag_part(input, name="diag_part", k=0, padding_value=0):
    """The main diagonal of (batches of) matrices, or those that `k` names.

    Args:
        input: Matrices: [..., n, m].
        name: The name of the operation in the graph.
        k: Which diagonal, 0 for the main one; or the lowest and the highest of several.
        padding_value: What fills up shorter ones of several.

    Returns:
        The diagonals.

    Example:
        >>> sess.run(tf.matrix_diag_part([[1, 2], [3, 4]]))
        array([1, 4], dtype=int32)
    """
    if _is(k, 0) and _is(padding_value, 0):
        return raw.MatrixDiagPart(input=input, name=name)
    return raw.MatrixDiagPartV2(input=input, k=k, padding_value=padding_value, name=name)


def matrix_set_diag(input, diagonal, name="set_diag", k=0):
    """(Batches of) matrices with their main diagonal, or those that `k` names, replaced.

    Args:
        input: Matrices: [..., n, m].
        diagonal: The new diagonals.
        name: The name of the operation in the graph.
        k: Which diagonal, 0 for the main one; or the lowest and the highest of several.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.matrix_set_diag([[1, 2], [3, 4]], [9, 9]))
        array([[9, 2],
               [3, 9]], dtype=int32)
    """
    if _is(k, 0):
        return raw.MatrixSetDiag(input=input, diagonal=diagonal, name=name)
    return raw.MatrixSetDiagV2(input=input, diagonal=diagonal, k=k, name=name)


def matrix_band_part(input, num_lower, num_upper, name=None):
    """(Batches of) matrices with zeros outside a band: so many diagonals below and above the main one; -1 keeps all.

    Args:
        input: Matrices: [..., n, m].
        num_lower: How many diagonals below the main one stay; -1 for all.
        num_upper: How many diagonals above the main one stay; -1 for all.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.matrix_band_part([[1, 2], [3, 4]], -1, 0))
        array([[1, 0],
               [3, 4]], dtype=int32)
    """
    return raw.MatrixBandPart(input=input, num_lower=num_lower, num_upper=num_upper, name=name)


def diag(diagonal, name=None):
    """A tensor of twice the rank with the input on its diagonal.

    Args:
        diagonal: The tensor.
        name: The name of the operation in the graph.

    Returns:
        A tensor whose shape is that of `diagonal` twice.

    Example:
        >>> sess.run(tf.diag([1, 2]))
        array([[1, 0],
               [0, 2]], dtype=int32)
    """
    return raw.Diag(diagonal=diagonal, name=name)


def diag_part(input, name=None):
    """The diagonal of a tensor whose shape is the same twice.

    Args:
        input: The tensor to work on.
        name: The name of the operation in the graph.

    Returns:
        A tensor of half the rank.

    Example:
        >>> sess.run(tf.diag_part([[1, 2], [3, 4]]))
        array([1, 4], dtype=int32)
    """
    return raw.DiagPart(input=input, name=name)


@shape_rule("Diag")
def _diag_shape(op):
    source = op.inputs[0].shape.with_rank_at_least(1)
    return source.concatenate(source)


@shape_rule("DiagPart")
def _diag_part_shape(op):
    source = op.inputs[0].shape
    if source.rank is None:
        return None
    if source.rank % 2 or not source.rank:
        raise ValueError(f"Input must have even and non-zero rank, input rank is {source.rank}")
    return source[: source.rank // 2].merge_with(source[source.rank // 2 :])


@shape_rule("MatrixDiag", "BatchMatrixDiag")
def _matrix_diag_shape(op):
    source = op.inputs[0].shape
    if source.rank is None:
        return None
    if source.rank < 1:
        raise ValueError(f"Shape must be at least rank 1 but is rank {source.rank}")
    return source.concatenate([source[-1]])


def _matrix(source):
    if source.rank is not None and source.rank < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {source.rank}")
    return source


def _least(a, b):
    return 0 if 0 in (a, b) else None if a is None or b is None else min(a, b)


@shape_rule("MatrixDiagPart", "BatchMatrixDiagPart")
def _matrix_diag_part_shape(op):
    source = _matrix(op.inputs[0].shape)
    if source.rank is None:
        return None
    return source[:-2].concatenate([_least(source.size(-2), source.size(-1))])


@shape_rule("MatrixSetDiag", "BatchMatrixSetDiag", "MatrixSetDiagV2")
def _matrix_set_diag_shape(op):
    source, diagonal = _matrix(op.inputs[0].shape), op.inputs[1].shape
    if op.type == "MatrixSetDiagV2":
        return source
    if diagonal.rank is not None and diagonal.rank < 1:
        raise ValueError(f"Shape must be at least rank 1 but is rank {diagonal.rank}")
    if source.rank is not None:
        expected = source[:-2].concatenate([_least(source.size(-2), source.size(-1))])
        merged = expected.merge_with(diagonal)
        return merged[:-1].concatenate(source[-2:])
    return diagonal[:-1].concatenate([None, None]) if diagonal.rank is not None else unknown_shape()


@shape_rule("MatrixBandPart", "BatchMatrixBandPart")
def _matrix_band_part_shape(op):
    return op.inputs[0].shape


def _band_of(tensor):
    ks = known_ints(tensor)
    return (None, None) if ks is None else (ks[0], ks[-1])


@shape_rule("MatrixDiagV2")
def _matrix_diag_v2_shape(op):
    source, (low, high) = op.inputs[0].shape, _band_of(op.inputs[1])
    rows, columns = known_int(op.inputs[2]), known_int(op.inputs[3])
    if source.rank is None or low is None:
        return None
    batch, longest = source[: -1 if low == high else -2], source.size(-1)
    if longest is None or rows is None or columns is None:
        return batch.concatenate([None, None])
    least_rows, least_columns = longest - min(high, 0), longest + max(low, 0)
    if rows == columns == -1:
        rows = columns = max(least_rows, least_columns)
    return batch.concatenate([least_rows if rows == -1 else rows, least_columns if columns == -1 else columns])


@shape_rule("MatrixDiagPartV2")
def _matrix_diag_part_v2_shape(op):
    source, (low, high) = _matrix(op.inputs[0].shape), _band_of(op.inputs[1])
    if source.rank is None or low is None:
        return None
    rows, columns = source.size(-2), source.size(-1)
    longest = None if rows is None or columns is None else min(rows + min(high, 0), columns - max(low, 0))
    return source[:-2].concatenate(TensorShape([longest] if low == high else [high - low + 1, longest]))
