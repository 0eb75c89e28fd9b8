"""Kernels of the basic distributions: uniform, integer, normal, truncated normal and shuffles, seeded and stateless.

Given the same seeds they lay out the generator's words as TensorFlow's CPU kernels do, so they give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import Effect, same, view
from everflow.kernels.math import libm
from everflow.kernels.random.philox import Philox, Stream, in_chunks
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.tensors import AnyTensor, torch_dtype
from everflow.native import streams
from everflow.native.draws import drawn
from everflow.native.lowering import lowers

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node, Session
    from everflow.native.values import Value

# Generator blocks that an op sets aside for each value it makes, whatever it needs in the end.
RESERVED_PER_VALUE = 256
_TRUNCATE_AT = 2.0
_SMALLEST_UNIFORM = 1e-7
_FRACTION = np.uint64(0x7FFFFF)
# dtype: bits of a word that become the fraction of a uniform value in [0, 1)
_FRACTION_BITS = {dtypes.float32: 23, dtypes.float16: 10, dtypes.bfloat16: 7}


def shape_of(shape: torch.Tensor) -> list[int]:
    """The list of a shape tensor, checked."""
    if shape.dim() != 1:
        raise InvalidArgumentError(None, None, f"shape must be a vector, got shape {list(shape.shape)}")
    sizes = shape.tolist()
    if any(size < 0 for size in sizes):
        raise InvalidArgumentError(None, None, f"Dimension {min(sizes)} must be >= 0")
    return sizes


def stream_of(node: Node, session: Session) -> Stream:
    """The op's stream in this session: it starts at the node's seeds and goes on from run to run."""
    return session.random.stream(node.name, lambda: Stream(node.attrs.get("seed", 0), node.attrs.get("seed2", 0)))


def _as_torch(words: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(words.view(np.int64))


def _fractions(words: np.ndarray, bits: int) -> torch.Tensor:
    """Uniform float32 values in [0, 1) from the low bits of words."""
    return (_as_torch(words) & ((1 << bits) - 1)).to(torch.float32).mul_(2.0**-bits)


def _double_fractions(high: np.ndarray, low: np.ndarray) -> torch.Tensor:
    """Uniform float64 values in [0, 1) of 52 bits from pairs of words."""
    return ((_as_torch(high) & 0xFFFFF) << 32 | _as_torch(low)).to(torch.float64).mul_(2.0**-52)


def doubles(words: np.ndarray) -> np.ndarray:
    """Uniform float64 values in [0, 1) from words in their order, two for each value."""
    words = words.astype(np.uint64)
    return ((words[..., ::2] & np.uint64(0xFFFFF)) << np.uint64(32) | words[..., 1::2]) * 2.0**-52


def box_muller(words: np.ndarray) -> np.ndarray:
    """Two normal float64 values from each block of four words."""
    uniforms = doubles(words)
    radius = np.sqrt(-2.0 * libm.double_log(np.maximum(uniforms[..., 0], _SMALLEST_UNIFORM)))
    angle = 2.0 * math.pi * uniforms[..., 1]
    return np.stack([libm.double_sine(angle) * radius, libm.double_cosine(angle) * radius], axis=-1)


def single_normals(even: np.ndarray, odd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normal float32 values of blocks: rows are values 0 and 2, then values 1 and 3."""
    fractions = ((even & _FRACTION) * 2.0**-23).astype(np.float32)
    radius = np.sqrt(libm.log(np.maximum(fractions, np.float32(_SMALLEST_UNIFORM))) * np.float32(-2.0))
    # The angle is rounded to float32 only after the multiplication, as TensorFlow does.
    sine, cosine = libm.sine_and_cosine(((odd & _FRACTION) * (2.0 * math.pi * 2.0**-23)).astype(np.float32))
    return np.multiply(sine, radius, out=sine), np.multiply(cosine, radius, out=cosine)


def _normals(even: np.ndarray, odd: np.ndarray) -> tuple[torch.Tensor, ...]:
    return tuple(map(torch.from_numpy, single_normals(even, odd)))


def _double_normals(even: np.ndarray, odd: np.ndarray) -> tuple[torch.Tensor, ...]:
    """Normal float64 values 0 and 1 of blocks."""
    words = np.stack([even[0], odd[0], even[1], odd[1]], axis=-1)
    return tuple(torch.from_numpy(box_muller(words)).unbind(-1))


def _filled(shape: list[int], dtype: torch.dtype, group: int, fill: Callable[..., None]) -> torch.Tensor:
    """A tensor made of groups of values: `fill(rows, begin, end)` writes rows [begin, end) of a [groups, group] tensor."""
    count = math.prod(shape)
    groups = -(-count // group)
    rows = torch.empty((groups, group), dtype=dtype)
    in_chunks(groups, lambda begin, end: fill(rows[begin:end], begin, end))
    return rows.view(-1)[:count].view(shape)


def _few(place: Philox, shape: list[int], dtype: type, value: Callable) -> torch.Tensor:
    """A tensor of up to four values, each made of one word: without the arrays that many need."""
    return torch.from_numpy(np.array([value(word) for word in place.block()[: math.prod(shape)]], dtype).reshape(shape))


def _single_uniform(place: Philox, shape: list[int]) -> torch.Tensor:
    if 0 < math.prod(shape) <= 4:  # such as decide whether one image is flipped
        return _few(place, shape, np.float32, lambda word: (word & 0x7FFFFF) * 2.0**-23)

    def fill(rows: torch.Tensor, begin: int, end: int) -> None:
        if place.fill(streams.UNIFORM, rows, begin):
            return
        # With the exponent of one, the low bits are a fraction of a number in [1, 2).
        words = rows.view(torch.int32)
        place.write_words(words.numpy(), begin)
        words.bitwise_and_(0x7FFFFF).bitwise_or_(0x3F800000)
        rows.sub_(1.0)

    return _filled(shape, torch.float32, 4, fill)


def uniform(place: Philox, shape: list[int], dtype: DType) -> torch.Tensor:
    """Uniform values in [0, 1)."""
    dtype = dtypes.as_dtype(dtype)
    if dtype == dtypes.float64:

        def fill_wide(rows: torch.Tensor, begin: int, end: int) -> None:
            rows.copy_(_double_fractions(*place.chunk(begin, end - begin)).t())

        return _filled(shape, torch.float64, 2, fill_wide)

    if dtype == dtypes.float32:
        return _single_uniform(place, shape)
    bits = _FRACTION_BITS[dtype]

    def fill(rows: torch.Tensor, begin: int, end: int) -> None:
        even, odd = place.chunk(begin, end - begin)
        rows[:, ::2] = _fractions(even, bits).t()
        rows[:, 1::2] = _fractions(odd, bits).t()

    return _filled(shape, torch_dtype(dtype), 4, fill)


def uniform_int(place: Philox, shape: list[int], low: int, high: int, dtype: DType) -> torch.Tensor:
    """Uniform integers in [low, high)."""
    span = np.uint64(high - low)
    dtype = dtypes.as_dtype(dtype)
    if dtype == dtypes.int64:

        def fill_wide(rows: torch.Tensor, begin: int, end: int) -> None:
            even, odd = place.chunk(begin, end - begin)
            values = (even | odd << np.uint64(32)) % span
            rows.copy_(_as_torch(values).t() + low)

        return _filled(shape, torch.int64, 2, fill_wide)

    if 0 < math.prod(shape) <= 4:
        return _few(place, shape, np.int32, lambda word: word % (high - low) + low)

    def fill(rows: torch.Tensor, begin: int, end: int) -> None:
        words = rows.numpy().view(np.uint32)
        place.write_words(words, begin)
        # numpy divides by one number in vectors, but takes remainders one by one.
        words -= words // np.uint32(high - low) * np.uint32(high - low)
        words += np.uint32(low & 0xFFFFFFFF)

    return _filled(shape, torch.int32, 4, fill)


def normal(place: Philox, shape: list[int], dtype: DType) -> torch.Tensor:
    """Standard normal values."""
    dtype = dtypes.as_dtype(dtype)
    if dtype == dtypes.float64:

        def fill_wide(rows: torch.Tensor, begin: int, end: int) -> None:
            rows[:, 0], rows[:, 1] = _double_normals(*place.chunk(begin, end - begin))

        return _filled(shape, torch.float64, 2, fill_wide)

    def fill(rows: torch.Tensor, begin: int, end: int) -> None:
        if rows.dtype is torch.float32 and place.fill(streams.NORMAL, rows, begin):
            return
        first, second = _normals(*place.chunk(begin, end - begin))
        rows[:, ::2] = first.t()
        rows[:, 1::2] = second.t()

    return _filled(shape, torch_dtype(dtype), 4, fill)


def truncated_normal(place: Philox, shape: list[int], dtype: DType) -> torch.Tensor:
    """Normal values, those two or more deviations from the mean drawn again.

    Each group of values has its own stretch of the stream, from which pairs are taken until the group is full.
    """
    dtype = dtypes.as_dtype(dtype)
    double = dtype == dtypes.float64
    group = 2 if double else 4
    stretch = group * RESERVED_PER_VALUE // 4

    def draw(blocks: np.ndarray) -> torch.Tensor:
        even, odd = place.chunk_at(blocks)
        first, second = _double_normals(even, odd) if double else _normals(even, odd)
        if double:
            return torch.stack([first, second], dim=1)
        return torch.stack([first, second], dim=2).permute(1, 0, 2).reshape(-1, 4)

    def fill(rows: torch.Tensor, begin: int, end: int) -> None:
        blocks = np.arange(begin, end, dtype=np.uint64) * np.uint64(stretch)
        values = draw(blocks)
        kept = values.abs() < _TRUNCATE_AT
        full = kept.all(dim=1)
        rows.copy_(values)
        open_rows = torch.nonzero(~full).flatten()
        values, kept, blocks = values[open_rows], kept[open_rows], blocks[open_rows.numpy()]
        filled = torch.zeros(len(open_rows), dtype=torch.int64)
        while len(open_rows):
            places = filled[:, None] + kept.cumsum(dim=1) - 1
            taken = kept & (places < group)
            row, column = torch.nonzero(taken, as_tuple=True)
            rows[open_rows[row], places[row, column]] = values[row, column].to(rows.dtype)
            filled = filled + kept.sum(dim=1)
            still = torch.nonzero(filled < group).flatten()
            open_rows, filled, blocks = open_rows[still], filled[still], blocks[still.numpy()] + np.uint64(1)
            values = draw(blocks)
            kept = values.abs() < _TRUNCATE_AT

    return _filled(shape, torch_dtype(dtype), group, fill)


def checked_range(low: torch.Tensor, high: torch.Tensor) -> tuple[int, int]:
    """The bounds of a distribution of integers; InvalidArgumentError where there is nothing between them."""
    for what, bound in (("minval", low), ("maxval", high)):
        if bound.dim() != 0:
            raise InvalidArgumentError(None, None, f"{what} must be 0-D, got shape {list(bound.shape)}")
    least, end = int(low), int(high)
    if least >= end:
        raise InvalidArgumentError(None, None, f"Need minval < maxval, got {least} >= {end}")
    return least, end


def _register_stateful(op_type: str, make: Callable[..., torch.Tensor]) -> None:
    @fresh(op_type, effect=Effect.RANDOM)
    def run(shape: torch.Tensor, *, dtype: DType, node: Node, session: Session) -> torch.Tensor:
        sizes = shape_of(shape)
        count = math.prod(sizes)
        # Truncated values are drawn until they fit; the others use up blocks in their order.
        used = 0 if make is truncated_normal else -(-count // (2 if dtype == dtypes.float64 else 4))
        return make(stream_of(node, session).reserve(count * RESERVED_PER_VALUE, used), sizes, dtype)


def stateless_place(seed: torch.Tensor) -> Philox:
    """Where the stream of a stateless op with this seed starts."""
    if tuple(seed.shape) != (2,):
        raise InvalidArgumentError(None, None, f"seed must have shape [2], not {list(seed.shape)}")
    return Philox.from_stateless_seed(*seed.tolist())


def _register_stateless(op_type: str, make: Callable[..., torch.Tensor]) -> None:
    @fresh(op_type)
    def run(shape: torch.Tensor, seed: torch.Tensor, *, dtype: DType) -> torch.Tensor:
        return make(stateless_place(seed), shape_of(shape), dtype)


_register_stateful("RandomUniform", uniform)
_register_stateful("RandomStandardNormal", normal)
_register_stateful("TruncatedNormal", truncated_normal)
_register_stateless("StatelessRandomUniform", uniform)
_register_stateless("StatelessRandomNormal", normal)
_register_stateless("StatelessTruncatedNormal", truncated_normal)


def _lower_stateful(op_type: str, kind: str) -> None:
    @lowers(op_type, known=(0,))
    def lowered(shape: np.ndarray, *, dtype: DType, place: Value, result_shape: tuple[int, ...]) -> Value | None:
        return drawn(kind, place, result_shape) if dtype == dtypes.float32 else None


_lower_stateful("RandomUniform", "uniform")
_lower_stateful("RandomStandardNormal", "normal")


def next_place(node: Node, session: Session, count: int) -> tuple[int, int, int]:
    """Where an op that draws so many values starts in this run: the key of its stream, and the counter's halves."""
    place = stream_of(node, session).reserve(count * RESERVED_PER_VALUE)
    return place.key, place.counter & ((1 << 64) - 1), place.counter >> 64


@fresh("RandomUniformInt", effect=Effect.RANDOM)
def random_uniform_int(
    shape: torch.Tensor, minval: torch.Tensor, maxval: torch.Tensor, *, Tout: DType, node: Node, session: Session
) -> torch.Tensor:
    sizes = shape_of(shape)
    low, high = checked_range(minval, maxval) if math.prod(sizes) else (0, 1)
    return uniform_int(stream_of(node, session).reserve(math.prod(sizes) * RESERVED_PER_VALUE), sizes, low, high, Tout)


@fresh("StatelessRandomUniformInt")
def stateless_random_uniform_int(
    shape: torch.Tensor, seed: torch.Tensor, minval: torch.Tensor, maxval: torch.Tensor, *, dtype: DType
) -> torch.Tensor:
    sizes = shape_of(shape)
    low, high = checked_range(minval, maxval) if math.prod(sizes) else (0, 1)
    return uniform_int(stateless_place(seed), sizes, low, high, dtype)


@kernel("RandomShuffle", result=same(0), effect=Effect.RANDOM)
def random_shuffle(value: AnyTensor, *, node: Node, session: Session) -> AnyTensor:
    count = len(value) if value.ndim else 0
    if count <= 1:
        return value
    blocks = -(-(count - 1) // 4)
    words = stream_of(node, session).reserve(blocks).words(blocks).ravel()[: count - 1].astype(np.int64)
    # Each place in turn is exchanged with one at or after it.
    steps = (words % np.arange(count, 1, -1) + np.arange(count - 1)).tolist()
    order = list(range(count))
    for i, j in enumerate(steps):
        order[i], order[j] = order[j], order[i]
    if isinstance(value, np.ndarray):
        return value[order]
    return value[torch.tensor(order)]


@kernel("RandomCrop", result=view(0), effect=Effect.RANDOM)
def random_crop(image: torch.Tensor, size: torch.Tensor, *, node: Node, session: Session) -> torch.Tensor:
    if image.dim() != 3:
        raise InvalidArgumentError(None, None, f"input must be 3-dimensional: {list(image.shape)}")
    if tuple(size.shape) != (2,):
        raise InvalidArgumentError(None, None, f"size must be a vector of two: {list(size.shape)}")
    height, width = image.shape[0], image.shape[1]
    target_height, target_width = size.tolist()
    if target_height > height or target_width > width:
        raise InvalidArgumentError(
            None, None, f"size {[target_height, target_width]} is larger than the input {list(image.shape)}"
        )
    words = stream_of(node, session).reserve(1).words(1)[0].tolist()
    top = words[0] % (height - target_height + 1)
    left = words[1] % (width - target_width + 1)
    return image[top : top + target_height, left : left + target_width]
