"""Which elements follow which: some left out of a dataset, a dataset repeated, several joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.data import blocks
from everflow.kernels.data.datasets import Dataset, Element, End, Following, Iteration, dataset

if TYPE_CHECKING:
    import torch

# --- choosing elements -----------------------------------------------------------------------


@dataset("TakeDataset")
def take_dataset(input_dataset: Dataset, count: torch.Tensor) -> Dataset:
    wanted = int(count)

    def start(iteration: Iteration) -> Following:
        following: Following | None = input_dataset.start(iteration)
        left = wanted

        def take() -> Element:
            nonlocal following, left
            if left == 0 or following is None:
                following = None  # what it holds, such as a cache half written, is let go
                raise End
            element = following()
            left -= 1
            return element

        return take

    return Dataset(
        start, _limited(input_dataset.cardinality, wanted), blocks=lambda: blocks.taken(input_dataset.blocks, wanted)
    )


@dataset("SkipDataset")
def skip_dataset(input_dataset: Dataset, count: torch.Tensor) -> Dataset:
    wanted = int(count)

    def start(iteration: Iteration) -> Following:
        following, left = input_dataset.start(iteration), wanted

        def skip() -> Element:
            nonlocal left
            if left < 0:
                raise End
            while left > 0:
                following()
                left -= 1
            return following()

        return skip

    known = input_dataset.cardinality
    return Dataset(
        start,
        known if known < 0 else 0 if wanted < 0 else max(0, known - wanted),
        blocks=lambda: blocks.skipped(input_dataset.blocks, wanted),
    )


@dataset("ShardDataset")
def shard_dataset(
    input_dataset: Dataset, num_shards: torch.Tensor, index: torch.Tensor, *, require_non_empty: bool
) -> Dataset:
    shards, mine = int(num_shards), int(index)
    if shards <= 0:
        raise InvalidArgumentError(
            None, None, f"Number of shards must be greater than zero (currently num_shards = {shards})."
        )
    if not 0 <= mine < shards:
        raise InvalidArgumentError(None, None, f"Index must be between 0 and {shards - 1} (currently index = {mine}).")

    def start(iteration: Iteration) -> Following:
        following, position = input_dataset.start(iteration), 0

        def read() -> Element:
            nonlocal position
            element = following()
            position += 1
            return element

        def shard() -> Element:
            while True:
                element = read()
                if (position - 1) % shards == mine:
                    break
            # That the other shards have something, too, is seen by reading on.
            while require_non_empty and position < shards:
                try:
                    read()
                except End:
                    raise InvalidArgumentError(
                        None,
                        None,
                        "There aren't enough elements in this dataset for each shard to have at least one element "
                        f"(# elems = {position}, # shards = {shards}).",
                    ) from None
            return element

        return shard

    known = input_dataset.cardinality
    return Dataset(
        start,
        known if known < 0 else max(0, -((mine - known) // shards)),
        blocks=lambda: None if require_non_empty else blocks.sharded(input_dataset.blocks, shards, mine),
    )


@dataset("UniqueDataset", "ExperimentalUniqueDataset")
def unique_dataset(input_dataset: Dataset) -> Dataset:
    def start(iteration: Iteration) -> Following:
        following, seen = input_dataset.start(iteration), set()

        def unique() -> Element:
            while True:
                element = following()
                key = element[0].item() if element[0].ndim == 0 else tuple(element[0].reshape(-1).tolist())
                if key not in seen:
                    seen.add(key)
                    return element

        return unique

    return Dataset(start)


@dataset("IgnoreErrorsDataset", "ExperimentalIgnoreErrorsDataset")
def ignore_errors_dataset(input_dataset: Dataset) -> Dataset:
    def start(iteration: Iteration) -> Following:
        following = input_dataset.start(iteration)

        def ignore() -> Element:
            last: Exception | None = None
            while True:
                try:
                    return following()
                except End:
                    raise
                except Exception as error:  # every failing element is left out: that is what the dataset is for
                    iteration.check()
                    if error is last:  # a file that can't be read: it will not end
                        raise End from None
                    last = error

        return ignore

    return Dataset(start, input_dataset.cardinality)


# --- joining ---------------------------------------------------------------------------------


@dataset("RepeatDataset")
def repeat_dataset(input_dataset: Dataset, count: torch.Tensor) -> Dataset:
    wanted = int(count)

    def start(iteration: Iteration) -> Following:
        following: Following | None = None
        done, empty = 0, False

        def repeat() -> Element:
            nonlocal following, done, empty
            while not empty and (wanted < 0 or done < wanted):
                fresh = following is None
                if following is None:
                    following = input_dataset.start(iteration)
                try:
                    return following()
                except End:
                    following = None
                    done += 1
                    empty = fresh and wanted < 0  # else it would look for a first element for ever
            raise End

        return repeat

    return Dataset(
        start,
        repeated_cardinality(input_dataset.cardinality, wanted),
        blocks=lambda: blocks.repeated(input_dataset, wanted),
    )


def repeated_cardinality(known: int, count: int) -> int:
    """Of a dataset so many times, or for ever."""
    if known == 0 or count == 0:
        return 0
    if count < 0 or known == -1:
        return -1
    return known * count if known >= 0 else -2


@dataset("ConcatenateDataset")
def concatenate_dataset(input_dataset: Dataset, another_dataset: Dataset) -> Dataset:
    # Programs join datasets in loops: all parts side by side, since calls through thousands of pairs would be too deep
    # for Python.
    parts = [part for dataset in (input_dataset, another_dataset) for part in dataset.parts or [dataset]]

    def start(iteration: Iteration) -> Following:
        following, at = parts[0].start(iteration), 0

        def concatenate() -> Element:
            nonlocal following, at
            while True:
                try:
                    return following()
                except End:
                    if at == len(parts) - 1:
                        raise
                at += 1
                following = parts[at].start(iteration)

        return concatenate

    sizes = (input_dataset.cardinality, another_dataset.cardinality)
    size = -1 if -1 in sizes else -2 if -2 in sizes else sum(sizes)
    joined = Dataset(start, size, blocks=lambda: blocks.concatenated(parts))
    joined.parts = parts
    return joined


@dataset("ZipDataset")
def zip_dataset(input_datasets: list[Dataset]) -> Dataset:
    def start(iteration: Iteration) -> Following:
        parts = [d.start(iteration) for d in input_datasets]
        return lambda: tuple(value for part in [following() for following in parts] for value in part)

    sizes = [d.cardinality for d in input_datasets]
    finite = [s for s in sizes if s != -1]
    return Dataset(
        start,
        -2 if -2 in sizes else min(finite) if finite else -1,
        blocks=lambda: blocks.zipped(input_datasets),
    )


@dataset("DirectedInterleaveDataset", "ExperimentalDirectedInterleaveDataset")
def directed_interleave_dataset(selector_input_dataset: Dataset, data_input_datasets: list[Dataset]) -> Dataset:
    def start(iteration: Iteration) -> Following:
        select = selector_input_dataset.start(iteration)
        parts = [d.start(iteration) for d in data_input_datasets]
        open_parts = set(range(len(parts)))

        def choose() -> Element:
            while open_parts:
                index = int(select()[0])
                if not 0 <= index < len(parts):
                    raise InvalidArgumentError(None, None, f"Selector index out of range: {index} >= {len(parts)}")
                if index not in open_parts:
                    continue
                try:
                    return parts[index]()
                except End:
                    open_parts.discard(index)
            raise End

        return choose

    return Dataset(start)


def _limited(cardinality: int, count: int) -> int:
    """Of so many elements; TensorFlow takes a dataset of which all are asked for to be without an end."""
    if cardinality == -2:
        return -2
    return count if cardinality == -1 else min(cardinality, count)
