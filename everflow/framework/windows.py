"""Where sliding windows land: output sizes and paddings of convolutions and pools, for shape rules and kernels alike."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple


class Window(NamedTuple):
    """One spatial dimension: how many windows fit, and how many cells are added before and after."""

    output: int
    before: int
    after: int


def slide(
    size: int,
    window: int,
    stride: int,
    padding: str,
    dilation: int = 1,
    explicit: Sequence[int] = (0, 0),
) -> Window:
    """Slide a window over `size` cells.

    >>> slide(5, 3, 2, "SAME")
    Window(output=3, before=1, after=1)
    """
    if stride <= 0:
        raise ValueError(f"Stride must be > 0, but got {stride}")
    extent = (window - 1) * dilation + 1
    if padding == "SAME":
        output = -(-size // stride)
        total = max((output - 1) * stride + extent - size, 0)
        return Window(output, total // 2, total - total // 2)
    before, after = explicit if padding == "EXPLICIT" else (0, 0)
    output = (size + before + after - extent + stride) // stride
    if output < 0:
        raise ValueError(
            f"Computed output size would be negative: {output} [input_size: {size}, effective_filter_size: {extent}, stride: {stride}]"
        )
    return Window(output, before, after)


class Format(NamedTuple):
    """A data format of `spatial` dimensions: where the channels are."""

    channels_last: bool
    spatial: int

    @property
    def channel_axis(self) -> int:
        return self.spatial + 1 if self.channels_last else 1

    @property
    def spatial_axes(self) -> range:
        return range(1, self.spatial + 1) if self.channels_last else range(2, self.spatial + 2)

    def spatial_of(self, values: Sequence) -> tuple:
        """The entries of the spatial dimensions among one entry per dimension."""
        return tuple(values[axis] for axis in self.spatial_axes)

    def arrange(self, batch: Any, spatial: Sequence, channels: Any) -> list:
        """One entry per dimension in this format's order."""
        return [batch, *spatial, channels] if self.channels_last else [batch, channels, *spatial]


@cache
def parse_format(data_format: str) -> Format:
    """`"NHWC"` and its like as a Format.

    >>> parse_format("NCDHW").spatial_axes
    range(2, 5)
    """
    return Format(data_format.endswith("C"), len(data_format) - 2)
