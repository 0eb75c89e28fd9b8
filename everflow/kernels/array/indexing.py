"""Kernels that pick or place elements by index: slices, gathers, scatters, masks, partitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch

from everflow.framework import slicing
from everflow.kernels.array.basic import (
    bracketed,
    copied,
    dims_of,
    flip,
    invalid,
    is_text,
    on_bits,
    scalar,
    signed,
    widened,
    wrap_axis,
)
from everflow.kernels.array.masks import chosen
from everflow.kernels.facts import same, view
from everflow.kernels.registry import fresh, kernel, safe
from everflow.kernels.tensors import AnyTensor, Value, torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.slicing import Axis

# Slices


@kernel("Slice", result=view(0))
def slice_(input: AnyTensor, begin: torch.Tensor, size: torch.Tensor) -> AnyTensor:
    starts, sizes = dims_of(begin), dims_of(size)
    if begin.ndim != 1 or size.ndim != 1 or len(starts) != input.ndim or len(sizes) != input.ndim:
        raise invalid(
            f"Expected begin and size arguments to be 1-D tensors of size {input.ndim}, "
            f"but got shapes {list(begin.shape)} and {list(size.shape)} instead."
        )
    keys = []
    for i, (start, length, dim) in enumerate(zip(starts, sizes, input.shape, strict=True)):
        if length == -1:
            length = dim - start
        if not 0 <= start <= dim:
            raise invalid(f"Expected begin[{i}] in [0, {dim}], but got {start}")
        if not 0 <= length <= dim - start:
            raise invalid(f"Expected size[{i}] in [0, {dim - start}], but got {length}")
        keys.append(slice(start, start + length))
    return input[tuple(keys)]


def _resolved(
    shape: Sequence[int],
    begin: torch.Tensor,
    end: torch.Tensor,
    strides: torch.Tensor,
    masks: tuple[int, int, int, int, int],
) -> list[Axis]:
    if begin.shape != end.shape or begin.shape != strides.shape or begin.ndim != 1:
        raise invalid("Expected begin, end, and strides to be 1D equal size tensors")
    try:
        return slicing.resolve(tuple(shape), begin.tolist(), end.tolist(), strides.tolist(), *masks)
    except ValueError as e:
        raise invalid(str(e)) from None


def _keys(axes: list[Axis]) -> tuple[tuple[slice | int | None, ...], list[int]]:
    """The index that torch and numpy both take, and the result's axes to turn around (torch has no negative strides)."""
    keys: list[slice | int | None] = []
    backward, place = [], 0
    for kind, begin, stride, size in axes:
        assert begin is not None and size is not None, "kernels know all sizes"
        if kind == "new":
            keys.append(None)
        elif kind == "shrink":
            keys.append(begin)
            continue
        elif stride > 0:
            keys.append(slice(begin, begin + (size - 1) * stride + 1 if size else begin, stride))
        else:
            lowest = begin + (size - 1) * stride if size else 0
            keys.append(slice(lowest, begin + 1 if size else 0, -stride))
            backward.append(place)
        place += 1
    return tuple(keys), backward


def _turn(value: Value, axes: list[int]) -> Value:
    return flip(value, axes) if axes else value


@kernel("StridedSlice", result=view(0))
def strided_slice(
    input: AnyTensor,
    begin: torch.Tensor,
    end: torch.Tensor,
    strides: torch.Tensor,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> AnyTensor:
    masks = begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    keys, backward = _keys(_resolved(input.shape, begin, end, strides, masks))
    if is_text(input):
        cut = _turn(input[keys], backward)
        # A handle or list is itself, without an array around it.
        return np.asarray(cut, object) if isinstance(cut, (np.ndarray, bytes)) else cut
    return _turn(input[keys], backward)


def assign_slice(
    target: AnyTensor,
    begin: torch.Tensor,
    end: torch.Tensor,
    strides: torch.Tensor,
    value: Value,
    masks: tuple[int, int, int, int, int],
) -> None:
    """Write `value` into a slice of `target`, in place."""
    axes = _resolved(target.shape, begin, end, strides, masks)
    keys, backward = _keys(axes)
    dims: list[Any] = slicing.output_dims(axes)
    if tuple(value.shape) != tuple(dims) and math.prod(dims) != 1:
        try:
            value = np.broadcast_to(value, dims) if is_text(value) else value.expand(dims)
        except (RuntimeError, ValueError):
            raise invalid(
                f"Assign requires shapes of both tensors to match. lhs shape= {dims} rhs shape= {list(value.shape)}"
            ) from None
    part = _turn(value.reshape(dims), backward)
    entries: Any = part[()] if is_text(part) else part  # an array of text would itself be taken for a text
    target[keys] = entries


@fresh("StridedSliceGrad")
def strided_slice_grad(
    shape: torch.Tensor,
    begin: torch.Tensor,
    end: torch.Tensor,
    strides: torch.Tensor,
    dy: torch.Tensor,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> torch.Tensor:
    masks = begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    axes = _resolved(dims_of(shape), begin, end, strides, masks)
    if tuple(slicing.output_dims(axes)) != tuple(dy.shape):
        raise invalid(f"shape of dy was {list(dy.shape)} instead of {slicing.output_dims(axes)}")
    out = torch.zeros(dims_of(shape), dtype=dy.dtype, device=dy.device)
    keys, backward = _keys(axes)
    out[keys] = _turn(dy, backward)
    return out


@fresh("TensorStridedSliceUpdate")
def tensor_strided_slice_update(
    input: AnyTensor,
    begin: torch.Tensor,
    end: torch.Tensor,
    strides: torch.Tensor,
    value: AnyTensor,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> AnyTensor:
    out = input.copy() if is_text(input) else input.clone()
    assign_slice(
        out, begin, end, strides, value, (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    )
    return out


# Gathering


def check_indices(indices: torch.Tensor, limit: int, name: str = "indices") -> None:
    """Raise for the first index outside [0, limit)."""
    if not indices.numel():
        return
    low, high = torch.aminmax(indices)
    if low.item() < 0 or high.item() >= limit:
        where = ((indices < 0) | (indices >= limit)).nonzero()[0].tolist()
        at = f"[{','.join(map(str, where))}]" if where else ""
        raise invalid(f"{name}{at} = {indices[tuple(where)].item()} is not in [0, {limit})")


def take(params: AnyTensor, indices: torch.Tensor, axis: int) -> AnyTensor:
    """The elements of an axis at checked indices of any shape."""
    check_indices(indices, params.shape[axis])
    if is_text(params):
        taken = np.take(params, indices.numpy(), axis)
        if indices.ndim == 0 and params.ndim == 1 and not isinstance(taken, bytes):
            return taken  # a resource is itself, without an array around it
        return np.asarray(taken, object)
    return on_bits(_take)(params, indices, axis)


def _take(params: torch.Tensor, indices: torch.Tensor, axis: int) -> torch.Tensor:
    if indices.ndim == 0:
        return params.select(axis, int(indices)).clone()  # plans count on fresh memory here
    if indices.ndim == 1:
        return params.index_select(axis, indices)
    picked = params.index_select(axis, indices.reshape(-1))
    return picked.reshape(params.shape[:axis] + indices.shape + params.shape[axis + 1 :])


@fresh("Gather")
def gather(params: AnyTensor, indices: torch.Tensor) -> AnyTensor:
    if params.ndim < 1:
        raise invalid("params must be at least 1 dimensional")
    return take(params, indices, 0)


@fresh("GatherV2")
def gather_v2(params: AnyTensor, indices: torch.Tensor, axis: torch.Tensor, *, batch_dims: int) -> AnyTensor:
    at = wrap_axis(scalar(axis, "axis"), params.ndim, "Expected axis in the range [{low}, {rank}), but got {axis}")
    if not batch_dims:
        return take(params, indices, at)
    if batch_dims < 0:
        batch_dims += indices.ndim
    if not 0 <= batch_dims <= indices.ndim or batch_dims >= params.ndim or at < batch_dims:
        raise invalid(
            f"batch_dims ({batch_dims}) must be at most rank(indices), less than rank(params), and not past axis ({at})"
        )
    if params.shape[:batch_dims] != indices.shape[:batch_dims]:
        raise invalid("params and indices must have the same batch dimensions")
    check_indices(indices, params.shape[at])
    batch = params.shape[:batch_dims]
    rows = math.prod(batch)
    flat: Value = params.reshape(rows, *params.shape[batch_dims:])
    local = indices.reshape(rows, -1)
    lead = np.arange(rows)[:, None] if is_text(params) else torch.arange(rows, device=indices.device)[:, None]
    inner = at - batch_dims
    moved = np.moveaxis(flat, inner + 1, 1) if is_text(params) else flat.movedim(inner + 1, 1)
    picked = moved[lead, local.numpy() if is_text(params) else local.long()]  # rows x picks x rest
    back = np.moveaxis(picked, 1, inner + 1) if is_text(params) else picked.movedim(1, inner + 1)
    return back.reshape(*batch, *params.shape[batch_dims:at], *indices.shape[batch_dims:], *params.shape[at + 1 :])


def _nd_keys(
    indices: torch.Tensor, shape: tuple[int, ...], depth: int, what: str = "shape"
) -> tuple[torch.Tensor, ...]:
    """Per-axis index tensors from the last axis of `indices`, checked against a shape."""
    if not indices.numel() or not depth:
        return tuple(indices.long().unbind(-1))
    lowest, highest = torch.aminmax(indices.reshape(-1, depth), dim=0)
    if min(lowest.tolist()) < 0 or any(h >= size for h, size in zip(highest.tolist(), shape[:depth], strict=True)):
        limits = torch.tensor(shape[:depth], dtype=torch.int64, device=indices.device)
        where = ((indices < 0) | (indices >= limits)).any(-1).nonzero()[0].tolist()
        found = indices[tuple(where)].tolist()
        at = f"[{','.join(map(str, where))}]" if where else ""
        raise invalid(f"indices{at} = [{', '.join(map(str, found))}] does not index into {what} {bracketed(shape)}")
    return tuple(indices.long().unbind(-1))


@fresh("GatherNd")
def gather_nd(params: AnyTensor, indices: torch.Tensor) -> AnyTensor:
    if params.ndim < 1 or indices.ndim < 1:
        raise invalid(("params" if params.ndim < 1 else "indices") + " must be at least a vector")
    depth = indices.shape[-1]
    if depth > params.ndim:
        raise invalid(f"index innermost dimension length must be <= params rank; saw: {depth} vs. {params.ndim}")
    if depth == 0:
        dims = tuple(indices.shape[:-1]) + tuple(params.shape)
        return np.array(np.broadcast_to(params, dims)) if is_text(params) else params.expand(dims).clone()
    if math.prod(indices.shape[:-1]) and not math.prod(params.shape):
        raise invalid("Requested more than 0 entries, but params is empty.")
    keys = _nd_keys(indices, tuple(params.shape), depth, "param shape")
    if is_text(params):
        taken = params[tuple(k.numpy() for k in keys)]
        return np.array(taken, object) if indices.ndim == 1 else taken
    taken = on_bits(torch.Tensor.__getitem__)(params, keys)
    return taken.clone() if indices.ndim == 1 else taken  # one position alone gives a view


# Scattering


def scatter_into(out: AnyTensor, indices: torch.Tensor, updates: Value, combine: str) -> AnyTensor:
    """Place `updates` into `out` (in place) at the index vectors in the last axis of `indices`; `combine`: update, add
    or sub.
    """
    depth = indices.shape[-1] if indices.ndim else 1
    if indices.ndim < 1 or updates.ndim < 1:
        raise invalid("Indices and updates must be at least 1 dimensional")
    if indices.ndim == 1 and len(indices) != len(updates):
        raise invalid(
            f"indices of shape {bracketed(indices.shape)} and updates of shape {bracketed(updates.shape)} differ in their first size"
        )
    wanted = tuple(indices.shape[:-1]) + tuple(out.shape[depth:])
    if depth > out.ndim or tuple(updates.shape) != wanted:
        raise invalid(
            "Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], "
            f"got updates.shape: {bracketed(updates.shape)}, "
            f"indices.shape: {bracketed(indices.shape)}, params_shape: {bracketed(out.shape)}"
        )
    if not math.prod(out.shape) and indices.numel():
        raise invalid("Indices and updates specified for empty output tensor")
    if not depth and not math.prod(out.shape):
        return out
    if not depth:
        raise invalid("indices.shape[-1] must be at least 1: there is nothing to place updates by")
    keys = _nd_keys(indices, tuple(out.shape), depth)
    if is_text(out):
        places = tuple(k.numpy() for k in keys)
        if combine == "update":
            out[places] = updates
        else:
            np.add.at(out, places, updates)
        return out
    if combine == "sub":
        updates = -signed(updates)
    target = signed(out)
    if out.dtype is torch.bool and combine == "add":
        target[keys] |= updates
        return out
    if combine == "update" and _repeats(keys, out.shape):
        return _place_in_order(out, keys, updates)
    if combine == "update":
        target.index_put_(keys, signed(updates))
    else:
        add_at(target, keys, signed(updates))
    return out


def add_at(out: torch.Tensor, keys: tuple[torch.Tensor, ...], updates: torch.Tensor) -> None:
    """out[keys] += updates (in place), where positions repeat one after another: ATen's own way lets threads add in any
    order.
    """
    flat, span = _flat_positions(keys, out.shape), math.prod(out.shape[: len(keys)])
    size = math.prod(out.shape[len(keys) :])
    target = out.contiguous()
    target.view(span, size).index_add_(0, flat, updates.reshape(flat.numel(), size))
    if target is not out:
        out.copy_(target)


def _repeats(keys: tuple[torch.Tensor, ...], shape: Sequence[int]) -> bool:
    """Whether a position comes twice: by counting where positions are few, by sorting where they are scattered."""
    flat = _flat_positions(keys, shape)
    count, span = flat.numel(), math.prod(shape[: len(keys)])
    if count < 2 or span < count:
        return count > span
    if span <= 16 * count + 4096:
        return torch.bincount(flat).max().item() > 1
    return torch.unique(flat).numel() != count


def _flat_positions(keys: tuple[torch.Tensor, ...], shape: Sequence[int]) -> torch.Tensor:
    flat = torch.zeros_like(keys[0])
    for key, dim in zip(keys, shape, strict=False):
        flat = flat * dim + key
    return flat.reshape(-1)


def _place_in_order(out: torch.Tensor, keys: tuple[torch.Tensor, ...], updates: torch.Tensor) -> torch.Tensor:
    """With repeated positions the last write stays; torch promises no order, so drop the earlier ones first."""
    flat = _flat_positions(keys, out.shape)
    last = torch.full((int(flat.max()) + 1,), -1, dtype=torch.int64, device=flat.device)
    last.scatter_reduce_(0, flat, torch.arange(flat.numel(), device=flat.device), "amax")
    chosen = last[last >= 0]
    rows = updates.reshape(flat.numel(), *out.shape[len(keys) :])
    signed(out).index_put_(tuple(k.reshape(-1)[chosen] for k in keys), signed(rows)[chosen])
    return out


@fresh("ScatterNd")
def scatter_nd(indices: torch.Tensor, updates: AnyTensor, shape: torch.Tensor) -> AnyTensor:
    dims = dims_of(shape)
    if any(d < 0 for d in dims):
        raise invalid(f"Shape {bracketed(dims)} must be non-negative")
    if is_text(updates):
        return scatter_into(np.full(dims, b"", object), indices, updates, "add")
    return scatter_into(torch.zeros(dims, dtype=updates.dtype, device=updates.device), indices, updates, "add")


def _on_a_copy(combine: str) -> Callable:
    def scatter(tensor: AnyTensor, indices: torch.Tensor, updates: AnyTensor) -> AnyTensor:
        return scatter_into(tensor.copy() if is_text(tensor) else tensor.clone(), indices, updates, combine)

    return scatter


for _name, _combine in {
    "TensorScatterUpdate": "update",
    "TensorScatterAdd": "add",
    "TensorScatterSub": "sub",
    "ScatterNdNonAliasingAdd": "add",
}.items():
    fresh(_name)(_on_a_copy(_combine))


def _inplace(combine: str) -> Callable[..., AnyTensor]:
    """Old row updates; despite the name the result is a new tensor, since the input may be used elsewhere."""

    def update(x: torch.Tensor, i: torch.Tensor, v: torch.Tensor) -> AnyTensor:
        if i.ndim != 1:
            raise invalid(f"i must be a vector. {bracketed(i.shape)}")
        if v.ndim != x.ndim or v.shape[0] != i.shape[0] or v.shape[1:] != x.shape[1:]:
            wanted = [i.shape[0], *x.shape[1:]]
            raise invalid(f"v must have a row of x for each of i: {bracketed(wanted)}, and not {bracketed(v.shape)}")
        return scatter_into(x.clone(), i.reshape(-1, 1) % x.shape[0], v.reshape(-1, *x.shape[1:]), combine)

    return update


for _name, _combine in {"InplaceUpdate": "update", "InplaceAdd": "add", "InplaceSub": "sub"}.items():
    fresh(_name)(_inplace(_combine))


# Choosing

_MOST_DIMENSIONS = 8  # of a mask in TensorFlow


@fresh("Where")
def where(input: torch.Tensor) -> torch.Tensor:
    if not 1 <= input.ndim <= _MOST_DIMENSIONS:
        raise invalid(f"WhereOp : Unhandled input dimensions: {input.ndim}")
    if is_text(input):
        return torch.from_numpy(np.argwhere(input != b""))
    return signed(input).nonzero()


@safe("Select")
def select(condition: torch.Tensor, t: AnyTensor, e: Value) -> AnyTensor:
    if t.shape != e.shape:
        raise invalid(
            f"'then' and 'else' must have the same size.  but received: {bracketed(t.shape)} vs. {bracketed(e.shape)}"
        )
    if condition.shape != t.shape:
        if condition.ndim == 1 and t.ndim > 1 and condition.shape[0] != t.shape[0]:
            raise invalid(
                f"Number of batches of 'then' must match size of 'cond', but saw: {t.shape[0]} vs. {condition.shape[0]}"
            )
        if condition.ndim > 1 or (condition.ndim == 1 and t.ndim < 2):
            raise invalid(
                "Inputs to op Select must have the same size and shape.  "
                f"Input 0: {bracketed(condition.shape)} != input 1: {bracketed(t.shape)}"
            )
        if condition.ndim == 0:
            taken = t if condition.item() else e
            return copied(taken)
        condition = condition.reshape(-1, *[1] * (t.ndim - 1))  # a vector picks rows
    return np.where(condition.numpy(), t, e) if is_text(t) else chosen(condition, t, e)


@safe("SelectV2")
def select_v2(condition: torch.Tensor, t: AnyTensor, e: Value) -> AnyTensor:
    if condition.shape == t.shape == e.shape:
        return np.where(condition.numpy(), t, e) if is_text(t) else chosen(condition, t, e)
    try:
        dims = np.broadcast_shapes(tuple(condition.shape), tuple(t.shape), tuple(e.shape))
    except ValueError:
        raise invalid(
            f"condition {bracketed(condition.shape)}, then {bracketed(t.shape)}, and else {bracketed(e.shape)} must be broadcastable"
        ) from None
    if is_text(t):
        return np.broadcast_to(np.where(condition.numpy(), t, e), dims)
    return chosen(condition, t, e)


def _hot(at: torch.Tensor, axis: int, size: int, on: torch.Tensor, off: torch.Tensor) -> torch.Tensor:
    """Lines along an axis with `on` at an index each, `off` elsewhere; an index that is not there sets nothing."""
    if at.numel() * size <= 1 << 13:  # a look at each is quicker than finding out which are there
        line = torch.arange(size, device=at.device).view([-1] + [1] * (at.ndim - 1 - axis % at.ndim))
        return torch.where(at == line, on, off)
    there = (at >= 0) & (at < size)
    lines = off.new_empty([*at.shape[: axis % at.ndim], size, *at.shape[axis % at.ndim + 1 :]]).copy_(off)
    return lines.scatter_(axis, at.clamp(0, size - 1), torch.where(there, on, off))


@safe("OneHot")
def one_hot(
    indices: torch.Tensor, depth: torch.Tensor, on_value: AnyTensor, off_value: Value, *, axis: int
) -> AnyTensor:
    size = scalar(depth, "depth")
    if size < 0:
        raise invalid(f"depth must be non-negative, got: {size}")
    if not -1 <= axis <= indices.ndim:
        raise invalid(f"Expected axis to be -1 or between [0, {indices.ndim + 1}).  But received: {axis}")
    for name, value in (("on_value", on_value), ("off_value", off_value)):
        if value.ndim:
            raise invalid(f"{name} must be a scalar, not of shape {bracketed(value.shape)}")
    at = indices.long().unsqueeze(axis)
    if is_text(on_value):
        return np.where(_hot(at, axis, size, torch.tensor(True), torch.tensor(False)).numpy(), on_value, off_value)
    return _hot(at, axis, size, signed(on_value), signed(off_value)).view(off_value.dtype)


@fresh("DynamicPartition")
def dynamic_partition(data: AnyTensor, partitions: torch.Tensor, *, num_partitions: int) -> list[AnyTensor]:
    if tuple(data.shape[: partitions.ndim]) != tuple(partitions.shape):
        raise invalid(
            f"data.shape must start with partitions.shape, got data.shape = {bracketed(data.shape)}, "
            f"partitions.shape = {bracketed(partitions.shape)}"
        )
    flat = partitions.reshape(-1)
    check_indices(partitions, num_partitions, "partitions")
    rows = data.reshape(flat.shape[0], *data.shape[partitions.ndim :])
    if is_text(data):
        return [rows[(flat == p).numpy()] for p in range(num_partitions)]
    # All rows in the order of their parts, then cut.
    counts = torch.bincount(flat, minlength=num_partitions).tolist()
    order = torch.argsort(flat, stable=True)
    return list(on_bits(torch.Tensor.index_select)(rows, 0, order).split(counts))


@fresh("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch(indices: list[torch.Tensor], data: list[Value]) -> AnyTensor:
    for i, (index, value) in enumerate(zip(indices, data, strict=True)):
        if tuple(value.shape[: index.ndim]) != tuple(index.shape):
            raise invalid(
                f"data[{i}].shape = {bracketed(value.shape)} does not start with indices[{i}].shape = {bracketed(index.shape)}"
            )
    inner = tuple(data[0].shape[indices[0].ndim :])
    for i, (index, value) in enumerate(zip(indices, data, strict=True)):
        if tuple(value.shape[index.ndim :]) != inner:
            raise invalid(
                f"Need data[0].shape[{indices[0].ndim}:] = data[{i}].shape[{index.ndim}:], got data[0].shape = {bracketed(data[0].shape)}, "
                f"data[{i}].shape = {bracketed(value.shape)}, indices[0].shape = {bracketed(indices[0].shape)}, "
                f"indices[{i}].shape = {bracketed(index.shape)}"
            )
    size = max((int(i.max()) + 1 for i in indices if i.numel()), default=0)
    flat = torch.cat([i.reshape(-1) for i in indices])
    if size and flat.min().item() < 0:
        raise invalid(f"indices[{int((flat < 0).nonzero()[0])}] is out of range")
    if is_text(data[0]):
        text = np.full((size, *inner), b"", object)
        for index, value in zip(indices, data, strict=True):
            text[index.reshape(-1).numpy()] = value.reshape(-1, *inner)
        return text
    out = torch.zeros((size, *inner), dtype=data[0].dtype, device=data[0].device)
    rows = torch.cat([v.reshape(i.numel(), *inner) for i, v in zip(indices, data, strict=True)])
    if not size:
        return out
    keys = (flat.long(),)
    if _repeats(keys, out.shape):
        return _place_in_order(out, keys, rows)
    signed(out).index_put_(keys, signed(rows))
    return out


@fresh("UnravelIndex")
def unravel_index(indices: torch.Tensor, dims: torch.Tensor) -> torch.Tensor:
    shape, flat = dims_of(dims), indices
    if flat.ndim > 1:
        raise invalid(f'The indices can only be scalar or vector, got "{bracketed(flat.shape)}"')
    if 0 in shape:
        raise invalid("The input dims cannot contain a dim of zero")
    columns = []
    for dim in reversed(shape):
        columns.append(flat % dim)
        flat = flat // dim
    return torch.stack(columns[::-1])


@fresh("LowerBound")
def lower_bound(sorted_inputs: AnyTensor, values: AnyTensor, *, out_type: DType) -> torch.Tensor:
    return _search(sorted_inputs, values, out_type, "left")


@fresh("UpperBound")
def upper_bound(sorted_inputs: AnyTensor, values: AnyTensor, *, out_type: DType) -> torch.Tensor:
    return _search(sorted_inputs, values, out_type, "right")


def _search(sorted_inputs: Value, values: AnyTensor, out_type: DType, side: Literal["left", "right"]) -> torch.Tensor:
    if sorted_inputs.shape[0] != values.shape[0]:
        raise invalid("Leading dim_size of both tensors must match.")
    if is_text(values):
        found = [np.searchsorted(row, wanted, side) for row, wanted in zip(sorted_inputs, values, strict=True)]
        return torch.from_numpy(np.stack(found) if found else np.zeros(values.shape, np.int64)).to(
            torch_dtype(out_type)
        )
    return torch.searchsorted(
        widened(sorted_inputs).contiguous(), widened(values).contiguous(), right=side == "right"
    ).to(torch_dtype(out_type))


@kernel("MatrixBandPart", "BatchMatrixBandPart", result=same(0))
def matrix_band_part(input: AnyTensor, num_lower: torch.Tensor, num_upper: torch.Tensor) -> AnyTensor:
    if input.ndim < 2:
        raise invalid(f"A band is of matrices; the input has the shape {list(input.shape)}")
    rows, columns = input.shape[-2:]
    lower, upper = scalar(num_lower, "num_lower"), scalar(num_upper, "num_upper")
    if not lower <= rows:
        raise invalid(f"num_lower must be negative or less or equal to number of rows ({rows}) got: {lower}")
    if not upper <= columns:
        raise invalid(f"num_upper must be negative or less or equal to number of columns ({columns}) got: {upper}")
    keep = on_bits(torch.tril)(input, upper) if upper >= 0 else input
    return on_bits(torch.triu)(keep, -lower) if lower >= 0 else keep
