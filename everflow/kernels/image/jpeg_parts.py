"""Parts of JPEG images: as smaller files, cut out of the data without decoding what is not needed, or what becomes of
the borders of a part of the whole image.

TensorFlow has libjpeg-turbo begin at the square ("unit") that a part's left column is in, and end at its right one.
Where colours are stored for every second column only, values between two of them are means of both, but beyond the
first and the last column of what is decoded there is nothing to take a mean with. So a part's borders may differ.
"""

from __future__ import annotations

import array
import functools
from collections.abc import Container
from typing import Any, NamedTuple

import numpy as np
import torch

from everflow.native.loops.library import Library

_CUTS = Library("jpeg_cuts", cost=2000)
# As in `native/loops/jpeg_cuts.py`, which only the compiler loads.
_ENTRIES, _PADDING = 2 * 4096 + 3 * 4 + 256, 8192
_PASSING = 0.3  # what it takes to pass a unit, of what it takes to decode it
# Columns of an image whose colours are stored by halves that get no means at all: of one that is decoded whole, and of
# a part, from the unit on that it begins in.
_NARROW, _NARROW_PART = 4, 2

_START, _END, _SCAN, _TABLES, _INTERVAL, _ADOBE, _JFIF = 0xD8, 0xD9, 0xDA, 0xC4, 0xDD, 0xEE, 0xE0
_BARE = {*range(0xC0), *range(0xD0, 0xD8)}  # markers without a segment; the first ones mean nothing
_FRAMES = {0xC0, 0xC1, 0xC2, 0xC9, 0xCA}
_OF_MANY_SCANS = {0xC2, 0xCA}
_PASSABLE = {0xC0, 0xC1}  # frames with Huffman codes, one scan
_QUANTA = 0xDB
_FIRST_NUMBERS = bytes([0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]) + bytes(range(12))


class Part(NamedTuple):
    """A window, [top, left, rows, columns], of an image that is a fraction of its stored size."""

    top: int
    left: int
    rows: int
    columns: int
    ratio: int


class Layout(NamedTuple):
    """How an image is stored: what is in a file before its data."""

    kind: int
    height: int
    width: int
    sampling: tuple[tuple[int, int], ...]  # of each colour: columns and rows of blocks in a unit
    interval: int
    coding: tuple[tuple[bytes, bytes], ...]  # of each colour: the codes of first numbers and of the others
    segments: tuple[tuple[int, bytes], ...]

    @property
    def unit(self) -> tuple[int, int]:
        """Rows and columns of a unit."""
        return 8 * max(v for _, v in self.sampling), 8 * max(h for h, _ in self.sampling)

    def has_means(self, ratio: int) -> bool:
        """Whether some columns' colours are means of two that are stored. An image of half the size has room for what
        is stored, unless it is stored for all rows.
        """
        rows, columns = self.unit
        return columns > 8 and -(-self.width // ratio) > _NARROW and (ratio == 1 or (rows == 8 and ratio < 8))


def _segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + body


def _find(data: bytes, wanted: Container[int]) -> int:
    """Where the first segment of some kind before a file's data is; 0 if there is none."""
    at, end = 2, len(data) - 10
    while at < end and data[at] == 0xFF:
        if data[at + 1] in wanted:
            return at
        at = at + 2 + (data[at + 2] << 8 | data[at + 3]) if data[at + 1] != _SCAN else end
    return 0


def is_adobes(data: bytes) -> bool:
    """Whether one of Adobe's programs made a file."""
    return _find(data, (_ADOBE,)) > 0


def is_progressive(data: bytes) -> bool:
    """Whether every scan of a file has to be read before anything is known of its image."""
    at = _find(data, _FRAMES)
    return at > 0 and data[at + 1] in _OF_MANY_SCANS


def frame(data: bytes) -> tuple[int, int, int] | None:
    """Height, width and number of colours of a file's image; None if that can't be said.

    libjpeg-turbo says it as well, but lets other threads run meanwhile, and then waits for them.
    """
    at = _find(data, _FRAMES)
    if not at:
        return None
    height, width = data[at + 5] << 8 | data[at + 6], data[at + 7] << 8 | data[at + 8]
    return (height, width, data[at + 9]) if height and width else None


@functools.lru_cache(maxsize=64)
def _layout(head: bytes) -> Layout | None:
    """None for what is never cut: what can't be read, and what is no plain image."""
    segments, at = [], 2
    while at < len(head):
        length = head[at + 2] << 8 | head[at + 3]
        segments.append((head[at + 1], head[at + 4 : at + 2 + length]))
        at += 2 + length
    frames = [(marker, body) for marker, body in segments if marker in _FRAMES]
    if at != len(head) or len(frames) != 1:
        return None
    try:
        return _read(*frames[0], tuple(segments))
    except (IndexError, KeyError):
        return None


def _read(kind: int, frame: bytes, segments: tuple[tuple[int, bytes], ...]) -> Layout | None:
    scan = segments[-1][1]
    interval, codes = 0, {}
    for marker, body in segments:
        if marker == _INTERVAL:
            interval = body[0] << 8 | body[1]
        elif marker == _TABLES:
            codes.update(_codes(body))
    count = frame[5]
    names = [frame[6 + 3 * i] for i in range(count)]
    sampling = tuple((frame[7 + 3 * i] >> 4, frame[7 + 3 * i] & 15) for i in range(count))
    height, width = frame[1] << 8 | frame[2], frame[3] << 8 | frame[4]
    usual = (
        frame[0] == 8 and count in (1, 3) and height and width and all(1 <= n <= 2 for pair in sampling for n in pair)
    )
    if not usual or (count == 1 and sampling != ((1, 1),)):
        return None
    coding: tuple[tuple[bytes, bytes], ...] = ()
    if kind in _PASSABLE:
        whole = scan[0] == count and [scan[1 + 2 * i] for i in range(count)] == names and scan[-3:] == b"\0\x3f\0"
        if not whole:
            return None
        tables = [scan[2 + 2 * i] for i in range(count)]
        coding = tuple((codes[table >> 4], codes[0x10 | table & 15]) for table in tables)
    return Layout(kind, height, width, sampling, interval, coding, segments)


def _codes(body: bytes) -> dict[int, bytes]:
    found, at = {}, 0
    while at < len(body):
        end = at + 17 + sum(body[at + 1 : at + 17])
        found[body[at]] = body[at + 1 : end]
        at = end
    return found


def layout(data: bytes) -> tuple[Layout, int] | None:
    """How a file's image is stored, and where its data begins."""
    at = _find(data, (_SCAN,))
    start = at + 2 + (data[at + 2] << 8 | data[at + 3])
    found = _layout(data[:start]) if at else None
    return None if found is None else (found, start)


@functools.lru_cache(maxsize=64)
def _table(codes: bytes, others: int) -> torch.Tensor | None:
    """What compiled loops read codes by; None where they are none."""
    table = torch.zeros(_ENTRIES, dtype=torch.int32)
    given = torch.tensor(list(codes.ljust(16 + 256, b"\0")), dtype=torch.uint8)
    is_read = _CUTS.code.fill(given.data_ptr(), given.data_ptr() + 16, others, table.data_ptr()) == 0
    return table if is_read else None


class _Cutter(NamedTuple):
    """What cutting needs to know of a layout: of each block of a unit its colour and its tables' addresses; the tables;
    the smaller file up to its size, and from there to its data, which has the usual codes for first numbers.
    """

    blocks: list[int]
    tables: list[torch.Tensor]
    head: bytes
    middle: bytes


@functools.lru_cache(maxsize=64)
def _cutter(stored: Layout) -> _Cutter | None:
    blocks, tables = [], []
    for color, (codes, (h, v)) in enumerate(zip(stored.coding, stored.sampling)):
        first, others = _table(codes[0], 0), _table(codes[1], 1)
        if first is None or others is None:
            return None
        tables += [first, others]
        blocks += [color, first.data_ptr(), others.data_ptr()] * (h * v)
    made, size = bytearray([0xFF, _START]), 0
    for marker, body in stored.segments:
        if marker in _FRAMES:
            size = len(made) + 5
        elif marker == _SCAN:
            made += b"".join(_segment(_TABLES, bytes([place]) + _FIRST_NUMBERS) for place in range(4))
        elif marker not in (_QUANTA, _TABLES, _ADOBE, _JFIF):
            continue
        made += _segment(marker, body)
    return _Cutter(blocks, tables, bytes(made[:size]), bytes(made[size + 4 :]))


def cut(data: bytes, part: Part, is_only_way: bool = False) -> tuple[bytes, int, int] | None:
    """A part as a file of its own, and which row and column of that it begins with; None where the whole image is to be
    decoded: that is quicker, or there is something that only this can show.

    `is_only_way`: the whole image can't be decoded.
    """
    found = layout(data)
    if found is None or found[0].kind not in _PASSABLE:
        return None
    stored, start = found
    unit_rows, unit_columns = stored.unit
    rows, columns = unit_rows // part.ratio, unit_columns // part.ratio
    height, width = -(-stored.height // part.ratio), -(-stored.width // part.ratio)
    across, down = -(-stored.width // unit_columns), -(-stored.height // unit_rows)
    bottom, right = part.top + part.rows, part.left + part.columns
    if not (0 <= part.top < bottom <= height and 0 <= part.left < right <= width):
        return None
    more = 2 if unit_rows > 8 else 0  # rows that the means of colours are taken with
    first, last = max(0, part.top - more) // rows, min(down - 1, (bottom - 1 + more) // rows)
    before, behind = part.left // columns, (right - 1) // columns
    if stored.has_means(part.ratio) and _NARROW_PART < right - before * columns <= _NARROW:
        return None
    is_quick = _PASSING * (last + 1) * across + (last + 1 - first) * (behind + 1 - before) < across * down
    code = _CUTS.at_once() if is_only_way else _CUTS.ready(1) if is_quick else None
    if code is None:
        return None
    cutter = _cutter(stored)
    made = cutter and _data(code, cutter, data, start, (across, first, last, before, behind, stored.interval))
    if not cutter or made is None:
        return None
    high = stored.height - first * unit_rows if last == down - 1 else (last + 1 - first) * unit_rows
    wide = stored.width - before * unit_columns if right == width else (right - before * columns) * part.ratio
    size = (high << 16 | wide).to_bytes(4, "big")
    file = b"".join([cutter.head, size, cutter.middle, made, b"\xff\xd9"])
    return file, part.top - first * rows, part.left - before * columns


def _data(code: Any, cutter: _Cutter, data: bytes, start: int, units: tuple[int, ...]) -> memoryview | None:
    """A part's data; None where there is something wrong with the image's."""
    across, first, last, before, behind, interval = units
    blocks = len(cutter.blocks) // 3
    begun = across * (last + 1) // interval if interval else 0
    kept = (last + 1 - first) * (behind + 1 - before) * blocks
    size = len(data) - start
    what = array.array("q", [*units, blocks, *cutter.blocks, *([0] * begun)])
    place, count = what.buffer_info()
    room = torch.empty(3 * size + 6 * kept + _PADDING + 80, dtype=torch.uint8)
    out = size + _PADDING + 16
    where = id(data) + bytes.__basicsize__ - 1 + start
    address = room.data_ptr()
    count = code.free.cut(where, size, place, address, place + 8 * (count - begun), begun, address + out)
    return None if count < 0 else room.numpy().data[out : out + count]


# --- files that end early


def has_end(data: bytes) -> bool:
    """Whether the segments after a file's data lead to its end, as they are read once all rows are there."""
    at = _find(data, (_SCAN,))
    while at:
        marker = data[at + 1]
        if marker == _END:
            return True
        if marker not in _BARE:
            at += data[at + 2] << 8 | data[at + 3] if at + 3 < len(data) else len(data)
        at += 2
        while at + 1 < len(data) and (data[at] != 0xFF or data[at + 1] in (0, 0xFF)):
            at += 1
        at = at if at + 1 < len(data) else 0
    return False


def whole_rows(data: bytes, ratio: int) -> int:
    """How many rows of a file's image come before its data ends, which is before the last unit's; 0 if that can't be
    said.
    """
    found = layout(data)
    if found is None or found[0].kind not in _PASSABLE:
        return 0
    stored = found[0]
    unit_rows, width = stored.unit[0] // ratio, -(-stored.width // ratio)
    more = 2 if stored.unit[0] > 8 else 0
    for units in range(-(-stored.height // stored.unit[0]) - 1, 0, -1):
        rows = units * unit_rows - more
        if cut(data, Part(0, 0, rows, width, ratio), is_only_way=True) is not None:
            return rows
    return 0


# --- a part of the whole image


def is_narrow(stored: Layout, part: Part) -> bool:
    """Whether a part's colours get no means."""
    columns = stored.unit[1] // part.ratio
    return stored.has_means(part.ratio) and part.left % columns + part.columns <= _NARROW_PART


def seams(stored: Layout, part: Part) -> list[tuple[int, int]]:
    """Columns of an image that differ in a part of it: which, and what is added before a sum of sixteen is divided."""
    columns, right = stored.unit[1] // part.ratio, part.left + part.columns
    if not stored.has_means(part.ratio):
        return []
    found = [(part.left, 8)] if part.left and part.left % columns == 0 else []
    return found + ([(right - 1, 7)] if right < -(-stored.width // part.ratio) and right % 2 == 0 else [])


def colors(data: bytes, stored: Layout, start: int) -> bytes:
    """A file whose brightness and colours come out as they are stored, without becoming red, green and blue."""
    made = bytearray([0xFF, _START]) + _segment(_ADOBE, b"Adobe\0\x64\0\0\0\0\0")
    for marker, body in stored.segments:
        if marker not in (_ADOBE, _JFIF):
            made += _segment(marker, body)
    return bytes(made) + data[start:]


def mended(stored: Layout, planes: np.ndarray, part: Part, column: int, more: int) -> np.ndarray:
    """A column at a part's border as red, green and blue, of an image's stored values, those of colours repeated."""
    rows = np.arange(part.top, part.top + part.rows)
    stored_colors = planes[rows, column, 1:].astype(np.int64)
    if stored.unit[0] > 8:  # three parts of the row's own colours and one of the row's that is nearer
        nearer = np.clip(rows + np.where(rows % 2, 1, -1), 0, stored.height - 1)
        stored_colors = (4 * (3 * stored_colors + planes[nearer, column, 1:]) + more) >> 4
    blue, red = (stored_colors - 128).T
    change = [
        (_fixed(1.402) * red + _HALF) >> 16,
        (-_fixed(0.34414) * blue - _fixed(0.71414) * red + _HALF) >> 16,
        (_fixed(1.772) * blue + _HALF) >> 16,
    ]
    return np.clip(planes[rows, column, :1] + np.stack(change, -1), 0, 255).astype(np.uint8)


_HALF = 1 << 15


def _fixed(x: float) -> int:
    """Sixteen bits after the point."""
    return int(x * (1 << 16) + 0.5)
