"""The largest entries of rows, and whether a class is among them."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import known_value


def top_k(input, k=1, sorted=True, name=None):
    """The k largest entries of each row and their indices; of equal ones the first comes first.

    Args:
        input: Numbers; the last axis is a row.
        k: How many.
        sorted: Whether the largest comes first.
        name: The name of the operation in the graph.

    Returns:
        A named tuple of values and indices [..., k].

    Example:
        >>> sess.run(tf.nn.top_k([1.0, 5.0, 3.0], k=2))
        TopKV2(values=array([5., 3.], dtype=float32), indices=array([1, 2], dtype=int32))
    """
    return raw.TopKV2(input=input, k=k, sorted=sorted, name=name)


def in_top_k(predictions, targets, k, name=None):
    """Whether each row's target class is among its k largest predictions.

    Args:
        predictions: Scores [batch, classes].
        targets: The right classes [batch].
        k: How many predictions count.
        name: The name of the operation in the graph.

    Returns:
        Bools [batch].

    Example:
        >>> sess.run(tf.nn.in_top_k([[0.1, 0.6, 0.3]], [2], 2))
        array([ True])
    """
    with name_scope(name, "in_top_k"):
        return raw.InTopKV2(predictions=predictions, targets=targets, k=k, name=name)


def nth_element(input, n, reverse=False, name=None):
    """The n-th smallest entry of each row (the n-th largest with `reverse`), counted from zero."""
    return raw.NthElement(input=input, n=n, reverse=reverse, name=name)


def _known_scalar(tensor):
    """The value of a tensor that is to be a scalar, None where only the run tells: it tells of other shapes, too."""
    value = known_value(tensor)
    if value is not None:
        tensor.shape.with_rank(0)
    return value


@shape_rule("TopK", "TopKV2")
def _top_k_shape(op):
    if op.type == "TopK":
        k = op.attrs["k"]
    else:
        k = _known_scalar(op.inputs[1])
    shape = op.inputs[0].shape.with_rank_at_least(1)
    if k is not None:
        k = int(k)
        if k < 0:
            raise ValueError(f"Need k >= 0, got {k}")
    if shape.rank is None:
        return [shape, shape]
    columns = shape.dims[-1].value
    if k is not None and columns is not None and columns < k:
        raise ValueError(f"input must have last dimension >= k = {k} but is {columns}")
    rows = TensorShape([*shape.dims[:-1], k])
    return [rows, rows]


@shape_rule("InTopK", "InTopKV2")
def _in_top_k_shape(op):
    predictions, targets = op.inputs[0].shape.with_rank(2), op.inputs[1].shape.with_rank(1)
    return TensorShape([predictions.dims[0].merge_with(targets.dims[0])])


@shape_rule("NthElement")
def _nth_element_shape(op):
    shape = op.inputs[0].shape.with_rank_at_least(1)
    n = _known_scalar(op.inputs[1])
    if n is not None and n < 0:
        raise ValueError(f"n must not be negative, but is {int(n)}")
    if shape.rank is None:
        return shape
    columns = shape.dims[-1].value
    if n is not None and columns is not None and columns <= int(n):
        raise ValueError(f"Input must have last dimension > n = {int(n)} but is {columns}")
    return TensorShape(shape.dims[:-1])
