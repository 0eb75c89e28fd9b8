"""Shorter forms of kernels for nodes whose axes, sizes or orders are known when planning, as they mostly are.

Each is a closure without the reading and checking of those inputs; where anything is unusual, the general kernel serves.
"""

from __future__ import annotations

import torch

from everflow.kernels.registry import specialize


def _known(node, position: int) -> list[int] | None:
    """The integers of a constant input."""
    value = node.constant_input(position)
    return None if value is None else value.reshape(-1).tolist()


def _rank(node, position: int) -> int | None:
    source, output = node.inputs[position]
    shape = source.output_shapes[output]
    return None if shape is None else shape.ndims


def _is_plain(node, position: int = 0) -> bool:
    """Whether an input is of a type for which torch has every function."""
    return node.input_dtypes[position].is_floating


_REDUCTIONS = {"Sum": torch.sum, "Mean": torch.mean}


@specialize(*_REDUCTIONS)
def _reduction(node):
    axes, rank = _known(node, 1), _rank(node, 0)
    if axes is None or rank is None or not _is_plain(node) or any(not -rank <= a < rank for a in axes):
        return None
    axes = sorted({a % rank for a in axes})
    keep = bool(node.attrs["keep_dims"])
    reduce = _REDUCTIONS[node.type]
    if not axes:
        return lambda x, axis: x
    if len(axes) == rank and not keep:
        return lambda x, axis: reduce(x)
    return lambda x, axis: reduce(x, axes, keep)


@specialize("Reshape")
def _reshape(node):
    dims = _known(node, 1)
    if dims is None or not _is_plain(node) or dims.count(-1) > 1 or any(d == 0 or d < -1 for d in dims):
        return None
    return lambda x, shape: x.reshape(dims)


@specialize("Transpose")
def _transpose(node):
    order, rank = _known(node, 1), _rank(node, 0)
    if order is None or rank is None or not _is_plain(node) or sorted(order) != list(range(rank)):
        return None
    return lambda x, perm: x.permute(order)


@specialize("ExpandDims")
def _expand_dims(node):
    axis, rank = _known(node, 1), _rank(node, 0)
    if axis is None or rank is None or not _is_plain(node) or len(axis) != 1 or not -1 - rank <= axis[0] <= rank:
        return None
    at = axis[0]
    return lambda x, dim: x.unsqueeze(at)


@specialize("ConcatV2")
def _concat(node):
    last = len(node.inputs) - 1
    axis, ranks = _known(node, last), {_rank(node, i) for i in range(last)}
    if axis is None or len(ranks) != 1 or None in ranks or not _is_plain(node):
        return None
    rank, at = ranks.pop(), axis[0]
    if not -rank <= at < rank:
        return None
    return lambda values, axis: torch.cat(values, at)


@specialize("Fill")
def _fill(node):
    dims = _known(node, 0)
    if dims is None or not node.output_dtypes[0].is_floating or any(d < 0 for d in dims):
        return None
    return lambda shape, value: value.expand(dims).contiguous()
