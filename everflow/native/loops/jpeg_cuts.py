"""What a window needs of a JPEG file's data, as the data of a smaller file.

An image is squares ("units") in rows, each of some blocks of 64 numbers in Huffman codes: the first by how it differs
from that of the block before, the others each after a run of zeros. Nobody knows where a unit begins before all codes
in front of it were read; but to pass them takes no more than their lengths, and a table by the next bits has those of
several codes at once. Units in the window are copied bit by bit, but for first numbers: what comes before has changed.
"""

from __future__ import annotations

from everflow.native.loops.objects import OTHER
from everflow.native.loops.words import I64, P8, P32, P64, PP, PU64, U64, leading_zeros, stack, swapped

BITS = 12  # that tables are looked up by: those for both kinds of blocks stay in the first cache
ROWS = 1 << BITS
# A table: of the next bits the first code; all codes that are whole in them; by length of longer codes the first, how
# many, and where their symbols are; the symbols. A code is its length, bits after it << 5, numbers << 10, end << 16;
# several are all bits, numbers that there must be room for << 6, numbers that are done after them << 13 (64 after an
# end). 0: there is no such code.
_LONGEST = 16
_SEVERAL, _LONG, _SYMBOLS = ROWS, 2 * ROWS, 2 * ROWS + 3 * (_LONGEST - BITS)
ENTRIES = _SYMBOLS + 256
_END, _ALL = 1 << 16, 64

# What is read and written: the next bits, first bit on top, and how many; the byte after them; the same of the output.
_NEXT, _HAVE, _AT, _LAST, _WAITING, _TO = 0, 1, 2, 3, 4, 5
_STATE = 8 * 6
# What to cut: rows of units, of those the first and the last, the same of columns; after how many units all begins anew
# (0: never); blocks of a unit. Then of each block: its colour, the tables for its first number and for the others.
ACROSS, TOP, BOTTOM, LEFT, RIGHT, INTERVAL, BLOCKS, EACH = 0, 1, 2, 3, 4, 5, 6, 7
PADDING = 8192  # zeros after the data: more than the codes of a unit take
_COLORS = 4

# Codes of first numbers in what is written, by how many bits they have: lengths and codes.
FIRST_LENGTHS = (2, 3, 3, 3, 3, 3, 4, 5, 6, 7, 8, 9)
_FIRST_CODES = (0, 2, 3, 4, 5, 6, 14, 30, 62, 126, 254, 510)


def entry(symbol: I64, length: I64, others: I64) -> I64:
    """A code by what it stands for; `others`: than first numbers."""
    bits = symbol & 15
    if others == 0:
        return length | bits << 5 if symbol < 12 else 0
    if bits > 10:
        return 0
    if bits > 0:
        return length | bits << 5 | ((symbol >> 4) + 1) << 10
    if symbol == 0:
        return length | _END
    return length | 16 << 10 if symbol == 240 else 0  # sixteen zeros; there are no others without bits


def fill(counts: P8, symbols: P8, others: I64, table: P32) -> I64:
    """A table by how many codes of each length there are, and their symbols."""
    code = 0
    done = 0
    for length in range(1, _LONGEST + 1):
        count = counts[length - 1]
        if code + count > 1 << length or done + count > 256:
            return OTHER
        if length > BITS:
            where = _LONG + 3 * (length - BITS - 1)
            table[where] = code
            table[where + 1] = count
            table[where + 2] = done
        for i in range(count):
            table[_SYMBOLS + done + i] = symbols[done + i]
            if length <= BITS:
                made = entry(symbols[done + i], length, others)
                start = (code + i) << (BITS - length)
                for at in range(start, start + (1 << (BITS - length))):
                    table[at] = made
        code = (code + count) << 1
        done += count
    if others == 1:
        for at in range(ROWS):
            table[_SEVERAL + at] = several(at, table)
    return 0


def several(word: I64, table: P32) -> I64:
    """The codes that are whole in some bits, up to the one that ends a block, as one."""
    used = 0
    numbers = 0
    while used < BITS:
        found = table[(word << used) & (ROWS - 1)]
        if found == 0 or used + (found & 31) > BITS:
            break
        used += (found & 31) + (found >> 5 & 31)
        if found & _END != 0:  # no code says that there are none where none can be
            return used | (numbers + 1) << 6 | _ALL << 13
        numbers += found >> 10 & 31
    return used | numbers << 6 | numbers << 13


def long_code(bits: U64, table: P32, others: I64) -> I64:
    """The first code of some bits, one that is longer than those by which tables are looked up."""
    for length in range(BITS + 1, _LONGEST + 1):
        where = _LONG + 3 * (length - BITS - 1)
        code = I64(bits >> U64(64 - length)) - table[where]
        if 0 <= code and code < table[where + 1]:
            return entry(table[_SYMBOLS + table[where + 2] + code], length, others)
    return 0


def put(state: PU64, out: P8, bits: U64, count: I64) -> None:
    """Write up to 31 bits. A byte of ones is followed by a zero, so that nobody takes it for a marker."""
    last = state[_LAST] << U64(count) | bits
    waiting = I64(state[_WAITING]) + count
    while waiting >= 8:
        waiting -= 8
        to = I64(state[_TO])
        byte = I64(last >> U64(waiting)) & 255
        out[to] = byte
        out[to + 1] = 0
        state[_TO] = U64(to + 2 if byte == 255 else to + 1)
    state[_LAST] = last
    state[_WAITING] = U64(waiting)


def put_first(state: PU64, out: P8, value: I64) -> I64:
    """Write by how much a first number differs from the one before."""
    size = 64 - leading_zeros(U64(value if value >= 0 else -value))
    if size > 11:
        return OTHER
    low = value if value >= 0 else value + (1 << size) - 1
    put(state, out, U64(_FIRST_CODES[size] << size | low), FIRST_LENGTHS[size] + size)
    return 0


def first_number(state: PU64, data: P8, table: P32) -> I64:
    """By how much a block's first number differs from the one before; a large one if there is no such code."""
    have = I64(state[_HAVE])
    at = I64(state[_AT])
    word = state[_NEXT] | swapped(PU64(data + at)[0]) >> U64(have)
    at += (63 - have) >> 3
    have |= 56
    found = table[I64(word >> U64(64 - BITS))]
    if found == 0:
        found = long_code(word, table, 0)
    if found == 0:
        return 1 << 40
    length = found & 31
    size = found >> 5 & 31
    value = 0
    if size > 0:
        value = I64(word << U64(length) >> U64(64 - size))
        if value >> (size - 1) == 0:
            value += 1 - (1 << size)
    state[_NEXT] = word << U64(length + size)
    state[_HAVE] = U64(have - length - size)
    state[_AT] = U64(at)
    return value


def other_numbers(state: PU64, data: P8, table: P32, out: P8, keeps: I64) -> I64:
    """Pass, or copy, the codes of a block after its first number."""
    have = I64(state[_HAVE])
    at = I64(state[_AT])
    word = state[_NEXT]
    done = 0
    while done < 63:
        found = table[_SEVERAL + I64(word >> U64(64 - BITS))]
        word |= swapped(PU64(data + at)[0]) >> U64(have)
        at += (63 - have) >> 3
        have |= 56
        if found == 0 or done + (found >> 6 & 127) > 63:  # what comes after the last number is another block's
            found = table[I64(word >> U64(64 - BITS))]
            if found == 0:
                found = long_code(word, table, 1)
            if found == 0:
                return OTHER
            numbers = _ALL if found & _END != 0 else found >> 10 & 31
            if numbers < _ALL and done + numbers > 63:
                return OTHER
            found = (found & 31) + (found >> 5 & 31) | numbers << 13
        used = found & 63
        if keeps == 1:
            put(state, out, word >> U64(64 - used), used)
        word = word << U64(used)
        have -= used
        done += found >> 13
    state[_NEXT] = word
    state[_HAVE] = U64(have)
    state[_AT] = U64(at)
    return 0


def plain(data: P8, count: I64, to: P8, starts: P64, most: I64) -> I64:
    """Data without the zeros after bytes of ones, up to its end or a marker; `starts`: what comes after the markers
    where all begins anew, as far as they are wanted. Gives how many bytes those are.
    """
    at = 0
    n = 0
    found = 0
    while at < count:
        if at + 8 <= count:
            word = PU64(data + at)[0]
            PU64(to + n)[0] = word
            full = (~word - 0x0101010101010101) & word & 0x8080808080808080
            if full == 0:
                at += 8
                n += 8
                continue
            before = (63 - leading_zeros(full & -full)) >> 3
            at += before
            n += before
        if data[at] != 255:
            to[n] = data[at]
            n += 1
            at += 1
            continue
        after = data[at + 1] if at + 1 < count else 217
        if after == 0:
            to[n] = 255
            n += 1
        elif 208 <= after and after <= 215 and found < most:
            starts[found] = n
            found += 1
        else:
            break
        at += 2
    for i in range(PADDING):
        to[n + i] = 0
    while found < most:
        starts[found] = -1
        found += 1
    return n


def begin_anew(state: PU64, start: I64, before: P64) -> I64:
    """Go to the next byte, which must be where the marker was; differences count from zero."""
    if (I64(state[_AT]) * 8 - I64(state[_HAVE]) + 7) >> 3 != start:
        return OTHER
    state[_NEXT] = 0
    state[_HAVE] = 0
    state[_AT] = U64(start)
    for i in range(_COLORS):
        before[i] = 0
    return 0


def unit(state: PU64, data: P8, what: P64, before: P64, written: P64, out: P8, keeps: I64) -> I64:
    """Pass or copy one unit."""
    for i in range(what[BLOCKS]):
        block = what + (EACH + 3 * i)
        color = block[0]
        change = first_number(state, data, P32(PP(block)[1]))
        if change >= 1 << 40:
            return OTHER
        before[color] = before[color] + change
        if keeps == 1:
            if put_first(state, out, before[color] - written[color]) != 0:
                return OTHER
            written[color] = before[color]
        if other_numbers(state, data, P32(PP(block)[2]), out, keeps) != 0:
            return OTHER
    return 0


def cut(data: P8, count: I64, what: P64, room: P8, starts: P64, most: I64, out: P8) -> I64:
    """Write the data of a window; gives how many bytes. OTHER: there is something wrong with what was read."""
    end = plain(data, count, room, starts, most)
    state = PU64(stack(_STATE))
    before = P64(stack(8 * _COLORS))
    written = P64(stack(8 * _COLORS))
    for i in range(6):
        state[i] = 0
    for i in range(_COLORS):
        before[i] = 0
        written[i] = 0
    interval = what[INTERVAL]
    left = interval
    begun = 0
    for row in range(what[BOTTOM] + 1):
        for column in range(what[ACROSS]):
            if interval > 0:
                if left == 0:
                    if begun == most or begin_anew(state, starts[begun], before) != 0:
                        return OTHER
                    begun += 1
                    left = interval
                left -= 1
            keeps = I64(row >= what[TOP] and column >= what[LEFT] and column <= what[RIGHT])
            if unit(state, room, what, before, written, out, keeps) != 0:
                return OTHER
            if I64(state[_AT]) * 8 - I64(state[_HAVE]) > end * 8:
                return OTHER
    put(state, out, U64(127), 7)
    return I64(state[_TO])


EXPORTED = [fill, cut]
