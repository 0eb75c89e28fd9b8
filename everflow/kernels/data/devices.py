"""Datasets shared out among devices: smaller batches for more replicas, and iterators that several devices take from in
turn.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from everflow.framework.errors import InvalidArgumentError, OutOfRangeError
from everflow.kernels.data.datasets import Dataset, Element, End, Following, Iteration, dataset
from everflow.kernels.data.iterators import IteratorResource
from everflow.kernels.queues.queues import shared_resource
from everflow.kernels.registry import kernel

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session, Step
    from everflow.kernels.tensors import Value

KIND = "multi-device iterator"


@dataset("RebatchDataset", "ExperimentalRebatchDataset")
def rebatch_dataset(input_dataset: Dataset, num_replicas: torch.Tensor) -> Dataset:
    """Each batch as one part for every replica: the first ones equal, the last ones shorter or empty."""
    replicas = int(num_replicas)

    def start(iteration: Iteration) -> Following:
        following, parts = input_dataset.start(iteration), deque()

        def rebatched() -> Element:
            if not parts:
                batch = following()
                size = -(-len(batch[0]) // replicas)
                parts.extend(tuple(column[i * size : (i + 1) * size] for column in batch) for i in range(replicas))
            return parts.popleft()

        return rebatched

    return Dataset(start)


class MultiDeviceIterator(IteratorResource):
    """An iterator whose elements go to its shards in turn; what one shard hasn't taken yet waits for it."""

    def __init__(self, name: str, shards: int) -> None:
        super().__init__(name)
        self.incarnation = 0
        self._waiting: list[deque] = [deque() for _ in range(shards)]
        self._turns = itertools.cycle(range(shards))

    def begin(self, dataset: Dataset, step: Step, noted_seeds: Sequence[tuple[int, int]] = ()) -> None:
        with step.holding(self._lock):
            super().begin(dataset, step, noted_seeds)
            self.incarnation += 1
            for waiting in self._waiting:
                waiting.clear()
            self._turns = itertools.cycle(range(len(self._waiting)))

    def get_next_of(self, shard: int, incarnation: int, step: Step) -> list[Value]:
        with step.holding(self._lock):
            if incarnation != self.incarnation:
                raise InvalidArgumentError(
                    None, None, f"Invalid incarnation id: {incarnation}; the iterator is at {self.incarnation}"
                )
            if not 0 <= shard < len(self._waiting):
                raise InvalidArgumentError(None, None, f"There is no shard {shard} of {len(self._waiting)}")
            while not self._waiting[shard]:
                element = self.get_next(step)
                self._waiting[next(self._turns)].append(element)
            return self._waiting[shard].popleft()


@kernel("MultiDeviceIterator", once=True)
def multi_device_iterator(
    *, node: Node, session: Session, shared_name: str, container: str, devices: list[str]
) -> MultiDeviceIterator:
    return shared_resource(
        KIND, node, session, container, shared_name, lambda name: MultiDeviceIterator(name, len(devices))
    )


@kernel("AnonymousMultiDeviceIterator")
def anonymous_multi_device_iterator(*, node: Node, devices: list[str]) -> tuple[Value, Value]:
    made = MultiDeviceIterator(node.name, len(devices))
    return made, made


@kernel("DeleteMultiDeviceIterator")
def delete_multi_device_iterator(
    multi_device_iterator: MultiDeviceIterator,
    iterators: list[IteratorResource],
    deleter: IteratorResource,
    *,
    session: Session,
) -> None:
    session.resources.remove(multi_device_iterator)


@kernel("MultiDeviceIteratorInit")
def multi_device_iterator_init(
    dataset: Dataset, multi_device_iterator: MultiDeviceIterator, max_buffer_size: torch.Tensor, *, step: Step
) -> torch.Tensor:
    multi_device_iterator.begin(dataset, step)
    return torch.tensor(multi_device_iterator.incarnation)


@kernel("MultiDeviceIteratorGetNextFromShard")
def multi_device_iterator_get_next_from_shard(
    multi_device_iterator: MultiDeviceIterator, shard_num: torch.Tensor, incarnation_id: torch.Tensor, *, step: Step
) -> list[Value]:
    try:
        return multi_device_iterator.get_next_of(int(shard_num), int(incarnation_id), step)
    except End:
        raise OutOfRangeError(None, None, "End of sequence") from None
