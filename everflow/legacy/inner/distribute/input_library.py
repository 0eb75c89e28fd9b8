"""`tensorflow.python.distribute.input_lib`: input of replicas, by TensorFlow's inner names and constructors."""

# ruff: noqa: F401  Names that are handed on are a purpose of this file.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everflow.distribute.input import DistributedDataset as _Dataset
from everflow.distribute.input import DistributedIterator, InputWorkers, split_batches
from everflow.distribute.multi_step import MultiStepContext

DistributedIteratorV1 = DistributedIterator


def _per_worker(dataset: Any, input_workers: InputWorkers, split_batch_by: int | None, context: Any) -> list:
    """The dataset of each worker: with parts of batches where asked, and of several pipelines a share."""
    if split_batch_by:
        dataset = split_batches(dataset, split_batch_by)
    if context is not None:
        return [dataset.shard(context.num_input_pipelines, context.input_pipeline_id)] * input_workers.num_workers
    count = input_workers.num_workers
    return [dataset if count == 1 else dataset.shard(count, i) for i in range(count)]


def _check_number(input_contexts: Sequence[Any], input_workers: InputWorkers) -> None:
    if len(input_contexts) != input_workers.num_workers:
        raise ValueError(f"There are {input_workers.num_workers} workers and {len(input_contexts)} input contexts")


class DatasetIterator(DistributedIterator):
    """An iterator over a dataset that workers share."""

    def __init__(
        self,
        dataset: Any,
        input_workers: InputWorkers,
        strategy: Any,
        split_batch_by: int | None = None,
        input_context: Any = None,
    ) -> None:
        super().__init__(input_workers, _per_worker(dataset, input_workers, split_batch_by, input_context), strategy)


class InputFunctionIterator(DistributedIterator):
    """An iterator over what an input function gives for each worker: a dataset, or a function of no arguments."""

    def __init__(
        self, input_fn: Callable[[Any], Any], input_workers: InputWorkers, input_contexts: Sequence[Any], strategy: Any
    ) -> None:
        _check_number(input_contexts, input_workers)
        super().__init__(input_workers, [input_fn(each) for each in input_contexts], strategy)


class DistributedDataset(_Dataset):
    """A dataset that workers share."""

    def __init__(
        self,
        dataset: Any,
        input_workers: InputWorkers,
        strategy: Any,
        split_batch_by: int | None = None,
        input_context: Any = None,
    ) -> None:
        super().__init__(input_workers, _per_worker(dataset, input_workers, split_batch_by, input_context), strategy)


class DistributedDatasetsFromFunction(_Dataset):
    """Datasets that a function makes for each worker."""

    def __init__(
        self,
        dataset_fn: Callable[[Any], Any],
        input_workers: InputWorkers,
        input_contexts: Sequence[Any],
        strategy: Any,
    ) -> None:
        _check_number(input_contexts, input_workers)
        super().__init__(input_workers, [dataset_fn(each) for each in input_contexts], strategy)


DistributedDatasetV1, DistributedDatasetsFromFunctionV1 = DistributedDataset, DistributedDatasetsFromFunction
get_distributed_dataset, get_distributed_datasets_from_function = DistributedDataset, DistributedDatasetsFromFunction
