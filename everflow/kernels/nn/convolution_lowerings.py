"""Small convolutions as expressions: the windows of an image are the rows of a matrix, the filter is another.

The gradient to an image goes by remainders: with a stride of s, places of an image that leave the same remainder see
the same taps of the filter, every s-th of them. Each of these is a convolution with stride 1 of what came back, and the
image is put together of them. So no product meets a zero that was put between two numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from everflow.framework.windows import parse_format, slide
from everflow.kernels.array.lowerings import padded
from everflow.native.lowering import lowers
from everflow.native.values import Value, const, join, product

# Multiplications up to which a library takes longer to find its way, and numbers in all windows of an image.
MOST, MOST_IN_WINDOWS = 1 << 24, 1 << 21


@dataclass(frozen=True, slots=True)
class _Way:
    """How a filter goes along one axis of an image: its extent, stride, dilation, results, and cells that are added."""

    size: int
    extent: int
    stride: int
    dilation: int
    output: int
    before: int
    after: int


def _ways(
    image: Sequence[int],
    filters: Sequence[int],
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int],
    data_format: str,
    dilations: Sequence[int],
) -> list[_Way] | None:
    """The two axes of a convolution that is small enough, with channels last and one group; else None."""
    form = parse_format(data_format)
    if not form.channels_last or len(image) != 4 or len(filters) != 4 or image[3] != filters[2]:
        return None
    if strides[0] != 1 or strides[3] != 1:
        return None
    ways = []
    for axis in (1, 2):
        explicit = tuple(explicit_paddings[2 * axis : 2 * axis + 2]) or (0, 0)
        size, extent, stride, dilation = image[axis], filters[axis - 1], strides[axis], dilations[axis]
        fit = slide(size, extent, stride, padding, dilation, explicit)  # a ValueError says that nothing fits
        ways.append(_Way(size, extent, stride, dilation, *fit))
    places = image[0] * math.prod(way.output for way in ways)
    in_windows = places * math.prod(filters[:3])
    if not places or in_windows > MOST_IN_WINDOWS or in_windows * filters[3] > MOST:
        return None
    return ways


def _padded(x: Value, sides: Sequence[tuple[int, int]]) -> Value:
    """An image with zeros around it."""
    made = padded(x, np.array([(0, 0), *sides, (0, 0)]), const(0, x.dtype))
    assert made is not None
    return made


def _rows(x: Value, ways: list[_Way]) -> Value:
    """The windows of an image, one below the other."""
    windows = _padded(x, [(way.before, way.after) for way in ways]).windows(
        [way.extent for way in ways], [way.stride for way in ways], [way.dilation for way in ways]
    )
    return windows.reshape([math.prod(windows.shape[:3]), math.prod(windows.shape[3:])])


def _matrix(x: Value) -> Value:
    return x.reshape([math.prod(x.shape[:-1]), x.shape[-1]])


class How(NamedTuple):
    """The attributes of a convolution."""

    strides: Sequence[int]
    padding: str
    explicit_paddings: Sequence[int]
    data_format: str
    dilations: Sequence[int]


_Lowering = Callable[..., "Value | None"]


def _convolves(op_type: str, known: tuple[int, ...] = ()) -> Callable[[_Lowering], _Lowering]:
    """Register a function of a How and of inputs as the lowering of a convolution."""

    def register(function: _Lowering) -> _Lowering:
        @lowers(op_type, known=known)
        def lowered(
            *inputs: Value,
            strides: Sequence[int],
            padding: str,
            explicit_paddings: Sequence[int],
            data_format: str,
            dilations: Sequence[int],
        ) -> Value | None:
            return function(How(strides, padding, explicit_paddings, data_format, dilations), *inputs)

        return function

    return register


@_convolves("Conv2D")
def convolution(how: How, x: Value, filters: Value) -> Value | None:
    ways = _ways(x.shape, filters.shape, *how)
    if x.dtype.kind != "f" or ways is None:
        return None
    made = product(_rows(x, ways), _matrix(filters))
    return made.reshape([x.shape[0], *(way.output for way in ways), filters.shape[3]])


@_convolves("_Conv2DBias")
def _convolution_and_bias(how: How, x: Value, filters: Value, bias: Value) -> Value | None:
    made = convolution(how, x, filters)
    return None if made is None else made + bias


@_convolves("Conv2DBackpropFilter", known=(1,))
def _filter_gradient(how: How, x: Value, filter_sizes: np.ndarray, grad: Value) -> Value | None:
    shape = filter_sizes.tolist()
    ways = _ways(x.shape, shape, *how)
    if x.dtype.kind != "f" or ways is None or grad.shape != (x.shape[0], *(way.output for way in ways), shape[3]):
        return None
    return product(_rows(x, ways).permute([1, 0]), _matrix(grad)).reshape(shape)


@_convolves("Conv2DBackpropInput", known=(0,))
def _input_gradient(how: How, input_sizes: np.ndarray, filters: Value, grad: Value) -> Value | None:
    shape = input_sizes.tolist()
    ways = _ways(shape, filters.shape, *how)
    if grad.dtype.kind != "f" or ways is None or any(way.dilation != 1 for way in ways):
        return None
    if grad.shape != (shape[0], *(way.output for way in ways), filters.shape[3]):
        return None
    return _image_gradient(grad, filters, shape, *ways)


def _image_gradient(grad: Value, filters: Value, shape: list[int], down: _Way, across: _Way) -> Value:
    backs = _Back(down), _Back(across)
    wider = _padded(grad, [back.sides for back in backs])
    rows = []
    for i in range(down.stride):
        places = [_remainder(wider, filters, backs, (i, j)) for j in range(across.stride)]
        rows.append(join([p.reshape([*p.shape[:2], 1, p.shape[2], 1, p.shape[3]]) for p in places], 4))
    whole = join(rows, 2)
    whole = whole.reshape([shape[0], *(back.count * back.way.stride for back in backs), shape[3]])
    return whole.slice([0, *(back.skipped for back in backs), 0], shape)


class _Back:
    """The way back along one axis. Place y of the image is number y + before of the padded one, which is s q + r; result
    o reached it by tap r + s j of the filter where o = q - j.
    """

    def __init__(self, way: _Way) -> None:
        self.way = way
        self.first, last = way.before // way.stride, (way.before + way.size - 1) // way.stride  # of q
        self.count = last - self.first + 1
        self.skipped = way.before - way.stride * self.first
        most = self.taps(0)
        self.sides = max(0, most - 1 - self.first), max(0, last - way.output + 1)

    def taps(self, remainder: int) -> int:
        return max(0, -(-(self.way.extent - remainder) // self.way.stride))

    def begin(self, remainder: int) -> int:
        """Where the first window for a remainder begins in what came back, padded."""
        return self.sides[0] + self.first - self.taps(remainder) + 1


def _remainder(wider: Value, filters: Value, backs: tuple[_Back, _Back], remainders: tuple[int, int]) -> Value:
    """The gradient at places that leave these remainders."""
    taps = [back.taps(r) for back, r in zip(backs, remainders, strict=True)]
    batch, channels, results = wider.shape[0], filters.shape[2], filters.shape[3]
    counts = [back.count for back in backs]
    if 0 in taps:
        return const(0, wider.dtype).expand([batch, *counts, channels])
    begins = [back.begin(r) for back, r in zip(backs, remainders, strict=True)]
    spans = [n + t - 1 for n, t in zip(counts, taps, strict=True)]
    windows = wider.slice([0, *begins, 0], [batch, *spans, results]).windows(taps, [1, 1], [1, 1])
    strides = [back.way.stride for back in backs]
    last = [r + s * (t - 1) for r, s, t in zip(remainders, strides, taps, strict=True)]
    taken = filters.slice([*last, 0, 0], [*taps, channels, results], [*(-s for s in strides), 1, 1])
    taken = taken.permute([0, 1, 3, 2]).reshape([math.prod(taps) * results, channels])
    rows = windows.reshape([batch * math.prod(counts), math.prod(taps) * results])
    return product(rows, taken).reshape([batch, *counts, channels])
