"""tf.einsum: sums of products in Einstein's notation, made of transposes, reshapes and matrix products."""

from __future__ import annotations

import functools
import operator
import re
from collections import Counter

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array
from everflow.ops.math import matrix as math_matrix
from everflow.ops.math import reductions


def einsum(equation, *inputs, **kwargs):
    """A sum of products, written with a letter for each axis.

    Args:
        equation: The letters of the inputs' axes, and after `->` those of the result.
        *inputs: The tensors.
        **kwargs: `name`.

    Returns:
        A tensor.

    Raises:
        TypeError: If a keyword isn't known.
        ValueError: If the equation doesn't fit the inputs.

    Example:
        >>> sess.run(tf.einsum("ij,jk->ik", [[1, 2]], [[3], [4]]))
        array([[11]], dtype=int32)
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError("invalid keyword arguments for this function: " + ", ".join(sorted(kwargs)))
    with name_scope(name, "einsum", [equation, inputs]):
        # Variables are read where they are used.
        inputs = [x if hasattr(x, "get_shape") else convert_to_tensor(x) for x in inputs]
        if re.fullmatch(r"\s*([a-zA-Z])\1\s*", equation) and len(inputs) == 1:
            with name_scope("Trace") as scope:
                return reductions.reduce_sum(array.matrix_diag_part(inputs[0], name="diag_part"), [-1], name=scope)
        labels, output = parse(equation, [x.shape for x in inputs])
        for one in [*labels, output]:
            if len(set(one)) != len(one):
                raise ValueError(
                    f"The subscript {one!r} has an axis twice; take the diagonal first (tf.linalg.diag_part)"
                )
        result, result_labels = inputs[0], labels[0]
        for i in range(1, len(inputs)):
            needed_later = set(output).union(*labels[i + 1 :])
            summed = (set(result_labels) & set(labels[i])) - needed_later
            result, result_labels = _contract(result, result_labels, inputs[i], labels[i], summed)
        gone = [i for i, label in enumerate(result_labels) if label not in output]
        if gone:
            result = reductions.reduce_sum(result, gone)
            result_labels = "".join(label for label in result_labels if label in output)
        if set(output) - set(result_labels):
            raise ValueError(f"Invalid equation: {equation}")
        return _transposed(result, [result_labels.index(label) for label in output])


def parse(equation, shapes):
    """(labels of each input, labels of the output) of an equation, with "..." spelled out in unused letters."""
    equation = equation.replace(" ", "")
    match = re.fullmatch(r"([^,>-]*(?:,[^,>-]*)*)(?:->([^>,-]*))?", equation)
    if (
        match is None
        or not re.fullmatch(r"[a-zA-Z.,]*", match.group(1))
        or not re.fullmatch(r"[a-zA-Z.]*", match.group(2) or "")
    ):
        raise ValueError(f"Indices have incorrect format: {equation}")
    labels, output = match.group(1).split(","), match.group(2)
    if labels == [""]:
        raise ValueError(f"There are no axes in the equation {equation!r}")
    if len(labels) != len(shapes):
        raise ValueError(f'Got {len(shapes)} arguments for equation "{equation}", expecting {len(labels)}')
    if "..." in equation:
        labels, output = _without_ellipsis(equation, labels, output, shapes)
    if output is None:
        counts = Counter("".join(labels))
        output = "".join(sorted(label for label, count in counts.items() if count == 1))
    return labels, output


def _without_ellipsis(equation, labels, output, shapes):
    unused = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in equation]
    longest = ""
    spelled = []
    for one, shape in zip(labels, shapes, strict=True):
        if "..." in one:
            if shape.rank is None:
                raise ValueError(f"Ellipsis needs inputs of known rank in equation: {equation}")
            count = shape.rank - len(one.replace("...", ""))
            letters = "".join(unused[len(unused) - count :]) if count else ""
            longest = max(longest, letters, key=len)
            one = one.replace("...", letters)
        spelled.append(one)
    if any("." in one for one in spelled):
        raise ValueError(f"Indices have incorrect format: {equation}")
    if output is None:
        counts = Counter("".join(spelled))
        return spelled, longest + "".join(sorted(c for c, n in counts.items() if n == 1 and c not in longest))
    return spelled, output.replace("...", longest)


def _contract(t0, labels0, t1, labels1, summed):
    """Two tensors made one, summed over some of the labels both have: (the result, its labels)."""
    for label, tensor, labels in (("t0", t0, labels0), ("t1", t1, labels1)):
        if len(tensor.shape) != len(labels):
            raise ValueError(
                f"An einsum's subscript has {len(labels)} axes where its tensor, {label}, has {tensor.shape.rank}"
            )
    shared = sorted((set(labels0) & set(labels1)) - summed)
    only0, only1 = sorted(set(labels0) - set(labels1)), sorted(set(labels1) - set(labels0))
    inner = sorted(summed)
    t0 = _transposed(t0, [labels0.index(label) for label in shared + only0 + inner])
    t1 = _transposed(t1, [labels1.index(label) for label in shared + inner + only1])
    result_labels = "".join(shared + only0 + only1)
    if not inner:
        for _ in only1:
            t0 = array.expand_dims(t0, -1)
        for _ in only0:
            t1 = array.expand_dims(t1, len(shared))
        return raw.Mul(t0, t1), result_labels
    batch, rows, columns = len(shared), len(only0), len(only1)
    sizes0 = _sizes(t0)
    kept_size, inner_size = _product(sizes0[batch : batch + rows]), _product(sizes0[batch + rows :])
    t0 = _reshaped(t0, [*sizes0[:batch], kept_size, inner_size])
    sizes1 = _sizes(t1)
    t1 = _reshaped(t1, [*sizes1[:batch], inner_size, _product(sizes1[batch + len(inner) :])])
    product = math_matrix.matmul(t0, t1)
    final = [*sizes0[: batch + rows], *(sizes1[len(sizes1) - columns :] if columns else [])]
    return _reshaped(product, final), result_labels


def _product(sizes):
    return functools.reduce(operator.mul, sizes, 1)


def _sizes(tensor):
    """The sizes of a tensor: numbers where they are known, scalar tensors where not."""
    sizes = tensor.shape.as_list()
    if None in sizes:
        shape = array.shape(tensor)
        sizes = [shape[i] if size is None else size for i, size in enumerate(sizes)]
    return sizes


def _reshaped(tensor, sizes):
    known = not any(isinstance(size, Tensor) for size in sizes)
    if known and tensor.shape.is_fully_defined() and tensor.shape.as_list() == list(sizes):
        return tensor
    return array.reshape(tensor, sizes)


def _transposed(tensor, perm):
    return tensor if perm == list(range(len(perm))) else array.transpose(tensor, perm)
