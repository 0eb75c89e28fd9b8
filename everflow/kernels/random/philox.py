"""Philox4x32-10, the counter-based generator behind every random op, and the reserving stream that an op keeps in a
session.

A block is four 32-bit words, a function of a 64-bit key and a 128-bit counter alone, so any stretch of a stream can be
made independently: long outputs are made in cache-sized chunks by several threads.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
import torch

from everflow.framework.forking import renewed
from everflow.kernels.teams import work_alone
from everflow.native import streams

_MASK32 = (1 << 32) - 1
_MASK64 = (1 << 64) - 1
_MASK128 = (1 << 128) - 1
_MULTIPLIERS = np.array([[0xD2511F53], [0xCD9E8D57]], np.uint64)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_SHIFT = np.uint64(32)
_LOW = np.uint64(_MASK32)
_ROUNDS = 10
# Up to this many blocks plain integers are faster than array operations.
_FEW = 4
# Blocks made at once: few enough for the working set to stay near the core, enough that threads seldom wait for the
# interpreter.
CHUNK = 1 << 15
# For so many runs are blocks made at once, where each needs no more than so many of them.
_RUNS_AHEAD, _MOST_AHEAD = 16, 1 << 11


@lru_cache(maxsize=1024)
def _round_keys(key: int) -> list[np.ndarray]:
    k0, k1 = key & _MASK32, key >> 32
    return [
        np.array([[(k0 + r * _WEYL[0]) & _MASK32], [(k1 + r * _WEYL[1]) & _MASK32]], np.uint64) for r in range(_ROUNDS)
    ]


def scramble(even: np.ndarray, odd: np.ndarray, key: int) -> tuple[np.ndarray, np.ndarray]:
    """The blocks of the given counters: rows of `even` are counter words 0 and 2, of `odd` words 1 and 3, all in
    uint64; overwrites both.

    Returns (words 0 and 2, words 1 and 3).
    """
    product = np.empty_like(even)
    for round_key in _round_keys(key):
        # Each half multiplies into the other: high words are mixed in, low words move over.
        np.multiply(even, _MULTIPLIERS, out=product)
        np.right_shift(product[::-1], _SHIFT, out=even)
        np.bitwise_xor(even, odd, out=even)
        np.bitwise_xor(even, round_key, out=even)
        np.bitwise_and(product[::-1], _LOW, out=odd)
    return even, odd


def _block(counter: int, key: int) -> tuple[int, int, int, int]:
    """One block, in plain integers."""
    c0, c1, c2, c3 = counter & _MASK32, counter >> 32 & _MASK32, counter >> 64 & _MASK32, counter >> 96
    k0, k1 = key & _MASK32, key >> 32
    for _ in range(_ROUNDS):
        first, second = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = second >> 32 ^ c1 ^ k0, second & _MASK32, first >> 32 ^ c3 ^ k1, first & _MASK32
        k0, k1 = k0 + _WEYL[0] & _MASK32, k1 + _WEYL[1] & _MASK32
    return c0, c1, c2, c3


def _consecutive(counter: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """`count` counters from `counter` on, in the two-row form of `scramble`."""
    low, high = counter & _MASK64, counter >> 64
    lows = np.arange(count, dtype=np.uint64) + np.uint64(low)
    even = np.empty((2, count), np.uint64)
    odd = np.empty((2, count), np.uint64)
    np.bitwise_and(lows, _LOW, out=even[0])
    np.right_shift(lows, _SHIFT, out=odd[0])
    even[1], odd[1] = high & _MASK32, high >> 32
    if low + count > _MASK64:  # the lower half runs over into the upper one
        carried = low + count - 1 - _MASK64
        high = (high + 1) & _MASK64
        even[1, count - carried :], odd[1, count - carried :] = high & _MASK32, high >> 32
    return even, odd


class Philox:
    """A place in a stream: a 64-bit key and a 128-bit counter. `ready`: its first blocks, where they were made before."""

    __slots__ = ("key", "counter", "_ready")

    def __init__(self, key: int, counter: int, ready: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        self.key = key & _MASK64
        self.counter = counter & _MASK128
        self._ready = ready

    @classmethod
    def from_seeds(cls, seed: int, seed2: int) -> Philox:
        """The start of the stream of an op with these seed attributes; a fresh random one where both are zero."""
        if seed == 0 and seed2 == 0:
            seed, seed2 = secrets.randbits(64), secrets.randbits(64)
        return cls(seed & _MASK64, (seed2 & _MASK64) << 64)

    @classmethod
    def from_stateless_seed(cls, seed: int, seed2: int) -> Philox:
        """The stream of a stateless op: both seeds are mixed, so that neighbouring ones give unrelated streams."""
        counter = (seed & _MASK64) | ((seed2 & _MASK64) << 64)
        mix = _block(counter, 0x02461E293EC8F720)
        return cls(mix[0] | mix[1] << 32, (mix[2] | mix[3] << 32) << 64)

    def skipped(self, blocks: int) -> Philox:
        """The place that many blocks further on."""
        return Philox(self.key, self.counter + blocks)

    def chunk(self, start: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """`count` blocks from the `start`-th on, as `scramble` returns them."""
        ready, self._ready = self._ready, None  # given away: whoever gets arrays may overwrite them
        if ready is not None and start == 0 and count == ready[0].shape[1]:
            return ready
        if count <= _FEW:
            blocks = [_block((self.counter + start + i) & _MASK128, self.key) for i in range(count)]
            words = np.array(blocks, np.uint64).reshape(count, 4).T
            return np.ascontiguousarray(words[::2]), np.ascontiguousarray(words[1::2])
        return scramble(*_consecutive((self.counter + start) & _MASK128, count), self.key)

    def block(self) -> tuple[int, int, int, int]:
        """The four words that come next, in plain integers."""
        return _block(self.counter, self.key)

    def words(self, blocks: int, start: int = 0) -> np.ndarray:
        """A [blocks, 4] uint32 array of the words that come next."""
        words = np.empty((blocks, 4), np.uint32)
        in_chunks(blocks, lambda begin, end: self.write_words(words[begin:end], start + begin))
        return words

    def write_words(self, words: np.ndarray, start: int) -> None:
        """The words of the blocks from the `start`-th on, into a [blocks, 4] array of 32-bit integers in one piece."""
        counter = (self.counter + start) & _MASK128
        if self._ready is None and streams.fill(streams.WORDS, words.ctypes.data, self.key, counter, len(words)):
            return
        even, odd = self.chunk(start, len(words))
        np.left_shift(odd, _SHIFT, out=odd)
        np.bitwise_or(even, odd, out=words.view(np.uint64).T)  # words 0 and 1 of a block, then words 2 and 3

    def fill(self, kind: str, rows: torch.Tensor, start: int) -> bool:
        """The numbers of the blocks from the `start`-th on by machine code, a row for each; whether there is any."""
        return streams.fill(kind, rows.data_ptr(), self.key, (self.counter + start) & _MASK128, len(rows))

    def chunk_at(self, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The blocks with these indices (a uint64 vector, counted from here), as `scramble` returns them."""
        low, high = self.counter & _MASK64, self.counter >> 64
        lows = blocks + np.uint64(low)
        highs = np.where(lows < blocks, np.uint64((high + 1) & _MASK64), np.uint64(high))
        return scramble(np.stack([lows & _LOW, highs & _LOW]), np.stack([lows >> _SHIFT, highs >> _SHIFT]), self.key)

    def words_at(self, blocks: np.ndarray) -> np.ndarray:
        """The words of the blocks with these indices: an [n, 4] uint32 array."""
        even, odd = self.chunk_at(blocks)
        words = np.empty((len(blocks), 4), np.uint32)
        words[:, ::2], words[:, 1::2] = even.T, odd.T
        return words


class Draws:
    """A place in a stream, and how many blocks were used up from there on."""

    __slots__ = ("place", "blocks")

    def __init__(self, place: Philox) -> None:
        self.place, self.blocks = place, 0


class Stream:
    """What a random op keeps in a session: each run reserves the stretch it may use, so that runs never overlap.

    An op that does the same again and again, as dropout in a loop does, finds the few blocks it needs made for several
    runs at once.
    """

    def __init__(self, seed: int, seed2: int) -> None:
        self._place = Philox.from_seeds(seed, seed2)
        self._lock = renewed(threading.Lock())
        self._habit = (0, 0)
        self._ahead: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def reserve(self, blocks: int, used: int = 0) -> Philox:
        """The place where this run starts; the next one starts `blocks` further on. Of those the run needs the first
        `used`.
        """
        with self._lock:
            place = self._place
            self._place = place.skipped(blocks)
            if _FEW < used <= _MOST_AHEAD and not streams.is_ready():
                return Philox(place.key, place.counter, self._made_ahead(place, blocks, used))
        return place

    @contextlib.contextmanager
    def held(self) -> Iterator[Draws]:
        """The stream for one who draws often, and says at the end how far: others wait so long."""
        with self._lock:
            draws = Draws(self._place)
            yield draws
            self._place = self._place.skipped(draws.blocks)

    def _made_ahead(self, place: Philox, stretch: int, used: int) -> tuple[np.ndarray, np.ndarray] | None:
        habit, self._habit = self._habit, (stretch, used)
        if habit != self._habit:
            self._ahead = {}
            return None
        if place.counter not in self._ahead:
            runs = np.arange(_RUNS_AHEAD, dtype=np.uint64)[:, None] * np.uint64(stretch)
            even, odd = place.chunk_at((runs + np.arange(used, dtype=np.uint64)).ravel())
            parts = [slice(i * used, (i + 1) * used) for i in range(_RUNS_AHEAD)]
            self._ahead = {
                place.skipped(i * stretch).counter: (even[:, part], odd[:, part]) for i, part in enumerate(parts)
            }
        return self._ahead.pop(place.counter)


_pool: ThreadPoolExecutor | None = None


def in_chunks(count: int, fill: Callable[[int, int], None]) -> None:
    """Call `fill(begin, end)` over [0, count) in chunks, on as many threads as torch uses."""
    global _pool
    bounds = [(begin, min(begin + CHUNK, count)) for begin in range(0, count, CHUNK)]
    workers = min(torch.get_num_threads(), len(bounds))
    if workers <= 1:
        for begin, end in bounds:
            fill(begin, end)
        return
    if _pool is None:
        _pool = ThreadPoolExecutor(thread_name_prefix="philox", initializer=work_alone)

    def work(first: int) -> None:
        for begin, end in bounds[first::workers]:
            fill(begin, end)

    rest = [_pool.submit(work, i) for i in range(1, workers)]
    work(0)
    for future in rest:
        future.result()
