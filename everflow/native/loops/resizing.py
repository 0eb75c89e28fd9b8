"""Images resized: each output row is put together from rows of the input, each output column from columns of these.

Tables say which: for each row, or each column and channel, the places in the input and their weights. Products and sums
are taken one by one in the order of TensorFlow, so that pixels agree to the last bit.
"""

from __future__ import annotations

from everflow.native.loops.words import F32, I64, P8, P32, P64, PF32, stack


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


def position(low: F32, high: F32, edge: I64, size: I64, at: I64) -> F32:
    """Where one of `size` places between two parts of an axis lies on it."""
    if size > 1:
        step = (high - low) * F32(edge) / F32(size - 1)
        return low * F32(edge) + F32(at) * step
    return (low + high) * 0.5 * F32(edge)


def is_on(at: F32, edge: I64) -> I64:
    return I64(at >= 0.0 and at <= F32(edge))


def columns_of(
    box: PF32, edge: I64, crop_width: I64, channels: I64, low: P32, high: P32, weights: PF32, span: P64
) -> None:
    """Places and weights of a box's columns that are on the image, and which those are: one after the other."""
    first = crop_width
    end = 0
    for x in range(crop_width):
        at = position(box[1], box[3], edge, crop_width, x)
        if is_on(at, edge) == 1:
            first = x if x < first else first
            end = x + 1
            left = I64(at)
            right = left + I64(F32(left) < at)
            for c in range(channels):
                low[x * channels + c] = left * channels + c
                high[x * channels + c] = right * channels + c
                weights[x * channels + c] = at - F32(left)
    span[0] = first * channels
    span[1] = (end if end > first else first) * channels


def fill(out: PF32, start: I64, end: I64, value: F32) -> None:
    for k in range(start, end):
        out[k] = value


def crops(
    images: P8,
    floating: I64,
    height: I64,
    width: I64,
    channels: I64,
    boxes: PF32,
    count: I64,
    which: P32,
    crop_height: I64,
    crop_width: I64,
    outside: F32,
    room: PF32,
    out: PF32,
) -> None:
    """Parts of images, each pixel between four. Boxes are (top, left, bottom, right) as parts of the image. The room is
    for a row of the input and five of the output.
    """
    wide = crop_width * channels
    above = room + width * channels
    below = above + wide
    weights = below + wide
    low = P32(weights + wide)
    high = low + wide
    span = P64(stack(16))
    for n in range(count):
        box = boxes + 4 * n
        columns_of(box, width - 1, crop_width, channels, low, high, weights, span)
        start = span[0]
        size = span[1] - start
        held = -1  # the input's row that `above` has, and the one that `below` has
        next = -1
        for y in range(crop_height):
            to = out + (n * crop_height + y) * wide
            at = position(box[0], box[2], height - 1, crop_height, y)
            if is_on(at, height - 1) == 0 or size == 0:
                fill(to, 0, wide, outside)
                continue
            upper = I64(at)
            lower = upper + I64(F32(upper) < at)
            base = which[n] * height
            if upper != held:
                if upper == next:
                    swapped = above
                    above = below
                    below = swapped
                    next = held
                else:
                    row = row_of(images, floating, (base + upper) * width * channels, width * channels, room)
                    blend_columns(row, low + start, high + start, weights + start, size, above)
                held = upper
            if lower != next:
                row = row_of(images, floating, (base + lower) * width * channels, width * channels, room)
                blend_columns(row, low + start, high + start, weights + start, size, below)
                next = lower
            fill(to, 0, start, outside)
            blend_rows(above, below, at - F32(upper), size, to + start)
            fill(to, start + size, wide, outside)


EXPORTED = [bilinear, bicubic, area, crops]
