"""Images resized: each output row is put together from rows of the input, each output column from columns of these.

Tables say which: for each row, or each column and channel, the places in the input and their weights. Products and sums
are taken one by one in the order of TensorFlow, so that pixels agree to the last bit.
"""

from __future__ import annotations

from everflow.native.loops.words import F32, I64, P8, P32, P64, PF32


def row_of(images: P8, floating: I64, at: I64, count: I64, room: PF32) -> PF32:
    """So many pixels from a place on, as floats; bytes are converted into the room."""
    if floating == 1:
        return PF32(images) + at
    for i in range(count):
        room[i] = F32(images[at + i])
    return room


def blend_columns(row: PF32, low: P32, high: P32, weights: PF32, count: I64, out: PF32) -> None:
    for k in range(count):
        left = row[low[k]]
        out[k] = left + (row[high[k]] - left) * weights[k]


def blend_rows(top: PF32, bottom: PF32, weight: F32, count: I64, out: PF32) -> None:
    for k in range(count):
        out[k] = top[k] + (bottom[k] - top[k]) * weight


def bilinear(
    images: P8,
    floating: I64,
    batch: I64,
    height: I64,
    width: I64,
    out_height: I64,
    out_width: I64,
    row_places: P32,
    row_weights: PF32,
    column_places: P32,
    column_weights: PF32,
    room: PF32,
    out: PF32,
) -> None:
    """Widths count channels too. Of places the lower ones come first, then the upper ones. The room is for a row of the
    input and two of the output.
    """
    upper = column_places + out_width
    first = room + width
    second = first + out_width
    for b in range(batch):
        base = b * height * width
        held = -1  # the input's row that `first` has, and the one that `second` has
        next = -1
        for y in range(out_height):
            low = row_places[y]
            high = row_places[out_height + y]
            if low != held:
                if low == next:
                    swapped = first
                    first = second
                    second = swapped
                    next = held
                else:
                    row = row_of(images, floating, base + low * width, width, room)
                    blend_columns(row, column_places, upper, column_weights, out_width, first)
                held = low
            if high != next:
                row = row_of(images, floating, base + high * width, width, room)
                blend_columns(row, column_places, upper, column_weights, out_width, second)
                next = high
            blend_rows(first, second, row_weights[y], out_width, out + (b * out_height + y) * out_width)


def weigh_rows(
    images: P8, floating: I64, at: I64, width: I64, places: P32, step: I64, weights: PF32, out: PF32
) -> None:
    """Four rows with a weight each, `step` places and weights apart."""
    w0 = weights[0]
    w1 = weights[step]
    w2 = weights[2 * step]
    w3 = weights[3 * step]
    if floating == 1:
        base = PF32(images) + at
        p0 = base + places[0] * width
        p1 = base + places[step] * width
        p2 = base + places[2 * step] * width
        p3 = base + places[3 * step] * width
        for i in range(width):
            out[i] = p0[i] * w0 + p1[i] * w1 + p2[i] * w2 + p3[i] * w3
    else:
        start = images + at
        b0 = start + places[0] * width
        b1 = start + places[step] * width
        b2 = start + places[2 * step] * width
        b3 = start + places[3 * step] * width
        for i in range(width):
            out[i] = F32(b0[i]) * w0 + F32(b1[i]) * w1 + F32(b2[i]) * w2 + F32(b3[i]) * w3


def weigh_columns(row: PF32, places: P32, step: I64, weights: PF32, out: PF32) -> None:
    """Four columns with a weight each, for each of `step` results."""
    for k in range(step):
        first = row[places[k]] * weights[k] + row[places[step + k]] * weights[step + k]
        out[k] = (
            first
            + row[places[2 * step + k]] * weights[2 * step + k]
            + row[places[3 * step + k]] * weights[3 * step + k]
        )


def bicubic(
    images: P8,
    floating: I64,
    batch: I64,
    height: I64,
    width: I64,
    out_height: I64,
    out_width: I64,
    row_places: P32,
    row_weights: PF32,
    column_places: P32,
    column_weights: PF32,
    room: PF32,
    out: PF32,
) -> None:
    """As `bilinear`, with four places and weights for each row and column: all first ones, all second ones, ..."""
    for b in range(batch):
        for y in range(out_height):
            weigh_rows(images, floating, b * height * width, width, row_places + y, out_height, row_weights + y, room)
            weigh_columns(room, column_places, out_width, column_weights, out + (b * out_height + y) * out_width)


def sum_columns(row: PF32, places: P32, taps: I64, count: I64, weights: PF32, out: PF32) -> None:
    """So many columns with a weight each, for each of `count` results."""
    for k in range(count):
        out[k] = 0.0 + row[places[k]] * weights[k]
    for t in range(1, taps):
        for k in range(count):
            out[k] = out[k] + row[places[t * count + k]] * weights[t * count + k]


def area(
    images: P8,
    floating: I64,
    batch: I64,
    height: I64,
    width: I64,
    out_height: I64,
    out_width: I64,
    row_places: P32,
    row_weights: PF32,
    column_places: P32,
    column_weights: PF32,
    room: PF32,
    out: PF32,
    row_taps: I64,
    column_taps: I64,
    scale: F32,
) -> None:
    """As `bicubic`, with so many places for each row and column; sums are multiplied by a scale."""
    sums = room + width
    held = -1  # the row whose sums are there: the last of one result's is often the first of the next one's
    for b in range(batch):
        for y in range(out_height):
            to = out + (b * out_height + y) * out_width
            for k in range(out_width):
                to[k] = 0.0
            for t in range(row_taps):
                weight = row_weights[t * out_height + y]
                if t > 0 and weight == 0.0:
                    continue  # rows with fewer places than others
                place = (b * height + row_places[t * out_height + y]) * width
                if place != held:
                    row = row_of(images, floating, place, width, room)
                    sum_columns(row, column_places, column_taps, out_width, column_weights, sums)
                    held = place
                for k in range(out_width):
                    to[k] = to[k] + sums[k] * weight
            for k in range(out_width):
                to[k] = to[k] * scale


def between_four(upper: PF32, lower: PF32, right: I64, along: F32, down: F32, channels: I64, out: PF32) -> None:
    """A pixel between the two that begin at places and those so much to the right of them."""
    for c in range(channels):
        above = upper[c] + (upper[right + c] - upper[c]) * along
        below = lower[c] + (lower[right + c] - lower[c]) * along
        out[c] = above + (below - above) * down


def between_four_bytes(upper: P8, lower: P8, right: I64, along: F32, down: F32, channels: I64, out: PF32) -> None:
    for c in range(channels):
        a = F32(upper[c])
        b = F32(lower[c])
        above = a + (F32(upper[right + c]) - a) * along
        below = b + (F32(lower[right + c]) - b) * along
        out[c] = above + (below - above) * down


def crops(
    images: P8,
    floating: I64,
    height: I64,
    width: I64,
    channels: I64,
    boxes: I64,
    which: P32,
    crop_height: I64,
    crop_width: I64,
    rows: P64,
    row_parts: PF32,
    columns: P64,
    column_parts: PF32,
    outside: F32,
    out: PF32,
) -> None:
    """Pieces of images, each pixel between four. For each row of each box the lower and the upper place (-1 where it is
    outside of the image), first all lower ones, then all upper ones, and how far it is from the lower; as for columns.
    """
    for n in range(boxes):
        base = which[n] * height * width * channels
        for y in range(crop_height):
            top = rows[n * crop_height + y]
            upper = base + top * width * channels
            lower = base + rows[(boxes + n) * crop_height + y] * width * channels
            down = row_parts[n * crop_height + y]
            to = out + (n * crop_height + y) * crop_width * channels
            for x in range(crop_width):
                left = columns[n * crop_width + x] * channels
                right = columns[(boxes + n) * crop_width + x] * channels - left
                along = column_parts[n * crop_width + x]
                place = to + x * channels
                if top < 0 or left < 0:
                    for c in range(channels):
                        place[c] = outside
                elif floating == 1:
                    at = PF32(images) + left
                    between_four(at + upper, at + lower, right, along, down, channels, place)
                else:
                    start = images + left
                    between_four_bytes(start + upper, start + lower, right, along, down, channels, place)


EXPORTED = [bilinear, bicubic, area, crops]
