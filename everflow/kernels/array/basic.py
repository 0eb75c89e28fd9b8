"""Kernels that make, reshape, join or split whole tensors, and what the array kernels share.

Results are views wherever torch can make one. Strings are numpy object arrays and take numpy's form of each function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import Effect, same, view
from everflow.kernels.registry import fresh, kernel, safe
from everflow.kernels.tensors import AnyTensor, Strings, Value, torch_dtype
from everflow.native.lowering import lowers
from everflow.native.values import Value as Expression
from everflow.native.values import const

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from everflow.framework.dtypes import DType
    from everflow.framework.shapes import TensorShape
    from everflow.kernels.state import Ref

# What torch calls each type whose arithmetic and scatters it lacks on unsigned integers, by the signed type of that
# width.
_SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


def invalid(message: str) -> InvalidArgumentError:
    """The error for values an op can't take."""
    return InvalidArgumentError(None, None, message)


def is_text(value: AnyTensor) -> TypeIs[Strings]:
    """Whether a value is a numpy array of strings (or of other Python objects) rather than a torch tensor."""
    return isinstance(value, np.ndarray)


def signed(x: torch.Tensor) -> torch.Tensor:
    """The same bits as a signed type where torch lacks functions for the unsigned one; moving bits doesn't mind."""
    return x.view(_SIGNED[x.dtype]) if not is_text(x) and x.dtype in _SIGNED else x


def widened(x: torch.Tensor) -> torch.Tensor:
    """`x` as int64 where torch has no arithmetic for its type."""
    return x.to(torch.int64) if x.dtype in _SIGNED else x


def on_bits(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A version of `function(x, ...)` that only moves elements of `x`, for types torch has no such function for."""

    def moved(x: torch.Tensor, *args: torch.Tensor | Sequence[torch.Tensor | int]) -> torch.Tensor:
        if is_text(x) or x.dtype not in _SIGNED:
            return function(x, *args)
        return function(x.view(_SIGNED[x.dtype]), *args).view(x.dtype)

    return moved


def copied(x: Value) -> Value:
    """The same values in memory of their own."""
    return x.copy() if is_text(x) else x.clone()


def flip(x: AnyTensor, axes: list[int]) -> AnyTensor:
    """`x` turned around along axes, in memory of its own."""
    return np.flip(x, tuple(axes)).copy() if is_text(x) else on_bits(torch.flip)(x, axes)


def dims_of(tensor: torch.Tensor) -> list[int]:
    """The Python ints of a shape-like tensor."""
    return tensor.tolist()


def bracketed(dims: Sequence[int]) -> str:
    """A shape as TensorFlow's messages write it: [2,3]."""
    return "[" + ",".join(map(str, dims)) + "]"


def scalar(value: torch.Tensor, name: str) -> int:
    """A whole number that an op takes as a tensor without axes."""
    if value.ndim:
        raise invalid(f"{name} must be a scalar, not of shape {bracketed(value.shape)}")
    return int(value)


def wrap_axis(axis: int, rank: int, message: str) -> int:
    """A nonnegative axis; `message` is formatted with axis and rank for one out of range."""
    if not -rank <= axis < rank:
        raise invalid(message.format(axis=axis, rank=rank, low=-rank))
    return axis % rank


# Shapes


def shape_tensor(dims: tuple[int, ...] | int, out_type: DType) -> torch.Tensor:
    return torch.tensor(dims, dtype=torch_dtype(out_type))


@safe("Shape")
def shape(input: AnyTensor, *, out_type: DType) -> torch.Tensor:
    return shape_tensor(tuple(input.shape), out_type)


@safe("ShapeN")
def shape_n(input: list[AnyTensor], *, out_type: DType) -> list[torch.Tensor]:
    return [shape_tensor(tuple(x.shape), out_type) for x in input]


@safe("Size")
def size(input: AnyTensor, *, out_type: DType) -> torch.Tensor:
    return shape_tensor(math.prod(input.shape), out_type)


@safe("Rank")
def rank(input: AnyTensor) -> torch.Tensor:
    return torch.tensor(input.ndim, dtype=torch.int32)


@kernel("Reshape", result=same(0))
def reshape(tensor: AnyTensor, shape: torch.Tensor) -> AnyTensor:
    if shape.ndim != 1:
        raise invalid(f"sizes input must be 1-D, not {list(shape.shape)}")
    dims = dims_of(shape)
    if tuple(dims) == tuple(tensor.shape):
        return tensor
    return tensor.reshape(_filled_dims(tensor, dims))


def _filled_dims(tensor: AnyTensor, dims: list[int]) -> list[int]:
    """`dims` with -1 replaced, after TensorFlow's checks."""
    count = math.prod(tensor.shape)
    if dims.count(-1) > 1:
        first, second = [i for i, d in enumerate(dims) if d == -1][:2]
        raise invalid(f"Only one input size may be -1, not both {first} and {second}")
    for i, d in enumerate(dims):
        if d < -1:
            raise invalid(f"Size {i} must be non-negative, not {d}")
    known = math.prod(d for d in dims if d != -1)
    if -1 in dims:
        if known == 0:
            if count:
                raise invalid(f"Input to reshape is a tensor with {count} values, but the requested shape has 0")
            # Any size would do: TensorFlow takes the one that fits the dimensions which are not zero.
            missing = math.prod(d for d in tensor.shape if d) // math.prod(d for d in dims if d not in (0, -1))
        else:
            missing, rest = divmod(count, known)
            if rest:
                raise invalid(
                    f"Input to reshape is a tensor with {count} values, but the requested shape requires a multiple of {known}"
                )
        return [missing if d == -1 else d for d in dims]
    if known != count:
        raise invalid(f"Input to reshape is a tensor with {count} values, but the requested shape has {known}")
    return dims


@kernel("ExpandDims", result=same(0), fails=False)
def expand_dims(input: AnyTensor, dim: torch.Tensor) -> AnyTensor:
    axis = int(dim.reshape(()))
    if not -1 - input.ndim <= axis <= input.ndim:
        raise invalid(f"Tried to expand dim index {axis} for tensor with {input.ndim} dimensions.")
    return np.expand_dims(input, axis) if is_text(input) else input.unsqueeze(axis)


@kernel("Squeeze", result=same(0), fails=False)
def squeeze(input: AnyTensor, *, squeeze_dims: list[int]) -> AnyTensor:
    if not squeeze_dims:
        return input.squeeze()
    axes = [
        wrap_axis(a, input.ndim, "Tried to squeeze dim index {axis} for tensor with {rank} dimensions.")
        for a in squeeze_dims
    ]
    for axis in axes:
        if input.shape[axis] != 1:
            raise invalid(f"Can not squeeze dim[{axis}], expected a dimension of 1, got {input.shape[axis]}")
    return input.squeeze(tuple(set(axes)))


@kernel("EnsureShape", result=same(0))
def ensure_shape(input: AnyTensor, *, shape: TensorShape) -> AnyTensor:
    if not shape.is_compatible_with(tuple(input.shape)):
        expected = "[" + ",".join(map(str, shape.dims or ())) + "]"
        raise invalid(f"Shape of tensor {bracketed(input.shape)} is not compatible with expected shape {expected}.")
    return input


@fresh("BroadcastArgs")
def broadcast_args(s0: torch.Tensor, s1: torch.Tensor) -> torch.Tensor:
    first, second = dims_of(s0), dims_of(s1)
    rank = max(len(first), len(second))
    out = []
    for a, b in zip([1] * (rank - len(first)) + first, [1] * (rank - len(second)) + second, strict=True):
        if a != b and 1 not in (a, b):
            raise invalid(f"Incompatible shapes: {bracketed(first)} vs. {bracketed(second)}")
        out.append(b if a == 1 else a)
    return torch.tensor(out, dtype=s0.dtype)


@fresh("BroadcastGradientArgs")
def broadcast_gradient_args(s0: torch.Tensor, s1: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The axes over which each operand of a broadcasting op must sum its gradient."""
    first, second = dims_of(s0), dims_of(s1)
    rank = max(len(first), len(second))
    if first == second:
        return s0.new_empty(0), s0.new_empty(0)
    axes = [], []
    for i, (a, b) in enumerate(
        zip([1] * (rank - len(first)) + first, [1] * (rank - len(second)) + second, strict=True)
    ):
        if a == b:
            if a == 1:
                axes[0].append(i)
                axes[1].append(i)
        elif a == 1:
            axes[0].append(i)
        elif b == 1:
            axes[1].append(i)
        else:
            raise invalid(f"Incompatible shapes: {bracketed(first)} vs. {bracketed(second)}")
    return tuple(torch.tensor(a, dtype=s0.dtype) for a in axes)


# Filled tensors


@fresh("Fill")
def fill(dims: torch.Tensor, value: AnyTensor) -> AnyTensor:
    if dims.ndim != 1:
        raise invalid(f"dims must be a vector, not of shape {bracketed(dims.shape)}")
    is_handle = not isinstance(value, (torch.Tensor, np.ndarray))
    if not is_handle and value.ndim:
        raise invalid(f"value must be a scalar, not of shape {bracketed(value.shape)}")
    shape = dims_of(dims)
    for d in shape:
        if d < 0:
            raise invalid(f"Dimension {d} must be >= 0")
    if is_handle:
        filled = np.empty(shape, dtype=object)
        for index in np.ndindex(*shape):  # a list would be taken for a row of elements
            filled[index] = value
        return filled
    if is_text(value):
        return np.full(shape, value[()], dtype=object)
    return value.expand(shape).clone(memory_format=torch.contiguous_format)


@safe("ZerosLike")
def zeros_like(x: Value) -> Value:
    if not isinstance(x, (torch.Tensor, np.ndarray)):  # variants know what they are of zeros
        return x.zeros()
    return np.full(x.shape, b"", dtype=object) if is_text(x) else torch.zeros(x.shape, dtype=x.dtype, device=x.device)


@safe("OnesLike")
def ones_like(x: torch.Tensor) -> torch.Tensor:
    return torch.ones(x.shape, dtype=x.dtype, device=x.device)


@fresh("Empty")
def empty(shape: torch.Tensor, *, dtype: DType) -> AnyTensor:
    dims = dims_of(shape)
    return np.full(dims, b"", dtype=object) if dtype == dtypes.string else torch.zeros(dims, dtype=torch_dtype(dtype))


# Values passed on


def identity(input: Value) -> Value:
    return input


for _name in ("Identity", "Snapshot", "StopGradient", "PreventGradient", "PlaceholderWithDefault"):
    kernel(_name, result=same(0), renames=True, effect=Effect.PURE, fails=False)(identity)
for _name in ("GuaranteeConst", "XlaClusterOutput", "DebugGradientIdentity"):
    kernel(_name, result=same(0), effect=Effect.PURE, fails=False)(identity)


@kernel("RefSelect", result=same(1), effect=Effect.READS, writes=())
def ref_select(index: torch.Tensor, inputs: list[Ref]) -> Ref:
    if not 0 <= int(index) < len(inputs):
        raise InvalidArgumentError(None, None, f"index {int(index)} is not in [0, {len(inputs)})")
    return inputs[int(index)]


for _name in ("RefIdentity", "DebugGradientRefIdentity"):
    kernel(_name, result=same(0), renames=_name == "RefIdentity", effect=Effect.READS, writes=(), fails=False)(identity)
kernel("NoOp", "ControlTrigger", effect=Effect.PURE, fails=False)(lambda: None)
kernel("IdentityN", result=same(0), fails=False)(lambda input: input)


@fresh("DeepCopy", effect=Effect.PURE)
def deep_copy(x: AnyTensor) -> AnyTensor:
    return copied(x)


# Joining and splitting


def _joined_axis(values: list[AnyTensor], axis: int, op: str) -> int:
    rank = values[0].ndim
    if not -rank <= axis < rank:
        raise invalid(f"{op} : Expected concatenating dimensions in the range [{-rank}, {rank}), but got {axis}")
    axis %= rank
    first = values[0]
    for i, v in enumerate(values[1:], 1):
        if v.ndim != rank or v.shape[:axis] != first.shape[:axis] or v.shape[axis + 1 :] != first.shape[axis + 1 :]:
            raise invalid(
                f"{op} : {'Dimensions of inputs' if v.ndim == rank else 'Ranks of all input tensors'} should match: "
                f"shape[0] = {bracketed(first.shape)} vs. shape[{i}] = {bracketed(v.shape)}"
            )
    return axis


def join(values: list[Value], axis: int, op: str = "ConcatOp") -> AnyTensor:
    """Concatenate along an axis, after TensorFlow's checks (torch would let empty vectors of any rank pass)."""
    axis = _joined_axis(values, axis, op)
    if len(values) == 1:
        return values[0]
    return np.concatenate(values, axis) if is_text(values[0]) else torch.cat(values, axis)


@safe("ConcatV2")
def concat_v2(values: list[AnyTensor], axis: torch.Tensor) -> AnyTensor:
    return join(values, scalar(axis, "axis"))


@fresh("Concat")
def concat(concat_dim: torch.Tensor, values: list[AnyTensor]) -> AnyTensor:
    return join(values, scalar(concat_dim, "concat_dim"))


@kernel("ParallelConcat", result=view(0))
def parallel_concat(values: list[AnyTensor], *, shape: TensorShape) -> AnyTensor:
    return join(values, 0, "ParallelConcat")


@fresh("ConcatOffset")
def concat_offset(concat_dim: torch.Tensor, shape: list[torch.Tensor]) -> list[torch.Tensor]:
    dims = [dims_of(s) for s in shape]
    rank = len(dims[0])
    axis = int(concat_dim.reshape(()))
    if not -rank <= axis < rank:
        raise invalid(f"Concat dim is out of range: {axis} vs. {rank}")
    axis %= rank
    offsets, at = [], 0
    for i, d in enumerate(dims):
        if len(d) != rank:
            raise invalid(f"input {i} should contain {rank} elements, but got {len(d)}")
        for j in range(rank):
            if j != axis and d[j] != dims[0][j]:
                raise invalid(
                    f"All dimensions except {axis} must match. Input {i} has shape [{' '.join(map(str, d))}] and doesn't match input 0 "
                    f"with shape [{' '.join(map(str, dims[0]))}]."
                )
        offsets.append(torch.tensor([at if j == axis else 0 for j in range(rank)], dtype=torch.int32))
        at += d[axis]
    return offsets


@kernel("Pack", result=same(0))
def pack(values: list[Value], *, axis: int) -> AnyTensor:
    first: Value = values[0]
    if not isinstance(first, (torch.Tensor, np.ndarray)):  # handles of resources
        handles = np.empty(len(values), object)
        handles[:] = values
        return handles
    for i, v in enumerate(values[1:], 1):
        if v.shape != first.shape:
            raise invalid(
                f"Shapes of all inputs must match: values[0].shape = {bracketed(first.shape)} != values[{i}].shape = {bracketed(v.shape)}"
            )
    if not -first.ndim - 1 <= axis <= first.ndim:
        raise invalid(f"axis = {axis} not in [{-first.ndim - 1}, {first.ndim + 1})")
    if is_text(first):
        return np.stack(values, axis)
    return values[0].unsqueeze(axis) if len(values) == 1 else torch.stack(values, axis)


@kernel("Unpack", result=view(0))
def unpack(value: AnyTensor, *, axis: int, num: int) -> list[AnyTensor]:
    axis = wrap_axis(axis, value.ndim, "axis = {axis} not in [{low}, {rank})")
    if value.shape[axis] != num:
        raise invalid(f"Input shape axis {axis} must equal {num}, got shape {bracketed(value.shape)}")
    if not is_text(value):
        return list(value.unbind(axis))
    parts = [np.asarray(v, object) for v in np.moveaxis(value, axis, 0)]
    return [p if p.ndim or isinstance(p.item(), bytes | str) else p.item() for p in parts]  # a list is itself


@kernel("Split", result=view(1))
def split(split_dim: torch.Tensor, value: AnyTensor, *, num_split: int) -> Sequence[AnyTensor]:
    axis = wrap_axis(
        scalar(split_dim, "split_dim"),
        value.ndim,
        "-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {axis}",
    )
    if value.shape[axis] % num_split:
        raise invalid(
            f"Number of ways to split should evenly divide the split dimension, but got split_dim {axis} (size = {value.shape[axis]}) "
            f"and num_split {num_split}"
        )
    if num_split == 1:
        return [value]
    if is_text(value):
        return np.split(value, num_split, axis)
    width = value.shape[axis] // num_split
    return list(value.split([width] * num_split, axis))


@kernel("SplitV", result=view(0))
def split_v(
    value: AnyTensor, size_splits: torch.Tensor, split_dim: torch.Tensor, *, num_split: int
) -> Sequence[AnyTensor]:
    axis = wrap_axis(
        int(split_dim.reshape(())),
        value.ndim,
        "-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {axis}",
    )
    if size_splits.ndim > 1 or (num_split > 1 and size_splits.ndim == 0):
        raise invalid(f"size_splits must be a vector, not of shape {bracketed(size_splits.shape)}")
    sizes, total = dims_of(size_splits.reshape(-1)), value.shape[axis]
    if len(sizes) != num_split:
        raise invalid(f"size_splits must have {num_split} elements, got {len(sizes)}")
    if sizes.count(-1) > 1:
        raise invalid("There can only be one -1 in the input.")
    known = sum(s for s in sizes if s != -1)
    if -1 in sizes and known <= total:
        sizes = [total - known if s == -1 else s for s in sizes]
    if sum(sizes) != total or any(s < 0 for s in sizes):
        raise invalid(
            f"Determined shape must either match input shape along split_dim exactly if fully specified, or be less than the size of the "
            f"input along split_dim if not fully specified.  Got: {known}"
        )
    if is_text(value):
        return np.split(value, np.cumsum(sizes)[:-1], axis)
    return list(value.split(sizes, axis))


# --- as expressions -------------------------------------------------------------------------------


@lowers("Reshape", "ExpandDims", known=(1,))
def _lower_reshape(x: Expression, shape: np.ndarray, *, result_shape: tuple[int, ...]) -> Expression:
    return x.reshape(result_shape)


@lowers("Squeeze")
def _lower_squeeze(x: Expression, *, result_shape: tuple[int, ...]) -> Expression:
    return x.reshape(result_shape)


@lowers("Fill", known=(0,))
def _lower_fill(dims: np.ndarray, value: Expression, *, result_shape: tuple[int, ...]) -> Expression:
    return value.expand(result_shape)


@lowers("ZerosLike")
def _lower_zeros_like(x: Expression) -> Expression:
    return const(0, x.dtype).expand(x.shape)


@lowers("OnesLike")
def _lower_ones_like(x: Expression) -> Expression:
    return const(1, x.dtype).expand(x.shape)
