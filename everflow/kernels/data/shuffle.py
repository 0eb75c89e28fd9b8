"""Shuffled and random datasets at run time: TensorFlow's own orders under seeds."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.data.choices import repeated_cardinality
from everflow.kernels.data.datasets import Blocks, Dataset, Element, End, Following, Iteration, Source, Take, dataset
from everflow.kernels.data.waiting import Waiting
from everflow.kernels.random.philox import Philox
from everflow.kernels.registry import acting, kernel


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


def words_of(iteration: Iteration, seed: int, seed2: int) -> Words:
    """The words that an iteration draws from two seeds; where both are zero, from some of its own."""
    return Words(*iteration.seeds_of(lambda: _chosen(seed, seed2)))


# With more passes than these in the buffer, it is not filled further: only the first one is drawn from.
_PASSES = 3


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
                    start(iteration)  # TensorFlow begins a pass more than it reads: shuffles below draw seeds for it
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
            if len(passes) > _PASSES:
                return

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


def _in_blocks(
    source: Blocks | None, buffer_size: int, stream: Callable[[Iteration], Callable[[], Words]], count: int
) -> Blocks | None:
    """The same order over numbers: of rows where the source has them, else of elements in a pool."""
    if source is None:
        return None

    def start(iteration: Iteration) -> Take:
        waiting = Waiting(source, buffer_size)
        return waiting.chosen_by(_shuffled(waiting.a_pass, buffer_size, stream(iteration), count, iteration))

    return Blocks(start, source.columns, quiet=source.quiet)


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

    known = repeated_cardinality(input_dataset.cardinality, count)
    return Dataset(start, known, blocks=lambda: _in_blocks(input_dataset.blocks, size, stream, count))


def _chosen(seed: int, seed2: int) -> tuple[int, int]:
    """The seeds themselves, or some by chance where none were given."""
    chance = Words(0, 0)
    return (seed, seed2) if seed or seed2 else (chance(), chance())


@kernel("AnonymousRandomSeedGenerator")
def anonymous_random_seed_generator(seed: torch.Tensor, seed2: torch.Tensor) -> tuple[Words, Words]:
    made = Words(*_chosen(int(seed), int(seed2)))
    return made, made


@acting("DeleteRandomSeedGenerator")
def delete_random_seed_generator(handle: Words, deleter: Words) -> None:
    """A generator ends with the last dataset that draws from it."""


@dataset("ShuffleDatasetV2")
def shuffle_dataset_v2(input_dataset: Dataset, buffer_size: torch.Tensor, seed_generator: Words) -> Dataset:
    """Shuffled anew with each pass, by seeds from a generator that others may draw from as well."""
    size = _checked(buffer_size)

    def start(iteration: Iteration) -> Following:
        def words() -> Words:
            return Words(*iteration.seeds_of(lambda: (seed_generator(), seed_generator())))

        return _shuffled(input_dataset.start, size, words, 1, iteration)

    return Dataset(start, input_dataset.cardinality)


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
        blocks=lambda: _in_blocks(input_dataset.blocks, size, stream, 1),
    )


@dataset("ShuffleAndRepeatDataset")
def shuffle_and_repeat_dataset(
    input_dataset: Dataset, buffer_size: torch.Tensor, seed: torch.Tensor, seed2: torch.Tensor, count: torch.Tensor
) -> Dataset:
    if int(count) == 0 or int(count) < -1:
        raise InvalidArgumentError(None, None, f"count must be greater than zero, or -1 for ever, not {int(count)}.")
    return _repeated(input_dataset, _checked(buffer_size), int(seed), int(seed2), int(count))


@dataset("RandomDataset", "ExperimentalRandomDataset")
def random_dataset(seed: torch.Tensor, seed2: torch.Tensor) -> Source:
    def start(iteration: Iteration) -> Following:
        draw = words_of(iteration, int(seed), int(seed2))
        return lambda: (torch.tensor(draw()),)

    return Source(start, -1)


@dataset("SamplingDataset")
def sampling_dataset(input_dataset: Dataset, rate: torch.Tensor, seed: torch.Tensor, seed2: torch.Tensor) -> Dataset:
    share = float(rate)

    def start(iteration: Iteration) -> Following:
        following, draw = input_dataset.start(iteration), words_of(iteration, int(seed), int(seed2))

        def sampled() -> Element:
            while True:
                element = following()
                if (draw() & 0x7FFFFF) * 2.0**-23 < share:
                    return element

        return sampled

    return Dataset(start)
