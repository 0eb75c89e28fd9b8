"""Shuffled and random datasets at run time: TensorFlow's own orders under seeds."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.data.blocks import chosen, fit, size_of
from everflow.kernels.data.datasets import Blocks, Dataset, Element, End, Following, Iteration, Source, Take, dataset
from everflow.kernels.random.philox import Philox

if TYPE_CHECKING:
    from everflow.kernels.tensors import AnyTensor, Value

Block: TypeAlias = "tuple[AnyTensor, ...]"
_AT_A_TIME = 4096


class Words:
    """The 32-bit words of a stream, one by one."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._place = Philox.from_seeds(seed, seed2)
        self._ready: deque[int] = deque()

    def __call__(self) -> int:
        if not self._ready:
            self._ready.extend(self._place.words(64).reshape(-1).tolist())
            self._place = self._place.skipped(64)
        return self._ready.popleft()


def _shuffled(
    start: Callable[[Iteration], Callable],
    buffer_size: int,
    words_for_pass: Callable,
    count: int,
    iteration: Iteration,
) -> Callable:
    """A buffer from which a random element is taken each time; passes never mix, though the next one is read ahead."""
    draw = words_for_pass()
    ring: list = [None] * min(buffer_size, 1 << 16)
    passes: deque[list[int]] = deque()  # [first, end) of each pass that is in the buffer, as running positions
    following, done, held, position, exhausted = None, 0, 0, 0, False

    def fill() -> None:
        nonlocal following, done, held, position, exhausted, ring
        while held < buffer_size and not exhausted:
            if following is None:
                if count >= 0 and done >= count:
                    exhausted = True
                    return
                following = start(iteration)
                passes.append([position, position])
            try:
                element = following()
            except End:
                following = None
                done += 1
                if passes[-1][0] == passes[-1][1] and len(passes) == 1 and position == 0 and count < 0:
                    exhausted = True  # an empty dataset: it would look for a first element for ever
                continue
            if held == len(ring) < buffer_size:
                _grow(ring, passes[0][0], position, min(buffer_size, 2 * len(ring)))
            ring[position % len(ring)] = element
            position += 1
            passes[-1][1] = position
            held += 1

    def shuffled() -> Element:
        nonlocal held
        fill()
        while passes and passes[0][0] == passes[0][1] and (len(passes) > 1 or following is None):
            passes.popleft()
        if not held:
            raise End
        current = passes[0]
        place = (current[0] + draw() % (current[1] - current[0])) % len(ring)
        first = current[0] % len(ring)
        element, ring[place] = ring[place], ring[first]
        ring[first] = None
        current[0] += 1
        held -= 1
        return element

    return shuffled


def _grow(ring: list[Element | None], first: int, end: int, size: int) -> None:
    """A longer ring with the elements of positions first … end at their places."""
    elements = [ring[p % len(ring)] for p in range(first, end)]
    ring[:] = [None] * size
    for p, element in zip(range(first, end), elements):
        ring[p % size] = element


class _Pool:
    """Elements that wait to be chosen: rows of tables, known by their numbers."""

    def __init__(self) -> None:
        self._columns: list[AnyTensor] = []
        self._free: list[int] = []
        self._alone: dict[int, Block] = {}  # elements of other shapes than the first ones
        self._next = 0

    def put(self, block: Block) -> list[int]:
        """Keep the elements of a block; gives their numbers."""
        count = size_of(block)
        numbers = [self._free.pop() for _ in range(min(count, len(self._free)))]
        more = count - len(numbers)
        numbers.extend(range(self._next, self._next + more))
        self._next += more
        if not self._columns:
            self._columns = [_longer(c[:0], max(64, count)) for c in block]
        if not fit([tuple(self._columns), block]):
            self._alone.update((number, chosen(block, slice(i, i + 1))) for i, number in enumerate(numbers))
            return numbers
        if self._next > len(self._columns[0]):
            self._columns = [_longer(c, max(2 * len(c), self._next)) for c in self._columns]
        places = np.array(numbers)
        for column, values in zip(self._columns, block, strict=True):
            _write(column, places, values)
        return numbers

    def get(self, numbers: list[int]) -> list[Block]:
        """Elements by their numbers, which may be given to others then."""
        self._free += numbers
        if not self._alone:
            return [self._rows(numbers)]
        return [self._alone.pop(n) if n in self._alone else self._rows([n]) for n in numbers]

    def _rows(self, numbers: list[int]) -> Block:
        places = np.array(numbers)
        return tuple(c[torch.from_numpy(places) if isinstance(c, torch.Tensor) else places] for c in self._columns)


def _longer(column: AnyTensor, size: int) -> AnyTensor:
    """A table of so many rows with the rows of a shorter one in front."""
    shape = (size, *column.shape[1:])
    out = np.empty(shape, object) if isinstance(column, np.ndarray) else torch.empty(shape, dtype=column.dtype)
    _write(out, np.arange(len(column)), column)
    return out


def _write(column: Value, places: np.ndarray, values: Value) -> None:
    column[torch.from_numpy(places) if isinstance(column, torch.Tensor) else places] = values


def _in_blocks(
    source: Blocks | None, buffer_size: int, stream: Callable[[Iteration], Callable[[], Words]], count: int
) -> Blocks | None:
    """The same order over numbers: of rows where the source has them, else of elements in a pool."""
    if source is None:
        return None

    def start(iteration: Iteration) -> Take:
        pool = None if source.columns is not None else _Pool()
        ahead = buffer_size - 1  # how many elements are asked for until the block at hand is complete

        def a_pass(iteration: Iteration) -> Callable[[], int]:
            following, ready = source.start(iteration), deque()

            def number() -> int:
                nonlocal ahead
                if not ready:
                    block = following(min(max(ahead, 1), _AT_A_TIME))
                    ready.extend(block.tolist() if pool is None else pool.put(block))
                ahead -= 1
                return ready.popleft()

            return number

        following = _shuffled(a_pass, buffer_size, stream(iteration), count, iteration)
        waiting: deque[Block] = deque()  # elements of different shapes
        error: BaseException | None = None

        def take(n: int) -> Any:
            nonlocal ahead, error
            if waiting:
                return waiting.popleft()
            if error is not None:
                failure, error = error, None
                raise failure
            numbers: list[int] = []
            ahead += n
            try:
                while len(numbers) < n:
                    numbers.append(following())
            except Exception as e:
                if not numbers:
                    raise
                error = e
            if pool is None:
                return np.array(numbers)
            waiting.extend(pool.get(numbers))
            return waiting.popleft()

        return take

    return Blocks(start, source.columns)


def _checked(buffer_size: torch.Tensor) -> int:
    size = int(buffer_size)
    if size <= 0:
        raise InvalidArgumentError(None, None, "buffer_size must be greater than zero.")
    return size


def _repeated(input_dataset: Dataset, size: int, seed: int, seed2: int, count: int) -> Dataset:
    def start(iteration: Iteration) -> Following:
        return _shuffled(input_dataset.start, size, stream(iteration), count, iteration)

    def stream(iteration: Iteration) -> Callable[[], Words]:
        return lambda: Words(*iteration.seeds_of(lambda: _chosen(seed, seed2)))

    return Dataset(start, blocks=lambda: _in_blocks(input_dataset.blocks, size, stream, count))


def _chosen(seed: int, seed2: int) -> tuple[int, int]:
    """The seeds themselves, or some by chance where none were given."""
    chance = Words(0, 0)
    return (seed, seed2) if seed or seed2 else (chance(), chance())


@dataset("ShuffleDataset")
def shuffle_dataset(
    input_dataset: Dataset,
    buffer_size: torch.Tensor,
    seed: torch.Tensor,
    seed2: torch.Tensor,
    *,
    reshuffle_each_iteration: bool,
) -> Dataset:
    size, given = _checked(buffer_size), (int(seed), int(seed2))
    if not reshuffle_each_iteration:
        chosen = _chosen(*given)

        def stream(iteration: Iteration) -> Callable[[], Words]:
            return lambda: Words(*iteration.seeds_of(lambda: chosen))

    else:
        # An iterator shuffles anew with each pass, but every iterator begins with the same.
        streams: weakref.WeakKeyDictionary[Iteration, Words] = weakref.WeakKeyDictionary()

        def stream(iteration: Iteration) -> Callable[[], Words]:
            seeds = streams.setdefault(iteration.root, Words(*given))
            return lambda: Words(*iteration.seeds_of(lambda: (seeds(), seeds())))

    def start(iteration: Iteration) -> Following:
        return _shuffled(input_dataset.start, size, stream(iteration), 1, iteration)

    return Dataset(
        start,
        input_dataset.cardinality,
        fused_repeat=(lambda count: _repeated(input_dataset, size, *given, count))
        if reshuffle_each_iteration
        else None,
        blocks=lambda: _in_blocks(input_dataset.blocks, size, stream, 1),
    )


@dataset("ShuffleAndRepeatDataset")
def shuffle_and_repeat_dataset(
    input_dataset: Dataset, buffer_size: torch.Tensor, seed: torch.Tensor, seed2: torch.Tensor, count: torch.Tensor
) -> Dataset:
    return _repeated(input_dataset, _checked(buffer_size), int(seed), int(seed2), int(count))


@dataset("RandomDataset", "ExperimentalRandomDataset")
def random_dataset(seed: torch.Tensor, seed2: torch.Tensor) -> Source:
    def start(iteration: Iteration) -> Following:
        draw = Words(*iteration.seeds_of(lambda: _chosen(int(seed), int(seed2))))
        return lambda: (torch.tensor(draw()),)

    return Source(start, -1)


@dataset("SamplingDataset")
def sampling_dataset(input_dataset: Dataset, rate: torch.Tensor, seed: torch.Tensor, seed2: torch.Tensor) -> Dataset:
    share = float(rate)

    def start(iteration: Iteration) -> Following:
        following, draw = (
            input_dataset.start(iteration),
            Words(*iteration.seeds_of(lambda: _chosen(int(seed), int(seed2)))),
        )

        def sampled() -> Element:
            while True:
                element = following()
                if (draw() & 0x7FFFFF) * 2.0**-23 < share:
                    return element

        return sampled

    return Dataset(start)
