"""Operations of XLA by themselves: TensorFlow runs them on its XLA_CPU device, without a cluster around."""

from __future__ import annotations

import functools
import itertools
import string
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import torch

from everflow.framework.errors import InvalidArgumentError, UnimplementedError
from everflow.kernels.functions import is_true
from everflow.kernels.registry import fresh, kernel, library, safe
from everflow.protos.xla_data_pb2 import ConvolutionDimensionNumbers, DotDimensionNumbers

if TYPE_CHECKING:
    from everflow.kernels.context import Session, Step
    from everflow.kernels.tensors import Value
    from everflow.protos.attr_value_pb2 import NameAttrList

_calling = functools.partial(kernel, threads_matter_from=0)  # whatever the function has in it


@safe("XlaReplicaId")
def replica_id() -> torch.Tensor:
    return torch.zeros((), dtype=torch.int32)


@safe("XlaSort")
def sort(input: torch.Tensor) -> torch.Tensor:
    return torch.sort(input, dim=-1).values if input.ndim else input.clone()


@fresh("XlaKeyValueSort")
def key_value_sort(keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    ordered, places = torch.sort(keys, dim=-1, stable=True)
    return ordered, values.gather(-1, places)


def _window(whole: torch.Tensor, starts: torch.Tensor, sizes: Sequence[int]) -> tuple[slice, ...]:
    """A part of a tensor, moved to where it fits."""
    placed = zip(starts.tolist(), sizes, whole.shape)
    return tuple(slice(start := max(0, min(int(s), n - size)), start + size) for s, size, n in placed)


@fresh("XlaDynamicSlice")
def dynamic_slice(input: torch.Tensor, start_indices: torch.Tensor, size_indices: torch.Tensor) -> torch.Tensor:
    sizes = size_indices.tolist()
    if any(size > n for size, n in zip(sizes, input.shape)):
        raise InvalidArgumentError(None, None, f"A part of {sizes} does not fit into {list(input.shape)}")
    return input[_window(input, start_indices, sizes)].clone()


@fresh("XlaDynamicUpdateSlice")
def dynamic_update_slice(input: torch.Tensor, update: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    if any(size > n for size, n in zip(update.shape, input.shape)):
        raise InvalidArgumentError(None, None, f"{list(update.shape)} does not fit into {list(input.shape)}")
    result = input.clone()
    result[_window(input, indices, update.shape)] = update
    return result


def _padded(
    input: torch.Tensor, value: torch.Tensor, low: Sequence[int], high: Sequence[int], interior: Sequence[int]
) -> torch.Tensor:
    """A tensor with values between its entries and around them; negative numbers cut entries off."""
    inner = [max(0, n + (n - 1) * gap) for n, gap in zip(input.shape, interior)]
    spread = value.expand(inner).clone()
    spread[tuple(slice(None, None, gap + 1) for gap in interior)] = input
    result = value.expand([max(0, n + lo + hi) for n, lo, hi in zip(inner, low, high)]).clone()
    source = tuple(slice(max(0, -lo), n - max(0, -hi)) for n, lo, hi in zip(inner, low, high))
    part = spread[source]
    result[tuple(slice(max(0, lo), max(0, lo) + n) for lo, n in zip(low, part.shape))] = part
    return result


@fresh("XlaPad")
def pad(
    input: torch.Tensor,
    padding_value: torch.Tensor,
    padding_low: torch.Tensor,
    padding_high: torch.Tensor,
    padding_interior: torch.Tensor,
) -> torch.Tensor:
    low, high, interior = padding_low.tolist(), padding_high.tolist(), padding_interior.tolist()
    if min([0, *low, *high, *interior]) < 0:
        raise InvalidArgumentError(None, None, f"Paddings must not be negative: {low}, {high}, {interior}")
    return _padded(input, padding_value, low, high, interior)


@library("XlaDot")
def dot(lhs: torch.Tensor, rhs: torch.Tensor, *, dimension_numbers: str) -> torch.Tensor:
    """Batch dimensions first, then those of the left, then of the right that are not summed over."""
    numbers = DotDimensionNumbers.FromString(dimension_numbers.encode("utf-8", "surrogateescape"))
    letters = iter(string.ascii_letters)
    left, right = [next(letters) for _ in lhs.shape], [next(letters) for _ in rhs.shape]
    pairs = [
        *zip(numbers.lhs_batch_dimensions, numbers.rhs_batch_dimensions),
        *zip(numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions),
    ]
    for i, k in pairs:
        right[k] = left[i]
    if not lhs.dtype.is_floating_point and not lhs.dtype.is_complex:
        raise UnimplementedError(None, None, f"XlaDot multiplies floats, not {lhs.dtype}")
    summed = {left[i] for i in numbers.lhs_contracting_dimensions}
    batch = [left[i] for i in numbers.lhs_batch_dimensions]
    free = [x for x in left + right if x not in summed and x not in batch]
    return torch.einsum(f"{''.join(left)},{''.join(right)}->{''.join(batch + free)}", lhs, rhs)


@library("XlaEinsum")
def einsum(a: torch.Tensor, b: torch.Tensor, *, equation: str) -> torch.Tensor:
    return torch.einsum(equation, a, b)


@fresh("XlaBroadcastHelper")
def broadcast_helper(
    lhs: torch.Tensor, rhs: torch.Tensor, broadcast_dims: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    dims = broadcast_dims.tolist()
    if not dims:
        if lhs.ndim != rhs.ndim and lhs.ndim and rhs.ndim:
            raise InvalidArgumentError(
                None, None, f"Without broadcast_dims {list(lhs.shape)} and {list(rhs.shape)} must be of one rank"
            )
        return lhs.clone(), rhs.clone()
    small, large = (lhs, rhs) if lhs.ndim < rhs.ndim else (rhs, lhs)
    shape = [1] * large.ndim
    for dim, size in zip(dims, small.shape):
        shape[dim] = size
    small = small.reshape(shape)
    return (small.clone(), large.clone()) if lhs.ndim < rhs.ndim else (large.clone(), small.clone())


def _scalar_function(f: NameAttrList, session: Session, step: Step) -> Callable[..., torch.Tensor]:
    call = session.function(f)
    return lambda *values: call(*values, step=step)[0]


@_calling("XlaReduce")
def reduce(
    input: torch.Tensor,
    init_value: torch.Tensor,
    *,
    dimensions_to_reduce: list[int],
    reducer: NameAttrList,
    session: Session,
    step: Step,
) -> torch.Tensor:
    combine = _scalar_function(reducer, session, step)
    kept = [i for i in range(input.ndim) if i not in dimensions_to_reduce]
    shape = [input.shape[i] for i in kept]
    rows = input.permute(*kept, *dimensions_to_reduce).reshape(_product(shape), -1)
    result = init_value.expand(rows.shape[0]).clone()
    for place, row in enumerate(rows):
        result[place] = functools.reduce(combine, row, init_value)
    return result.reshape(shape)


def _product(sizes: Sequence[int]) -> int:
    return functools.reduce(lambda a, b: a * b, sizes, 1)


def _windows(
    shape: Sequence[int], size: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> tuple[list[int], Iterator[tuple[tuple[int, ...], list[tuple[int, ...]]]]]:
    """How many windows there are along each dimension, and for each of them its place and those of its entries."""
    counts = [max(0, (n - (k - 1) * d - 1) // s + 1) for n, k, s, d in zip(shape, size, stride, dilation)]
    offsets = list(itertools.product(*(range(0, k * d, d) for k, d in zip(size, dilation))))

    def each() -> Iterator[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
        for place in itertools.product(*map(range, counts)):
            yield place, [tuple(p * s + o for p, s, o in zip(place, stride, offset)) for offset in offsets]

    return counts, each()


@_calling("XlaReduceWindow")
def reduce_window(
    input: torch.Tensor,
    init_value: torch.Tensor,
    window_dimensions: torch.Tensor,
    window_strides: torch.Tensor,
    base_dilations: torch.Tensor,
    window_dilations: torch.Tensor,
    padding: torch.Tensor,
    *,
    computation: NameAttrList,
    session: Session,
    step: Step,
) -> torch.Tensor:
    combine = _scalar_function(computation, session, step)
    low, high = padding[:, 0].tolist(), padding[:, 1].tolist()
    base = _padded(input, init_value, low, high, [d - 1 for d in base_dilations.tolist()])
    counts, windows = _windows(
        base.shape, window_dimensions.tolist(), window_strides.tolist(), window_dilations.tolist()
    )
    result = init_value.expand(counts).clone()
    for place, entries in windows:
        result[place] = functools.reduce(combine, (base[entry] for entry in entries), init_value)
    return result


@_calling("XlaSelectAndScatter")
def select_and_scatter(
    operand: torch.Tensor,
    window_dimensions: torch.Tensor,
    window_strides: torch.Tensor,
    padding: torch.Tensor,
    source: torch.Tensor,
    init_value: torch.Tensor,
    *,
    select: NameAttrList,
    scatter: NameAttrList,
    session: Session,
    step: Step,
) -> torch.Tensor:
    """Each entry of the source goes to the entry of its window that `select` prefers."""
    prefers, combine = _scalar_function(select, session, step), _scalar_function(scatter, session, step)
    low, high = padding[:, 0].tolist(), padding[:, 1].tolist()
    shape = [n + lo + hi for n, lo, hi in zip(operand.shape, low, high)]
    result = init_value.expand(operand.shape).clone()
    _, windows = _windows(shape, window_dimensions.tolist(), window_strides.tolist(), [1] * operand.ndim)
    for place, entries in windows:
        inside = [tuple(e - lo for e, lo in zip(entry, low)) for entry in entries]
        inside = [e for e in inside if all(0 <= i < n for i, n in zip(e, operand.shape))]
        chosen = functools.reduce(lambda a, b: a if is_true(prefers(operand[a], operand[b])) else b, inside)
        result[chosen] = combine(result[chosen], source[place])
    return result


@library("XlaConv")
def conv(
    lhs: torch.Tensor,
    rhs: torch.Tensor,
    window_strides: torch.Tensor,
    padding: torch.Tensor,
    lhs_dilation: torch.Tensor,
    rhs_dilation: torch.Tensor,
    feature_group_count: torch.Tensor,
    *,
    dimension_numbers: str,
) -> torch.Tensor:
    d = ConvolutionDimensionNumbers.FromString(dimension_numbers.encode("utf-8", "surrogateescape"))
    images = lhs.permute(d.input_batch_dimension, d.input_feature_dimension, *d.input_spatial_dimensions)
    filters = rhs.permute(
        d.kernel_output_feature_dimension, d.kernel_input_feature_dimension, *d.kernel_spatial_dimensions
    )
    low, high = padding[:, 0].tolist(), padding[:, 1].tolist()
    gaps = [gap - 1 for gap in lhs_dilation.tolist()]
    images = _padded(images, images.new_zeros(()), [0, 0, *low], [0, 0, *high], [0, 0, *gaps])
    rank = len(d.input_spatial_dimensions)
    convolve = (torch.conv1d, torch.conv2d, torch.conv3d)[rank - 1]
    result = convolve(
        images,
        filters,
        None,
        window_strides.tolist(),
        [0] * rank,
        rhs_dilation.tolist(),
        int(feature_group_count),
    )
    places = [d.output_batch_dimension, d.output_feature_dimension, *d.output_spatial_dimensions]
    return result.permute(*sorted(range(rank + 2), key=places.__getitem__)).contiguous()


@_calling("XlaIf")
def if_(
    cond: torch.Tensor,
    inputs: list[Value],
    *,
    then_branch: NameAttrList,
    else_branch: NameAttrList,
    session: Session,
    step: Step,
) -> list[Value]:
    return session.function(then_branch if is_true(cond) else else_branch)(*inputs, step=step)


@_calling("XlaWhile")
def while_(input: list[Value], *, cond: NameAttrList, body: NameAttrList, session: Session, step: Step) -> list[Value]:
    test, again = session.function(cond), session.function(body)
    values = list(input)
    while is_true(test(*values, step=step)[0]):
        step.check()
        values = again(*values, step=step)
    return values


@library("XlaSelfAdjointEig")
def self_adjoint_eig(a: torch.Tensor, *, lower: bool) -> tuple[torch.Tensor, torch.Tensor]:
    values, vectors = torch.linalg.eigh(a, UPLO="L" if lower else "U")
    return values.to(a.dtype), vectors.contiguous()


@library("XlaSvd")
def svd(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    u, s, vh = torch.linalg.svd(a, full_matrices=True)
    return s.to(a.dtype), u.contiguous(), vh.mH.contiguous()
