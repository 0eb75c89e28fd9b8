"""A pipeline divided among workers: by files where it is seen which files it reads, else by its last elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.data.datasets import Dataset, dataset, same_elements
from everflow.kernels.data.origins import MAKERS
from everflow.kernels.data.rewrites import inputs_first, origin_of, passed
from everflow.protos.attr_value_pb2 import NameAttrList

if TYPE_CHECKING:
    from everflow.framework.graph import Graph
    from everflow.kernels.data.origins import Origin

_READERS = frozenset(("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", "TFRecordDataset", "TextLineDataset"))
_JOINING = frozenset(("ConcatenateDataset", "ZipDataset"))
_SPREADING = frozenset(
    ("FlatMapDataset", "InterleaveDataset", "ParallelInterleaveDataset", "ParallelInterleaveDatasetV2")
)
# What gives something for each element, so that it does not matter which worker has it.
_PASSING = frozenset(
    """
    BatchDataset BatchDatasetV2 CacheDataset FilterDataset MapAndBatchDataset MapDataset ModelDataset OptimizeDataset
    PaddedBatchDataset PaddedBatchDatasetV2 ParallelMapDataset PrefetchDataset RepeatDataset ShardDataset
    ShuffleAndRepeatDataset ShuffleDataset SkipDataset TakeDataset
    """.split()
)


def _unshuffled(made: Dataset) -> Dataset | None:
    """What a shuffle has its elements from."""
    shuffle = origin_of(made, "ShuffleDataset")
    return None if shuffle is None else shuffle.inputs[0]


class _Share:
    """A worker's part of a pipeline."""

    def __init__(self, workers: int, index: int) -> None:
        self._workers, self._index = workers, index

    def of_elements(self, source: Dataset) -> Dataset:
        """Every so many-th element; an error where a worker would have none."""
        return MAKERS["ShardDataset"](
            source, torch.tensor(self._workers), torch.tensor(self._index), require_non_empty=True
        )

    def of(self, top: Dataset) -> Dataset:
        """By files where that is possible."""
        found: dict[Dataset, Dataset | None] = {}
        for made in inputs_first(top):
            found[made] = self._by_files(made, found)
        return found[top] or self.of_elements(top)

    def _by_files(self, made: Dataset, found: dict[Dataset, Dataset | None]) -> Dataset | None:
        origin = made.origin
        if origin is None:
            return None
        if origin.op_type in _SPREADING:
            return self._spread(origin) if _reads(origin) else None
        if origin.op_type in _JOINING or origin.op_type in _PASSING:
            parts = {part: found[part] for part in origin.sources()}
            return origin.made_of(lambda part: parts.get(part) or part) if all(parts.values()) else None
        return None

    def _spread(self, origin: Origin) -> Dataset:
        """The files that a function reads, divided before they are read; in any order, but the same files."""
        source: Dataset = origin.inputs[0]
        divided = self.of_elements(passed(source, _unshuffled))
        shuffles = (origin_of(made, "ShuffleDataset") for made in inputs_first(source))
        innermost = next((shuffle for shuffle in shuffles if shuffle is not None), None)
        # A worker shuffles its own files, as the innermost of all shuffles would.
        mine = divided if innermost is None else innermost.made_of(lambda _: divided)
        return origin.made_of(lambda part: mine if part is source else part)


def _reads(origin: Origin) -> bool:
    """Whether a function reads files, or one that it calls."""
    graph: Graph = origin.attributes["session"].graph
    waiting, seen = [origin.attributes["f"].name], set()
    while waiting:
        name = waiting.pop()
        function: Any = graph._functions[name]
        for op in function.body_tensors()[1][0].graph.get_operations():
            if op.type in _READERS:
                return True
            called = {value.name for value in op.attrs.values() if isinstance(value, NameAttrList)}
            waiting += called - seen
            seen |= called
    return False


@dataset("AutoShardDataset", "ExperimentalAutoShardDataset")
def auto_shard_dataset(input_dataset: Dataset, num_workers: torch.Tensor, index: torch.Tensor) -> Dataset:
    workers, mine = int(num_workers), int(index)
    if workers < 1:
        raise InvalidArgumentError(None, None, f"num_workers must be greater than zero, not {workers}")
    if not 0 <= mine < workers:
        raise InvalidArgumentError(None, None, f"index must be between 0 and {workers - 1}, not {mine}")
    # What can't be written as a graph can't be rewritten: each worker has all of it.
    is_fixed = any(origin_of(part, "NonSerializableDataset") for part in inputs_first(input_dataset))
    made = input_dataset if is_fixed else _Share(workers, mine).of(input_dataset)
    assert made.origin is not None
    again = same_elements(made)
    again.cardinality = -2  # files may hold any number of elements
    again.came_from(made.origin)
    return again
