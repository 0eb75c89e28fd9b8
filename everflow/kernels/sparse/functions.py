"""Kernels on sparse tensors given as (indices, values, shape): ordering, reshaping, joining, slicing, reducing.

Indices are int64 matrices with a row for each value; values may be strings, so positions are worked out on the indices
alone and `pick` then takes the values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.kernels.array.basic import bracketed, dims_of, invalid, is_text, signed, widened
from everflow.kernels.array.indexing import add_at
from everflow.kernels.facts import same
from everflow.kernels.math.binary import maximum, minimum
from everflow.kernels.registry import fresh, kernel, library

if TYPE_CHECKING:
    from everflow.kernels.tensors import AnyTensor, SparseParts, Value


def pick(values: Value, positions: torch.Tensor) -> Value:
    """The values at an int64 tensor of positions."""
    return values[positions.numpy()] if is_text(values) else values[positions]


def flat_keys(indices: torch.Tensor, dims: Sequence[int]) -> torch.Tensor | None:
    """Each index row as one number that orders rows as their indices do; None where such numbers don't fit in 63 bits."""
    if math.prod([max(int(d), 1) for d in dims]) >= 2**63:
        return None
    steps = [1] * len(dims)
    for i in range(len(dims) - 2, -1, -1):
        steps[i] = steps[i + 1] * max(int(dims[i + 1]), 1)
    return (indices * torch.tensor(steps, dtype=torch.int64, device=indices.device)).sum(1)


def _flat_positions(indices: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
    """As `flat_keys`, where there is no other way."""
    keys = flat_keys(indices, dims)
    if keys is None:
        raise invalid(f"A tensor of shape {bracketed(dims)} has more elements than int64 can count")
    return keys


def row_order(indices: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
    """The stable permutation that puts index rows in row-major order."""
    keys = flat_keys(indices, dims)
    if keys is not None:
        return torch.argsort(keys, stable=True)
    return torch.from_numpy(np.lexsort(indices.numpy().T[::-1]))


def group_ids(indices: torch.Tensor, dims: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """(positions of each distinct row's first appearance in row-major order, the group of each row)."""
    keys = flat_keys(indices, dims)
    if keys is not None:
        _, groups = torch.unique(keys, return_inverse=True)
    else:
        _, groups = torch.unique(indices, dim=0, return_inverse=True)
    first = torch.full((int(groups.max()) + 1 if groups.numel() else 0,), indices.shape[0], dtype=torch.int64)
    return first.scatter_reduce_(0, groups, torch.arange(indices.shape[0]), "amin"), groups


def _row_text(row: list[int]) -> str:
    return "[" + ",".join(map(str, row)) + "]"


def check_order(indices: torch.Tensor, dims: Sequence[int]) -> None:
    """Raise unless index rows are inside the shape, in order and not repeated."""
    if not indices.numel():
        return
    limits = torch.tensor(dims, dtype=torch.int64)
    outside = ((indices < 0) | (indices >= limits)).any(1)
    steps = indices[1:] - indices[:-1]
    moved = steps != 0
    leading = (
        torch.gather(steps, 1, moved.long().argmax(1, keepdim=True)).squeeze(1) if steps.numel() else steps.new_zeros(0)
    )
    wrong = outside.clone()
    wrong[1:] |= leading <= 0
    if not wrong.any():
        return
    i = int(wrong.nonzero()[0])
    row = f"indices[{i}] = {_row_text(indices[i].tolist())}"
    if outside[i]:
        raise invalid(f"{row} is out of bounds: need 0 <= index < {bracketed(dims)}")
    if leading[i - 1] == 0:
        raise invalid(f"{row} is repeated")
    raise invalid(f"{row} is out of order. Many sparse ops require sorted indices.")


# To and from dense


@fresh("SparseToDense")
def sparse_to_dense(
    sparse_indices: torch.Tensor,
    output_shape: torch.Tensor,
    sparse_values: AnyTensor,
    default_value: Value,
    *,
    validate_indices: bool,
) -> AnyTensor:
    dims = dims_of(output_shape)
    indices = sparse_indices.long()
    if np.ndim(default_value):
        raise invalid(f"default_value should be a scalar, got shape {bracketed(np.shape(default_value))}")
    if indices.ndim > 2:
        raise invalid(f"sparse_indices should be a scalar, vector, or matrix, got shape {bracketed(indices.shape)}")
    indices = indices.reshape(-1, 1) if indices.ndim < 2 else indices
    if indices.shape[1] != len(dims):
        raise invalid(f"output_shape has incorrect number of elements: {len(dims)} should be: {indices.shape[1]}")
    count = indices.shape[0]
    if sparse_values.ndim and tuple(sparse_values.shape) != (count,):
        raise invalid(f"sparse_values has incorrect shape {bracketed(sparse_values.shape)}, should be [] or [{count}]")
    if validate_indices:
        check_order(indices, dims)
    elif ((indices < 0) | (indices >= torch.tensor(dims))).any():
        raise invalid(f"Indices are not valid (out of bounds).  Shape: {bracketed(dims)}")
    keys = tuple(indices.unbind(1))
    if is_text(sparse_values):
        text = np.full(dims, default_value[()], object)
        text[tuple(k.numpy() for k in keys)] = sparse_values
        return text
    out = default_value.reshape(()).expand(dims).clone(memory_format=torch.contiguous_format)
    if not dims:
        return sparse_values.reshape(-1)[-1].clone() if count else out
    flat = _flat_positions(indices, dims)
    if not validate_indices and count and torch.unique(flat).numel() != count:  # the last of repeated positions stays
        return _keep_last(out, flat, sparse_values)
    signed(out).view(-1).index_copy_(0, flat, signed(sparse_values).expand(count))
    return out


def _keep_last(out: torch.Tensor, flat: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    last = torch.full((out.numel(),), -1, dtype=torch.int64).scatter_reduce_(
        0, flat, torch.arange(flat.numel()), "amax"
    )
    chosen = last[last >= 0]
    out.view(-1)[flat[chosen]] = values.expand(flat.numel())[chosen]
    return out


@fresh("SparseTensorDenseAdd")
def sparse_tensor_dense_add(
    a_indices: torch.Tensor, a_values: torch.Tensor, a_shape: torch.Tensor, b: torch.Tensor
) -> torch.Tensor:
    dims = dims_of(a_shape)
    if len(dims) != b.ndim:
        raise invalid(f"Two operands have different ndims; received: {len(dims)} and {b.ndim}")
    for i, (have, want) in enumerate(zip(dims, b.shape, strict=True)):
        if have != want:
            raise invalid(
                f"Dimension {i} does not equal (no broadcasting is supported): sparse side {have} vs dense side {want}"
            )
    bad = ((a_indices < 0) | (a_indices >= torch.tensor(dims, dtype=a_indices.dtype))).any(0).nonzero()
    if bad.numel():
        raise invalid(
            f"Sparse tensor has some invalid index on dimension {bad[0].item()}; dense tensor shape: {bracketed(b.shape)}"
        )
    out = b.clone()
    add_at(signed(out), a_indices.long().unbind(1), signed(a_values))
    return out


@library("SparseTensorDenseMatMul")
def sparse_tensor_dense_matmul(
    a_indices: torch.Tensor,
    a_values: torch.Tensor,
    a_shape: torch.Tensor,
    b: torch.Tensor,
    *,
    adjoint_a: bool,
    adjoint_b: bool,
) -> AnyTensor:
    if b.ndim != 2 or a_shape.shape[0] != 2:
        raise invalid("Tensor 'b' is not a matrix" if b.ndim != 2 else "Tensor 'a_shape' must have 2 elements")
    dims = dims_of(a_shape)
    rows, columns = a_indices.long().unbind(1)
    if adjoint_a:
        rows, columns, dims = columns, rows, dims[::-1]  # TensorFlow 1 does not conjugate the sparse side
    if adjoint_b:
        b = b.mT.conj()
    if dims[1] != b.shape[0]:
        raise invalid(
            f"Cannot multiply A and B because inner dimension does not match: {dims[1]} vs. {b.shape[0]}.  Did you forget a transpose?  "
            f"Dimensions of A: [{dims[0]}, {dims[1]}).  Dimensions of B: {bracketed(b.shape)}"
        )
    for name, place, found, limit in (
        ("k", 0 if adjoint_a else 1, columns, dims[1]),
        ("m", 1 if adjoint_a else 0, rows, dims[0]),
    ):
        bad = ((found < 0) | (found >= limit)).nonzero()
        if bad.numel():
            i = int(bad[0])
            raise invalid(f"{name} ({found[i].item()}) from index[{i},{place}] out of bounds (>={limit})")
    if a_values.dtype in (torch.float32, torch.float64):
        matrix = torch.sparse_coo_tensor(torch.stack([rows, columns]), a_values, dims, check_invariants=False)
        return torch.sparse.mm(matrix, b)
    return b.new_zeros(dims[0], b.shape[1]).index_add_(0, rows, a_values[:, None] * b[columns])


def _cwise(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def apply(
        sp_indices: torch.Tensor, sp_values: torch.Tensor, sp_shape: torch.Tensor, dense: torch.Tensor
    ) -> torch.Tensor:
        dims = dims_of(sp_shape)
        fits = dense.ndim <= len(dims) and all(
            d in (1, s) for d, s in zip(reversed(dense.shape), reversed(dims), strict=False)
        )
        if not fits:
            raise invalid(
                "SparseDenseBinaryOpShared broadcasts dense to sparse only; "
                f"got incompatible shapes: {bracketed(dims)} vs. {bracketed(dense.shape)}"
            )
        return function(sp_values, dense.expand(dims)[tuple(sp_indices.unbind(1))])

    return apply


def _divide(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.is_floating_point() or a.is_complex():
        return a / b
    if (b == 0).any():
        raise invalid("Integer division by zero")
    return torch.div(a, b, rounding_mode="trunc")


fresh("SparseDenseCwiseAdd")(_cwise(torch.add))
fresh("SparseDenseCwiseMul")(_cwise(torch.mul))
fresh("SparseDenseCwiseDiv")(_cwise(_divide))


# Order and shape


@fresh("SparseReorder")
def sparse_reorder(
    input_indices: torch.Tensor, input_values: AnyTensor, input_shape: torch.Tensor
) -> tuple[torch.Tensor, AnyTensor]:
    if len(input_indices) != len(input_values):
        raise invalid(f"there are {len(input_indices)} indices for {len(input_values)} values")
    order = row_order(input_indices, dims_of(input_shape))
    return input_indices[order], pick(input_values, order)


@kernel("SparseReshape", result=same(0))
def sparse_reshape(
    input_indices: torch.Tensor, input_shape: torch.Tensor, new_shape: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    for name, value, rank in (("indices", input_indices, 2), ("shape", input_shape, 1), ("new shape", new_shape, 1)):
        if value.ndim != rank:
            raise invalid(f"The {name} of a sparse reshape must have rank {rank}, not shape {bracketed(value.shape)}")
    dims, wanted = dims_of(input_shape), dims_of(new_shape)
    count = math.prod(dims)
    if any(d < -1 for d in wanted):
        raise invalid(f"The sizes of a sparse reshape must be at least -1, which are {bracketed(wanted)}")
    if wanted.count(-1) > 1:
        first, second = [i for i, d in enumerate(wanted) if d == -1][:2]
        raise invalid(f"only one output dimension may be -1, not both {first} and {second}")
    if -1 in wanted:
        known = math.prod(d for d in wanted if d != -1)
        if known == 0 or count % known:
            raise invalid(
                f"Input to reshape is a SparseTensor with {count} dense values, but the requested shape requires a multiple of {known}. "
                f"input_shape={bracketed(dims)} output_shape={bracketed(wanted)}"
            )
        wanted[wanted.index(-1)] = count // known
    if math.prod(wanted) != count:
        raise invalid(
            f"Input to reshape is a tensor with {count} dense values, but the requested shape has {math.prod(wanted)}. "
            f"input_shape={bracketed(dims)} output_shape={bracketed(wanted)}"
        )
    out_shape = torch.tensor(wanted, dtype=torch.int64)
    if dims == wanted:
        return input_indices, out_shape
    flat = _flat_positions(input_indices, dims)
    columns = []
    for dim in reversed(wanted):
        columns.append(flat % max(dim, 1))
        flat = flat // max(dim, 1)
    return (torch.stack(columns[::-1], 1) if columns else input_indices.new_zeros(input_indices.shape[0], 0)), out_shape


@fresh("SparseConcat")
def sparse_concat(
    indices: list[torch.Tensor], values: list[Value], shapes: list[torch.Tensor], *, concat_dim: int
) -> SparseParts:
    dims = [dims_of(s) for s in shapes]
    rank = len(dims[0])
    if not -rank <= concat_dim < rank:
        raise invalid(f"Concat dimension must be in range [{-rank}, {rank}), got {concat_dim}")
    axis = concat_dim % rank
    moved, at = [], 0
    for i, (index, shape) in enumerate(zip(indices, dims, strict=True)):
        if len(shape) != rank:
            raise invalid(
                f"Ranks of all input tensors must match: expected {rank} but got {len(shape)} at position {i}"
            )
        for j in range(rank):
            if j != axis and shape[j] != dims[0][j]:
                raise invalid(
                    f"Input shapes must match: expected {dims[0][j]} for dimension {j} but got {shape[j]} at position {i}"
                )
        shift = torch.zeros(rank, dtype=torch.int64)
        shift[axis] = at
        moved.append(index + shift)
        at += shape[axis]
    out = [*dims[0][:axis], at, *dims[0][axis + 1 :]]
    joined = torch.cat(moved)
    joined_values = np.concatenate(values) if is_text(values[0]) else torch.cat(values)
    order = row_order(joined, out)
    return joined[order], pick(joined_values, order), torch.tensor(out, dtype=torch.int64)


def _window(indices: torch.Tensor, values: AnyTensor, start: list[int], size: list[int]) -> SparseParts:
    first, sizes = torch.tensor(start), torch.tensor(size)
    inside = ((indices >= first) & (indices < first + sizes)).all(1).nonzero().squeeze(1)
    return indices[inside] - first, pick(values, inside), sizes


@fresh("SparseSplit")
def sparse_split(
    split_dim: torch.Tensor, indices: torch.Tensor, values: AnyTensor, shape: torch.Tensor, *, num_split: int
) -> tuple[list[AnyTensor], ...]:
    dims, axis = dims_of(shape), int(split_dim.reshape(()))
    if not 0 <= axis < len(dims):
        raise invalid(f"num_dim must be in the interval [0, {len(dims)})")
    if not 1 <= num_split <= dims[axis]:
        raise invalid(
            f"Input num_split should be between 1 and the splitting dimension size ({dims[axis]}), got {num_split}"
        )
    width, rest = divmod(dims[axis], num_split)
    parts, at = [], 0
    for i in range(num_split):
        length = width + (i < rest)
        start, size = [0] * len(dims), list(dims)
        start[axis], size[axis] = at, length
        parts.append(_window(indices, values, start, size))
        at += length
    return tuple([part[i] for part in parts] for i in range(3))


@fresh("SparseSlice")
def sparse_slice(
    indices: torch.Tensor, values: AnyTensor, shape: torch.Tensor, start: torch.Tensor, size: torch.Tensor
) -> SparseParts:
    dims, starts, sizes = dims_of(shape), dims_of(start), dims_of(size)
    if not len(dims) == len(starts) == len(sizes):
        raise invalid(f"Expected start to be a vector of length {len(dims)} but got length {len(starts)}")
    return _window(
        indices, values, starts, [max(min(s, d - b), 0) for d, b, s in zip(dims, starts, sizes, strict=True)]
    )


def _places(rows: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """For each row of `wanted` its place among the (distinct) `rows`, or -1."""
    found = {tuple(row): i for i, row in enumerate(rows.tolist())}
    return torch.tensor([found.get(tuple(row), -1) for row in wanted.tolist()], dtype=torch.int64)


def _grad_at(grad: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    padded = torch.cat([grad, grad.new_zeros(1)])
    return padded[places]


@fresh("SparseSliceGrad")
def sparse_slice_grad(
    backprop_val_grad: torch.Tensor,
    input_indices: torch.Tensor,
    input_start: torch.Tensor,
    output_indices: torch.Tensor,
) -> torch.Tensor:
    return _grad_at(backprop_val_grad, _places(output_indices + input_start, input_indices))


@fresh("SparseFillEmptyRows")
def sparse_fill_empty_rows(
    indices: torch.Tensor, values: AnyTensor, dense_shape: torch.Tensor, default_value: Value
) -> tuple[torch.Tensor, AnyTensor, torch.Tensor, torch.Tensor]:
    rows = int(dense_shape[0])
    count = indices.shape[0]
    if default_value.ndim:
        raise invalid(
            f"default_value fills one place, so it is a single value, not of shape {list(default_value.shape)}"
        )
    if rows == 0 and count:
        raise invalid(f"Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {count}")
    owners = indices[:, 0]
    bad = ((owners < 0) | (owners >= rows)).nonzero()
    if bad.numel():
        i = int(bad[0])
        raise invalid(f"indices({i}, 0) is invalid: {owners[i].item()} " + (f">= {rows}" if owners[i] >= 0 else "< 0"))
    empty = torch.bincount(owners, minlength=rows) == 0
    missing = empty.nonzero().squeeze(1)
    added = indices.new_zeros(missing.numel(), indices.shape[1])
    added[:, 0] = missing
    order = torch.argsort(torch.cat([owners, missing]), stable=True)
    if is_text(values):
        filled: AnyTensor = np.concatenate([values, np.full(missing.numel(), default_value[()], object)])
    else:
        filled = torch.cat([values, default_value.reshape(1).expand(missing.numel())])
    places = torch.empty_like(order)
    places[order] = torch.arange(order.numel())
    return torch.cat([indices, added])[order], pick(filled, order), empty, places[:count]


@fresh("SparseFillEmptyRowsGrad")
def sparse_fill_empty_rows_grad(
    reverse_index_map: torch.Tensor, grad_values: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    kept = torch.zeros(grad_values.shape[0], dtype=torch.bool)
    kept[reverse_index_map] = True
    return grad_values[reverse_index_map], grad_values[~kept].sum().to(grad_values.dtype)


# Element by element


def _ordered(indices: torch.Tensor, dims: list[int]) -> torch.Tensor | None:
    keys = flat_keys(indices, dims)
    return keys if keys is not None and (keys.numel() < 2 or bool((keys[1:] > keys[:-1]).all())) else None


def _merged(
    a_indices: torch.Tensor, b_indices: torch.Tensor, dims: list[int]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Walk two index lists together: the union's rows, and for each the position in a and in b, or -1."""
    a_keys, b_keys = _ordered(a_indices, dims), _ordered(b_indices, dims)
    if a_keys is not None and b_keys is not None:
        union = torch.unique(torch.cat([a_keys, b_keys]))
        positions = []
        for keys in (a_keys, b_keys):
            where = torch.full((union.numel(),), -1, dtype=torch.int64)
            where[torch.searchsorted(union, keys)] = torch.arange(keys.numel())
            positions.append(where)
    else:
        positions = [torch.tensor(p, dtype=torch.int64) for p in _walk(a_indices.tolist(), b_indices.tolist())]
    from_a, from_b = positions
    both = torch.cat([a_indices, b_indices])
    return both[torch.where(from_a >= 0, from_a, from_b + a_indices.shape[0])], from_a, from_b


def _walk(a: list[list[int]], b: list[list[int]]) -> tuple[list[int], list[int]]:
    """The merge for lists that may be unordered or repeat rows: always the smaller front row next."""
    from_a, from_b, i, j = [], [], 0, 0
    while i < len(a) or j < len(b):
        take_a = j == len(b) or (i < len(a) and a[i] <= b[j])
        take_b = i == len(a) or (j < len(b) and b[j] <= a[i])
        from_a.append(i if take_a else -1)
        from_b.append(j if take_b else -1)
        i += take_a
        j += take_b
    return from_a, from_b


def _same_shape(a_shape: torch.Tensor, b_shape: torch.Tensor) -> list[int]:
    a, b = dims_of(a_shape), dims_of(b_shape)
    if a != b:
        raise invalid(f"Operands' shapes do not match: {bracketed(a)} vs. {bracketed(b)}")
    return a


def _aligned(values: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    return torch.cat([values, values.new_zeros(1)])[positions]


@kernel("SparseAdd", result=same(2))
def sparse_add(
    a_indices: torch.Tensor,
    a_values: torch.Tensor,
    a_shape: torch.Tensor,
    b_indices: torch.Tensor,
    b_values: torch.Tensor,
    b_shape: torch.Tensor,
    thresh: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rows, from_a, from_b = _merged(a_indices, b_indices, _same_shape(a_shape, b_shape))
    total = _aligned(a_values, from_a) + _aligned(b_values, from_b)
    # What only one of the two has is never dropped.
    kept = (total.abs() >= thresh) | (from_a < 0) | (from_b < 0)
    return rows[kept], total[kept], a_shape


@fresh("SparseAddGrad")
def sparse_add_grad(
    backprop_val_grad: torch.Tensor, a_indices: torch.Tensor, b_indices: torch.Tensor, sum_indices: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    return tuple(_grad_at(backprop_val_grad, _places(sum_indices, indices)) for indices in (a_indices, b_indices))


def _of_both(function: Callable) -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    def apply(
        a_indices: torch.Tensor,
        a_values: torch.Tensor,
        a_shape: torch.Tensor,
        b_indices: torch.Tensor,
        b_values: torch.Tensor,
        b_shape: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        rows, from_a, from_b = _merged(a_indices, b_indices, _same_shape(a_shape, b_shape))
        return rows, function(widened(_aligned(a_values, from_a)), widened(_aligned(b_values, from_b))).to(
            a_values.dtype
        )

    return apply


for _name, _function in {"SparseSparseMaximum": maximum, "SparseSparseMinimum": minimum}.items():
    fresh(_name)(_of_both(_function))


@fresh("SparseSoftmax")
def sparse_softmax(sp_indices: torch.Tensor, sp_values: torch.Tensor, sp_shape: torch.Tensor) -> torch.Tensor:
    """Softmax over the values there are of each row of the last axis; what is missing counts as minus infinity."""
    dims = dims_of(sp_shape)
    if len(dims) < 2:
        raise invalid(f"Input should have rank >= 2, but received shape: {' '.join(map(str, dims))}")
    if not sp_values.numel():
        return sp_values
    _, rows = group_ids(sp_indices[:, :-1], dims[:-1])
    count = int(rows.max()) + 1
    highest = sp_values.new_full((count,), -math.inf).scatter_reduce_(0, rows, sp_values, "amax")
    weights = torch.exp(sp_values - highest[rows])
    return weights / sp_values.new_zeros(count).index_add_(0, rows, weights)[rows]


# Reductions


def _reduced(
    indices: torch.Tensor, values: torch.Tensor, shape: torch.Tensor, axes: torch.Tensor, keep_dims: bool, largest: bool
) -> tuple[torch.Tensor, torch.Tensor, list[int], list[int], list[int]]:
    """(indices of the remaining axes, reduced values, their dims, dims with the reduced axes as 1 where kept)."""
    dims = dims_of(shape)
    wanted = dims_of(axes.reshape(-1))
    for axis in wanted:
        if not -len(dims) <= axis < len(dims):
            raise invalid(f"Invalid reduction dimension {axis}, for input with {len(dims)} dimensions.")
    gone = {axis % len(dims) for axis in wanted} if wanted else set(range(len(dims)))
    left = [i for i in range(len(dims)) if i not in gone]
    kept_dims = [dims[i] for i in left]
    first, groups = (
        group_ids(indices[:, left], kept_dims)
        if left
        else (
            torch.zeros(min(indices.shape[0], 1), dtype=torch.int64),
            torch.zeros(indices.shape[0], dtype=torch.int64),
        )
    )
    wide = widened(values)
    if largest:
        out = wide[first].clone().scatter_reduce_(0, groups, wide, "amax")
    else:
        out = wide.new_zeros(first.numel()).index_add_(0, groups, wide)
    out = out.to(values.dtype)
    final = [1 if i in gone else d for i, d in enumerate(dims)] if keep_dims else kept_dims
    return indices[first][:, left], out, left, kept_dims, final


def _dense_reduction(largest: bool) -> Callable[..., torch.Tensor]:
    def reduce(
        input_indices: torch.Tensor,
        input_values: torch.Tensor,
        input_shape: torch.Tensor,
        reduction_axes: torch.Tensor,
        *,
        keep_dims: bool,
    ) -> torch.Tensor:
        rows, out, _, kept_dims, final = _reduced(
            input_indices, input_values, input_shape, reduction_axes, keep_dims, largest
        )
        dense = out.new_zeros(kept_dims)
        if out.numel():
            signed(dense)[tuple(rows.unbind(1))] = signed(out) if rows.shape[1] else signed(out)[0]
        return dense.reshape(final)

    return reduce


def _sparse_reduction(largest: bool) -> Callable[..., tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    def reduce(
        input_indices: torch.Tensor,
        input_values: torch.Tensor,
        input_shape: torch.Tensor,
        reduction_axes: torch.Tensor,
        *,
        keep_dims: bool,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        rows, out, left, _, final = _reduced(
            input_indices, input_values, input_shape, reduction_axes, keep_dims, largest
        )
        if keep_dims:
            wide = rows.new_zeros(rows.shape[0], len(final))
            wide[:, left] = rows
            rows = wide
        return rows, out, torch.tensor(final, dtype=torch.int64)

    return reduce


for _name, _largest in {"Sum": False, "Max": True}.items():
    fresh(f"SparseReduce{_name}")(_dense_reduction(_largest))
    fresh(f"SparseReduce{_name}Sparse")(_sparse_reduction(_largest))
