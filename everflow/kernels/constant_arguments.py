"""Shorter forms of kernels for nodes whose axes, sizes or orders are known when planning, as they mostly are.

Each is a closure without the reading and checking of those inputs; where anything is unusual, the general kernel
serves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F

from everflow.framework.slicing import MASKS
from everflow.kernels.array import basic as array
from everflow.kernels.array import indexing
from everflow.kernels.math import reductions
from everflow.kernels.registry import specialize
from everflow.native.lowering import lowers

if TYPE_CHECKING:
    from everflow.framework.shapes import TensorShape
    from everflow.kernels.context import Node
    from everflow.kernels.tensors import AnyTensor
    from everflow.native.values import Value as Expression


# How many axes known inputs must have, where the ops don't take others.
_RANKS = {
    **dict.fromkeys(("Transpose", "StridedSlice", "StridedSliceGrad", "Slice", "Tile"), 1),
    **dict.fromkeys(("ConcatV2", "Split", "GatherV2"), 0),
    "Pad": 2,
}


def _known(node: Node, position: int) -> list[int] | None:
    """The integers of a constant input; None where it has more or fewer axes than the op takes, too."""
    value = node.constant_input(position)
    if value is None or value.ndim != _RANKS.get(node.type, value.ndim):
        return None
    return value.reshape(-1).tolist()


def _rank(node: Node, position: int) -> int | None:
    source, output = node.inputs[position]
    shape = source.output_shapes[output]
    return None if shape is None else shape.ndims


def _is_plain(node: Node, position: int = 0) -> bool:
    """Whether an input is of a type for which torch has every function."""
    return node.input_dtypes[position].is_floating


# ATen's function, and the one whose bits don't depend on the number of threads where that makes a difference.
_REDUCTIONS: dict[str, tuple[Callable[..., torch.Tensor], Callable[..., torch.Tensor]]] = {
    "Sum": (torch.sum, reductions.float_sum),
    "Mean": (torch.mean, reductions.float_mean),
}


@specialize(*_REDUCTIONS)
def _reduction(node: Node) -> Callable | None:
    axes, rank = _known(node, 1), _rank(node, 0)
    if axes is None or rank is None or not _is_plain(node) or any(not -rank <= a < rank for a in axes):
        return None
    axes = sorted({a % rank for a in axes})
    keep = bool(node.attrs["keep_dims"])
    if not axes:
        return lambda x, axis: x
    source, output = node.inputs[0]
    plain, steady = _REDUCTIONS[node.type]
    if not _is_small(source.output_shapes[output]):
        return lambda x, axis: steady(x, axes, keep)
    if len(axes) == rank and not keep:
        return lambda x, axis: plain(x)
    return lambda x, axis: plain(x, axes, keep)


def _is_small(shape: TensorShape | None) -> bool:
    count = None if shape is None else shape.num_elements()
    return count is not None and count < reductions.DIVIDED


@specialize("Reshape")
def _reshape(node: Node) -> Callable | None:
    dims = _known(node, 1)
    if dims is None or _rank(node, 1) != 1 or not _is_tensor(node):
        return None
    if dims.count(-1) > 1 or any(d == 0 or d < -1 for d in dims):
        return None

    wanted = torch.Size(dims)

    def reshaped(x: torch.Tensor, shape: torch.Tensor) -> AnyTensor:
        if x.shape == wanted:
            return x  # without waiting for other threads, which torch lets run in between
        try:
            return x.reshape(dims)
        except RuntimeError:
            return array.reshape(x, shape)  # says what is wrong in words of its own

    return reshaped


@specialize("Transpose")
def _transpose(node: Node) -> Callable | None:
    order, rank = _known(node, 1), _rank(node, 0)
    if order is None or rank is None or not _is_plain(node) or sorted(order) != list(range(rank)):
        return None
    return lambda x, perm: x.permute(order)


@specialize("ExpandDims")
def _expand_dims(node: Node) -> Callable | None:
    axis, rank = _known(node, 1), _rank(node, 0)
    if axis is None or rank is None or not _is_plain(node) or len(axis) != 1 or not -1 - rank <= axis[0] <= rank:
        return None
    at = axis[0]
    return lambda x, dim: x.unsqueeze(at)


@specialize("ConcatV2")
def _concat(node: Node) -> Callable | None:
    last = len(node.inputs) - 1
    axis, ranks = _known(node, last), {_rank(node, i) for i in range(last)}
    if axis is None or len(ranks) != 1 or not _is_plain(node):
        return None
    rank, at = ranks.pop(), axis[0]
    if rank is None or not -rank <= at < rank:
        return None
    return lambda values, axis: torch.cat(values, at)


@specialize("Fill")
def _fill(node: Node) -> Callable | None:
    dims = node.constant_input(0)
    if (
        dims is None
        or dims.ndim != 1
        or not node.output_dtypes[0].is_floating
        or _rank(node, 1) != 0
        or (dims < 0).any()
    ):
        return None  # or the kernel says what is wrong
    dims = dims.tolist()
    return lambda shape, value: value.expand(dims).clone(memory_format=torch.contiguous_format)


# Slices, splits and their like: bound to the keys that torch takes


def _is_tensor(node: Node, position: int = 0) -> bool:
    """Whether an input is a torch tensor rather than strings or Python objects."""
    return node.input_dtypes[position].name not in ("string", "variant", "resource")


def slice_key(node: Node, positions: tuple[int, int, int]) -> tuple | None:
    """What torch's indexing takes for a strided slice, where its bounds are constant and no stride goes backward."""
    given = [value for i in positions if (value := node.constant_input(i)) is not None]
    if len(given) < len(positions) or {value.shape for value in given} != {given[0].shape} or given[0].ndim != 1:
        return None  # or the kernel says what is wrong
    bounds = [value.tolist() for value in given]
    masks = {name: node.attrs[name] for name in MASKS}
    key: list = []
    for i, (begin, end, stride) in enumerate(zip(*bounds, strict=True)):
        bit = 1 << i
        if masks["ellipsis_mask"] & bit:
            key.append(Ellipsis)
        elif masks["new_axis_mask"] & bit:
            key.append(None)
        elif stride <= 0:
            return None
        elif masks["shrink_axis_mask"] & bit:
            key.append(begin)
        else:
            key.append(
                slice(None if masks["begin_mask"] & bit else begin, None if masks["end_mask"] & bit else end, stride)
            )
    return tuple(key) if key.count(Ellipsis) < 2 else None


@specialize("StridedSlice")
def _strided_slice(node: Node) -> Callable | None:
    key, is_text = slice_key(node, (1, 2, 3)), node.input_dtypes[0].name == "string"
    if key is None or not (is_text or _is_tensor(node)):
        return None
    masks = {name: node.attrs[name] for name in MASKS}

    def cut(x: AnyTensor, begin: torch.Tensor, end: torch.Tensor, strides: torch.Tensor) -> AnyTensor:
        try:
            found = x[key]
        except IndexError:
            return indexing.strided_slice(x, begin, end, strides, **masks)  # which says what does not fit
        return np.asarray(found, object) if is_text else found  # one string comes without an array around it

    return cut


@lowers("StridedSlice", known=(1, 2, 3))
def _lower_strided_slice(
    x: Expression,
    begin: np.ndarray,
    end: np.ndarray,
    strides: np.ndarray,
    *,
    node: Node,
    result_shape: tuple[int, ...],
) -> Expression | None:
    key = slice_key(node, (1, 2, 3))
    if key is None:
        return None
    kept = [k for k in key if k is not None]  # new axes only show in the shape
    if Ellipsis not in kept:
        kept.append(Ellipsis)
    at = kept.index(Ellipsis)
    kept[at : at + 1] = [slice(None)] * (len(x.shape) - len(kept) + 1)
    ranges = [
        range(*k.indices(n)) if isinstance(k, slice) else range(n)[k : k + 1 or None]
        for k, n in zip(kept, x.shape, strict=True)
    ]
    part = x.slice([r.start for r in ranges], [len(r) for r in ranges], [r.step for r in ranges])
    return part.reshape(result_shape)


@specialize("StridedSliceGrad")
def _strided_slice_grad(node: Node) -> Callable | None:
    key = slice_key(node, (1, 2, 3))
    if key is None:
        return None

    def spread(
        shape: torch.Tensor, begin: torch.Tensor, end: torch.Tensor, strides: torch.Tensor, dy: torch.Tensor
    ) -> torch.Tensor:
        out = torch.zeros(shape.tolist(), dtype=dy.dtype, device=dy.device)
        out[key] = dy
        return out

    return spread


@specialize("Slice")
def _slice(node: Node) -> Callable | None:
    begin, size = _known(node, 1), _known(node, 2)
    if 0 in (_rank(node, 1), _rank(node, 2)):
        return None
    if begin is None or size is None or not _is_tensor(node) or any(b < 0 for b in begin) or any(s < 0 for s in size):
        return None
    key = tuple(slice(b, b + s) for b, s in zip(begin, size, strict=True))
    wanted = torch.Size(size)

    def cut(x: torch.Tensor, begin: torch.Tensor, size: torch.Tensor) -> AnyTensor:
        block = x[key]
        return block if block.shape == wanted else indexing.slice_(x, begin, size)  # which says what does not fit

    return cut


@specialize("Split")
def _split(node: Node) -> Callable | None:
    axis, rank = _known(node, 0), _rank(node, 1)
    count = node.attrs["num_split"]
    if axis is None or rank is None or _rank(node, 0) != 0 or not _is_tensor(node, 1) or count == 1:
        return None
    if not -rank <= axis[0] < rank:
        return None
    at = axis[0] % rank

    def parts(split_dim: torch.Tensor, value: torch.Tensor) -> Sequence[AnyTensor]:
        width, rest = divmod(value.shape[at], count)
        if rest or not width:
            return array.split(split_dim, value, num_split=count)
        return torch.chunk(value, count, at)

    return parts


@specialize("Pad")
def _pad(node: Node) -> Callable | None:
    pairs, rank = _known(node, 1), _rank(node, 0)
    if pairs is None or rank is None or len(pairs) != 2 * rank or not _is_plain(node) or any(p < 0 for p in pairs):
        return None
    flat = [n for i in reversed(range(rank)) for n in pairs[2 * i : 2 * i + 2]]
    return lambda x, paddings: F.pad(x, flat)


@specialize("Tile")
def _tile(node: Node) -> Callable | None:
    times, rank = _known(node, 1), _rank(node, 0)
    if times is None or rank != len(times) or not _is_plain(node) or any(m < 1 for m in times):
        return None
    return lambda x, multiples: x.repeat(times)


@specialize("GatherV2")
def _gather(node: Node) -> Callable | None:
    axis, rank = _known(node, 2), _rank(node, 0)
    if axis is None or node.attrs["batch_dims"]:
        return None
    at = axis[0]
    if at < 0:
        if rank is None or at < -rank:
            return None
        at += rank
    if at and (rank is None or at >= rank):
        return None
    return lambda params, indices, axis: indexing.take(params, indices, at)
