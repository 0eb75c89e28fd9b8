"""Kernels that repeat, pad, reorder or reinterpret a tensor's elements along its axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F

from everflow.kernels.array.basic import bracketed, copied, dims_of, flip, invalid, is_text, on_bits, signed, wrap_axis
from everflow.kernels.facts import same, view
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.tensors import AnyTensor, Value, torch_dtype
from everflow.native.lowering import lowers
from everflow.native.values import Value as Expression

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType


@kernel("BroadcastTo", result=view(0))
def broadcast_to(input: AnyTensor, shape: torch.Tensor) -> AnyTensor:
    dims = dims_of(shape)
    if len(dims) < input.ndim:
        raise invalid(f"Rank of input ({input.ndim}) must be no greater than rank of output shape ({len(dims)}).")
    for have, want in zip(reversed(input.shape), reversed(dims), strict=False):
        if have not in (want, 1):
            raise invalid(f"Incompatible shapes: {bracketed(input.shape)} vs. {bracketed(dims)}")
    return np.broadcast_to(input, dims) if is_text(input) else input.expand(dims)


@kernel("Tile", result=view(0), fails=False)
def tile(input: AnyTensor, multiples: torch.Tensor) -> AnyTensor:
    times = dims_of(multiples)
    if multiples.ndim != 1 or len(times) != input.ndim:
        raise invalid(f"Expected multiples argument to be a vector of length {input.ndim} but got length {len(times)}")
    for i, m in enumerate(times):
        if m < 0:
            raise invalid(f"Expected multiples[{i}] >= 0, but got {m}")
    if all(m == 1 for m in times):
        return input
    if is_text(input):
        return np.tile(input, times)
    if all(m == 1 or d == 1 for m, d in zip(times, input.shape, strict=True)):
        return input.expand([m * d for m, d in zip(times, input.shape, strict=True)])
    return input.repeat(times)


@fresh("TileGrad")
def tile_grad(input: torch.Tensor, multiples: torch.Tensor) -> torch.Tensor:
    times = dims_of(multiples)
    split = [n for m, d in zip(times, input.shape, strict=True) for n in (m, d // m)]
    return input.reshape(split).sum(tuple(range(0, len(split), 2)), dtype=input.dtype)


def _checked_paddings(input: AnyTensor, paddings: torch.Tensor) -> list[list[int]]:
    if paddings.ndim != 2 or paddings.shape[1] != 2:
        raise invalid(f"paddings must be a matrix with 2 columns: {bracketed(paddings.shape)}")
    pairs = paddings.tolist()
    if len(pairs) != input.ndim:
        raise invalid(
            f"The first dimension of paddings must be the rank of inputs{bracketed(paddings.shape)} {bracketed(input.shape)}"
        )
    for before, after in pairs:
        if before < 0 or after < 0:
            raise invalid(f"Paddings must be non-negative: {before} {after}")
    return pairs


@kernel("Pad", result=same(0))
def pad(input: AnyTensor, paddings: torch.Tensor) -> AnyTensor:
    return _pad_with(input, paddings, b"" if is_text(input) else 0)


@kernel("PadV2", result=same(0))
def pad_v2(input: AnyTensor, paddings: torch.Tensor, constant_values: AnyTensor) -> AnyTensor:
    if constant_values.ndim:
        raise invalid(f"constant_values must be a scalar, but has shape {bracketed(constant_values.shape)}")
    return _pad_with(input, paddings, constant_values[()] if is_text(input) else constant_values)


def _pad_with(input: AnyTensor, paddings: torch.Tensor, value: Value) -> AnyTensor:
    pairs = _checked_paddings(input, paddings)
    if not any(a or b for a, b in pairs):
        return input
    inside = tuple(slice(a, a + d) for d, (a, _) in zip(input.shape, pairs, strict=True))
    if is_text(input):
        text = np.full([d + a + b for d, (a, b) in zip(input.shape, pairs, strict=True)], value, object)
        text[inside] = input
        return text
    if input.dtype in (torch.float32, torch.float64) and not isinstance(value, torch.Tensor):
        return F.pad(input, [n for pair in reversed(pairs) for n in pair], value=value)
    dims = [d + a + b for d, (a, b) in zip(input.shape, pairs, strict=True)]
    out = (
        value.reshape(()).expand(dims).clone(memory_format=torch.contiguous_format)
        if isinstance(value, torch.Tensor)
        else torch.zeros(dims, dtype=input.dtype, device=input.device)
    )
    out[inside] = input
    return out


def _mirror_index(size: int, before: int, after: int, offset: int, device: torch.device | None) -> torch.Tensor:
    """Where each element of a mirrored axis comes from; `offset` 1 (REFLECT) leaves the edge out, 0 (SYMMETRIC) repeats
    it.
    """
    if before > size - offset or after > size - offset:
        if offset:
            raise invalid(f"paddings must be less than the dimension size: {before}, {after} not less than {size}")
        raise invalid(f"paddings must be no greater than the dimension size: {before}, {after} greater than {size}")
    left = torch.arange(before - 1 + offset, offset - 1, -1, device=device)
    right = torch.arange(size - 1 - offset, size - 1 - offset - after, -1, device=device)
    return torch.cat([left, torch.arange(size, device=device), right])


def _mirror_axes(
    dims: Sequence[int], pairs: list[list[int]], mode: str, device: torch.device | None
) -> Iterator[tuple[int, torch.Tensor]]:
    offset = 1 if mode == "REFLECT" else 0
    for axis, (size, (before, after)) in enumerate(zip(dims, pairs, strict=True)):
        if before or after:
            yield axis, _mirror_index(size, before, after, offset, device)


@kernel("MirrorPad", result=same(0))
def mirror_pad(input: AnyTensor, paddings: torch.Tensor, *, mode: str) -> AnyTensor:
    pairs = _checked_paddings(input, paddings)
    for axis, index in _mirror_axes(tuple(input.shape), pairs, mode, None):
        input = (
            np.take(input, index.numpy(), axis)
            if is_text(input)
            else on_bits(torch.index_select)(input, axis, index.to(input.device))
        )
    return input


@kernel("MirrorPadGrad", result=same(0))
def mirror_pad_grad(input: torch.Tensor, paddings: torch.Tensor, *, mode: str) -> torch.Tensor:
    pairs = _checked_paddings(input, paddings)
    dims = [d - a - b for d, (a, b) in zip(input.shape, pairs, strict=True)]
    for axis, index in _mirror_axes(dims, pairs, mode, input.device):
        folded = input.new_zeros(*input.shape[:axis], dims[axis], *input.shape[axis + 1 :])
        input = folded.index_add_(axis, index, input)
    return input


def _checked_perm(x: AnyTensor, perm: torch.Tensor) -> list[int]:
    order = dims_of(perm)
    if len(order) != x.ndim:
        raise invalid(f"transpose expects a vector of size {x.ndim}. But input(1) is a vector of size {len(order)}")
    for p in order:
        if not 0 <= p < x.ndim:
            raise invalid(f"{p} is out of range [0 .. {x.ndim})")
    if sorted(order) != list(range(x.ndim)):
        missing = next(i for i in range(x.ndim) if i not in order)
        raise invalid(f"{missing} is missing from {{{','.join(map(str, order))}}}.")
    return order


@kernel("Transpose", result=view(0), fails=False)
def transpose(x: AnyTensor, perm: torch.Tensor) -> AnyTensor:
    order = _checked_perm(x, perm)
    return x.transpose(order) if is_text(x) else x.permute(order)


@kernel("ConjugateTranspose", result=view(0))
def conjugate_transpose(x: AnyTensor, perm: torch.Tensor) -> AnyTensor:
    out = transpose(x, perm)
    return torch.conj(out) if not is_text(out) and out.is_complex() else out


@fresh("InvertPermutation")
def invert_permutation(x: torch.Tensor) -> torch.Tensor:
    if x.ndim != 1:
        raise invalid("invert_permutation expects a 1D vector.")
    n, order = x.shape[0], dims_of(x)
    out = [-1] * n
    for i, d in enumerate(order):
        if not 0 <= d < n:
            raise invalid(f"{d} is not between 0 and {n}")
        if out[d] != -1:
            raise invalid(f"{d} is duplicated in the input.")
        out[d] = i
    return torch.tensor(out, dtype=x.dtype)


@fresh("ReverseV2")
def reverse_v2(tensor: AnyTensor, axis: torch.Tensor) -> AnyTensor:
    if not tensor.ndim:
        return copied(tensor)
    if axis.ndim != 1:
        raise invalid(f"axis must be a vector, not of shape {bracketed(axis.shape)}")
    wanted = dims_of(axis)
    for i, a in enumerate(wanted):
        if not -tensor.ndim <= a < tensor.ndim:
            raise invalid(f"'axis'[{i}] = {a} is out of valid range [0, {tensor.ndim - 1}]")
    axes = [a % tensor.ndim for a in wanted]
    if len(set(axes)) != len(axes):
        raise invalid(f"axis {next(a for a in axes if axes.count(a) > 1)} specified more than once.")
    return flip(tensor, axes)


@fresh("Reverse")
def reverse(tensor: AnyTensor, dims: torch.Tensor) -> AnyTensor:
    if not tensor.ndim:
        return copied(tensor)
    if dims.shape[0] != tensor.ndim:
        raise invalid(
            f"'dims' must have the same number of values as 'tensor' has dimensions. 'tensor' has {tensor.ndim}"
            f"'dims' has {dims.shape[0]} values"
        )
    axes = [i for i, flipped in enumerate(dims.tolist()) if flipped]
    return flip(tensor, axes)


@fresh("ReverseSequence")
def reverse_sequence(input: AnyTensor, seq_lengths: torch.Tensor, *, seq_dim: int, batch_dim: int) -> AnyTensor:
    seq_dim, batch_dim = (
        wrap_axis(d, input.ndim, "axis {axis} is out of range for rank {rank}") for d in (seq_dim, batch_dim)
    )
    lengths = seq_lengths.long()
    if lengths.ndim != 1 or lengths.shape[0] != input.shape[batch_dim]:
        raise invalid(f"len(seq_lens) != input.dims({batch_dim}), ({lengths.shape[0]} vs. {input.shape[batch_dim]})")
    if seq_dim == batch_dim:
        raise invalid("batch_dim == seq_dim == " + str(seq_dim))
    size = input.shape[seq_dim]
    for i, length in enumerate(lengths.tolist()):
        if not 0 <= length <= size:
            raise invalid(f"seq_lens({i}) < 0" if length < 0 else f"seq_lens({i}) > input.dims({seq_dim})")
    steps = torch.arange(size, device=lengths.device)
    lengths = lengths[:, None]
    source = torch.where(steps < lengths, lengths - 1 - steps, steps)  # batch x time
    if is_text(input):
        texts = np.moveaxis(input, (batch_dim, seq_dim), (0, 1))
        return np.moveaxis(texts[np.arange(len(texts))[:, None], source.numpy()], (0, 1), (batch_dim, seq_dim))
    moved = input.movedim((batch_dim, seq_dim), (0, 1))
    if size == 0 or moved.shape[0] == 0:
        return input.clone()
    source += torch.arange(moved.shape[0], device=source.device)[:, None] * size
    # Which is quicker than indexing by two.
    rows = signed(moved.flatten(0, 1)).index_select(0, source.view(-1)).view(input.dtype)
    return rows.unflatten(0, source.shape).movedim((0, 1), (batch_dim, seq_dim))


@fresh("Roll")
def roll(input: AnyTensor, shift: torch.Tensor, axis: torch.Tensor) -> AnyTensor:
    if input.ndim < 1:
        raise invalid("input must be 1-D or higher")
    if shift.shape != axis.shape:
        raise invalid("shift and axis must have the same size")
    totals = [0] * input.ndim
    for a, s in zip(dims_of(axis.reshape(-1)), dims_of(shift.reshape(-1)), strict=True):
        totals[wrap_axis(a, input.ndim, "axis {axis} is out of range")] += s
    axes = [i for i, s in enumerate(totals) if s]
    shifts = [totals[i] for i in axes]
    if not axes:
        return copied(input)
    return np.roll(input, shifts, axes) if is_text(input) else input.roll(shifts, axes)


@kernel("Bitcast", result=same(0))
def bitcast(input: torch.Tensor, *, type: DType) -> torch.Tensor:
    wanted = torch_dtype(type)
    if wanted == input.dtype:
        return input
    input = input.contiguous()
    if wanted.itemsize > input.dtype.itemsize:
        ratio = wanted.itemsize // input.dtype.itemsize
        if input.ndim == 0 or input.shape[-1] != ratio:
            raise invalid(f"Cannot bitcast from {ratio} to {input.shape[-1] if input.ndim else 'a scalar'}")
        return input.view(wanted).squeeze(-1)
    if wanted.itemsize < input.dtype.itemsize:
        return input.unsqueeze(-1).view(wanted) if input.ndim else input.reshape(1).view(wanted)
    return input.view(wanted)


# --- as expressions -------------------------------------------------------------------------------


@lowers("BroadcastTo", known=(1,))
def _lower_broadcast(x: Expression, shape: np.ndarray, *, result_shape: tuple[int, ...]) -> Expression:
    return x.expand(result_shape)


@lowers("Tile", known=(1,))
def _lower_tile(x: Expression, multiples: np.ndarray, *, result_shape: tuple[int, ...]) -> Expression:
    single = [size for n in x.shape for size in (1, n)]
    repeated = [size for n, times in zip(x.shape, multiples.tolist(), strict=True) for size in (times, n)]
    return x.reshape(single).expand(repeated).reshape(result_shape)


@lowers("Transpose", known=(1,))
def _lower_transpose(x: Expression, axes: np.ndarray) -> Expression:
    return x.permute([a % len(x.shape) for a in axes.tolist()])
