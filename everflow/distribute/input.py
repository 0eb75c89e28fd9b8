"""Datasets for replicas: batches that are split over them, and iterators that give each its part."""

from __future__ import annotations

from everflow.data import Dataset, make_initializable_iterator
from everflow.distribute.values import regroup
from everflow.framework import dtypes, nest
from everflow.framework.scopes import control_dependencies, device, executing_eagerly
from everflow.ops import array
from everflow.ops.control_flow.grouping import group
from everflow.ops.math import cast


class InputContext:
    """What an input function is told of its place.

    Args:
        num_input_pipelines: How many pipelines there are.
        input_pipeline_id: Which one this is.
        num_replicas_in_sync: How many replicas there are.

    Example:
        >>> tf.distribute.InputContext(num_replicas_in_sync=4).get_per_replica_batch_size(32)
        8
    """

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1):
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    num_replicas_in_sync = property(lambda self: self._num_replicas_in_sync)
    input_pipeline_id = property(lambda self: self._input_pipeline_id)
    num_input_pipelines = property(lambda self: self._num_input_pipelines)

    def get_per_replica_batch_size(self, global_batch_size):
        """A replica's share of a batch; it must come out even."""
        if global_batch_size % self._num_replicas_in_sync != 0:
            raise ValueError(
                f"A batch of {global_batch_size} (global_batch_size) is not divisible by {self._num_replicas_in_sync} replicas "
                "(num_replicas_in_sync)"
            )
        return global_batch_size // self._num_replicas_in_sync

    def __repr__(self):
        return (
            f"tf.distribute.InputContext(input pipeline id {self._input_pipeline_id}, total: {self._num_input_pipelines}, "
            f"num_replicas_in_sync: {self._num_replicas_in_sync})"
        )


def numpy_dataset(numpy_input):
    """A dataset of the rows of numpy arrays; a list of them counts as a tuple."""
    return Dataset.from_tensor_slices(tuple(numpy_input) if isinstance(numpy_input, list) else numpy_input)


def _split(dataset, count: int):
    """A dataset with each batch cut into `count` parts, one after the other; the last one may be smaller."""
    if count == 1:
        return dataset

    def parts(*element):
        share = -(-array.shape(nest.flatten(element)[0])[0] // count)
        return Dataset.from_tensor_slices(element[0] if len(element) == 1 else element).batch(cast(share, dtypes.int64))

    return dataset.flat_map(parts)


class DistributedIterator:
    """Gives each replica its part of the next element. In a graph, run `initialize()` first."""

    def __init__(self, strategy, dataset, split: bool):
        self._strategy = strategy
        if split:
            dataset = _split(dataset, strategy.num_replicas_in_sync)
            context = strategy._input_context()
            if context.num_input_pipelines > 1:
                dataset = dataset.shard(context.num_input_pipelines, context.input_pipeline_id)
        self._eager = executing_eagerly()
        self._iterator = iter(dataset) if self._eager else make_initializable_iterator(dataset)

    def initialize(self):
        """The operation that begins (again) at the dataset's start."""
        return group() if self._eager else self._iterator.initializer

    initializer = property(lambda self: self.initialize())

    def get_next(self):
        """The next element, with a part for each replica."""
        parts = []
        for name in self._strategy.extended.worker_devices:
            before = [] if self._eager else [nest.flatten(p)[0] for p in parts[-1:]]
            # One after the other, so that the first replica has the first part.
            with control_dependencies(before), device(name):
                parts.append(next(self._iterator) if self._eager else self._iterator.get_next())
        return regroup(self._strategy.extended._device_map, parts)


class DistributedDataset:
    """A dataset for replicas: iterate over it, or make an iterator in a graph."""

    def __init__(self, strategy, dataset, split: bool):
        self._strategy = strategy
        self._dataset = dataset
        self._split = split

    def __iter__(self):
        if not executing_eagerly():
            raise RuntimeError(
                "__iter__() is only supported when eager execution is enabled; make an iterator with make_initializable_iterator."
            )
        iterator = DistributedIterator(self._strategy, self._dataset, self._split)
        while True:
            try:
                yield iterator.get_next()
            except StopIteration:
                return

    def make_initializable_iterator(self):
        return DistributedIterator(self._strategy, self._dataset, self._split)
