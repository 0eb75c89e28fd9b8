"""Datasets for replicas: batches that are split over them, and iterators that give each its part."""

from __future__ import annotations

from everflow.data import (
    Dataset,
    get_output_shapes,
    get_output_types,
    make_initializable_iterator,
    structure,
)
from everflow.data.optional import get_next_as_optional
from everflow.data.structure import Elements
from everflow.distribute.device_maps import full_device, host_of
from everflow.distribute.values import regroup
from everflow.framework import dtypes, nest
from everflow.framework.errors import OutOfRangeError
from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies, device, executing_eagerly, get_default_graph
from everflow.ops import array
from everflow.ops.control_flow.conditionals import cond
from everflow.ops.control_flow.grouping import group
from everflow.ops.math import cast, reduce_all, reduce_any


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


def split_batches(dataset, count: int):
    """A dataset with each batch cut into `count` parts, one after the other; the last ones may be smaller or empty."""
    if count == 1:
        return dataset

    def parts(*element):
        share = -(-array.shape(nest.flatten(element)[0])[0] // count)
        if all(isinstance(leaf, Tensor) for leaf in nest.flatten(element)):
            whole = element[0] if len(element) == 1 else element
            return Dataset.range(count).map(lambda i: nest.map_structure(lambda leaf: _rows(leaf, i, share), whole))
        return Dataset.from_tensor_slices(element[0] if len(element) == 1 else element).batch(cast(share, dtypes.int64))

    return dataset.flat_map(parts)


def _rows(tensor, index, share):
    begin = cast(index, dtypes.int32) * share
    return tensor[begin : begin + share]


class InputWorkers:
    """Who reads input: for each worker the device that reads, and the devices that it reads for."""

    def __init__(self, device_map, worker_device_pairs=None, logical_device=0):
        self._device_map, self._logical_device = device_map, logical_device
        if worker_device_pairs is None:
            devices = device_map.logical_to_actual_devices(logical_device)
            worker_device_pairs = ((host_of(devices[0]), devices),)
        self._pairs = tuple((worker, tuple(full_device(d) for d in devices)) for worker, devices in worker_device_pairs)

    device_map = property(lambda self: self._device_map)
    logical_device = property(lambda self: self._logical_device)
    num_workers = property(lambda self: len(self._pairs))
    worker_devices = property(lambda self: tuple(worker for worker, _ in self._pairs))

    def compute_devices_for_worker(self, worker_index):
        """The devices that a worker reads for."""
        return self._pairs[worker_index][1]

    def __repr__(self):
        rows = "\n".join(f"  {i} {worker}: {devices}" for i, (worker, devices) in enumerate(self._pairs))
        return f"{type(self).__name__}:{{\n{rows}\n  device_map: {self._device_map}}}"


def _without_rows(shape, dtype):
    return array.zeros([0 if size is None else size for size in shape.as_list()], dtype)


class _Parts:
    """The next element in a graph, which may be missing: an optional for each replica. Where some lack rows, the element
    is there as long as one of them has a part.
    """

    def __init__(self, device_map, optionals, may_lack):
        self._device_map, self._optionals, self._may_lack = device_map, optionals, may_lack

    def has_value(self):
        there = array.stack([optional.has_value() for optional in self._optionals])
        return reduce_any(there) if self._may_lack else reduce_all(there)

    def get_value(self):
        made = [self._part(optional) if self._may_lack else optional.get_value() for optional in self._optionals]
        return regroup(self._device_map, made)

    @staticmethod
    def _part(optional):
        spec = optional.value_structure
        shapes, types = structure.flat_shapes(spec), structure.flat_types(spec)
        tensors = cond(
            optional.has_value(),
            lambda: structure.to_tensors(spec, optional.get_value()),
            lambda: [_without_rows(shape, dtype) for shape, dtype in zip(shapes, types)],
            strict=True,
        )
        for tensor, shape in zip(tensors, shapes):
            tensor.set_shape(shape)
        return structure.from_tensors(spec, tensors)


class _Calls:
    """A function in an iterator's place: each element is what it gives."""

    def __init__(self, fn):
        self._fn = fn
        self.initializer = group()

    def get_next(self, name=None):
        return self._fn()


class DistributedIterator(Elements):
    """Gives each replica its part of the next element. In a graph, run `initialize()` first."""

    def __init__(self, input_workers, datasets, strategy):
        self._input_workers, self._strategy, self._datasets = input_workers, strategy, datasets
        # Bodies of functions begin at once, too: they have no initializers.
        self._at_once = executing_eagerly() or get_default_graph().building_function
        self._begin()

    def _begin(self):
        self._iterators = []
        for worker, dataset in zip(self._input_workers.worker_devices, self._datasets, strict=True):
            with device(worker):
                if callable(dataset):
                    self._iterators.append(_Calls(dataset))
                elif not isinstance(dataset, Dataset):
                    raise ValueError(f"An input function gives a tf.data.Dataset or a function, not {dataset!r}")
                else:
                    self._iterators.append(iter(dataset) if self._at_once else make_initializable_iterator(dataset))

    def initialize(self):
        """The operation that begins (again) at the dataset's start."""
        if self._at_once:
            self._begin()
            return []
        return group(*(iterator.initializer for iterator in self._iterators))

    initializer = property(lambda self: self.initialize())
    _initializer = initializer
    _element_spec = property(lambda self: self._datasets[0].element_spec)

    def get_iterator(self, worker):
        """The iterator of a worker's device; None where there is none."""
        pairs = zip(self._input_workers.worker_devices, self._iterators, strict=True)
        return next((iterator for name, iterator in pairs if name == worker), None)

    def get_next(self, name=None):
        """The next element, with a part for each replica."""
        parts = []
        for index, iterator in enumerate(self._iterators):
            for where in self._input_workers.compute_devices_for_worker(index):
                before = [] if executing_eagerly() else [nest.flatten(p)[0] for p in parts[-1:]]
                # One after the other, so that the first replica has the first part.
                with control_dependencies(before), device(where):
                    parts.append(self._part(iterator, index, name) if parts else iterator.get_next(name))
        return regroup(self._input_workers.device_map, parts)

    def _part(self, iterator, index, name):
        """The next part; where the data ends in the middle of an element, one without rows."""
        try:
            return iterator.get_next(name)
        except OutOfRangeError:
            shapes = get_output_shapes(self._datasets[index])
            if all(shape.is_fully_defined() for shape in nest.flatten(shapes)):
                raise  # All parts have as many rows.
            if not self._strategy.extended._replicas_may_lack_rows:
                raise
            return nest.map_structure(_without_rows, shapes, get_output_types(self._datasets[index]))

    def optionals(self):
        """What AutoGraph loops over in a graph: a function that gives the next element as an optional."""
        shapes = nest.flatten(get_output_shapes(self._datasets[0]))
        is_even = all(shape.is_fully_defined() for shape in shapes)  # then all parts have as many rows
        may_lack = not is_even and self._strategy.extended._replicas_may_lack_rows

        def following():
            parts = []
            for index, iterator in enumerate(self._iterators):
                for where in self._input_workers.compute_devices_for_worker(index):
                    with control_dependencies([part._variant_tensor for part in parts[-1:]]), device(where):
                        parts.append(get_next_as_optional(iterator))
            return _Parts(self._input_workers.device_map, parts, may_lack)

        return following

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return self.get_next()
        except OutOfRangeError:
            raise StopIteration from None

    next = __next__


class DistributedDataset(Elements):
    """A dataset for replicas: iterate over it, or make an iterator in a graph."""

    def __init__(self, input_workers, datasets, strategy):
        self._input_workers, self._datasets, self._strategy = input_workers, datasets, strategy

    _element_spec = property(lambda self: self._datasets[0].element_spec)

    def __iter__(self):
        if not executing_eagerly() and not get_default_graph().building_function:
            raise RuntimeError(
                "__iter__() is only supported when eager execution is enabled; make an iterator with make_initializable_iterator."
            )
        return self._iterator()

    def _iterator(self):
        return DistributedIterator(self._input_workers, self._datasets, self._strategy)

    def optionals(self):
        """What AutoGraph loops over in a graph: a function that gives the next element as an optional."""
        return self._iterator().optionals()

    def make_initializable_iterator(self, shared_name=None):
        """An iterator; run its `initialize()` first. It belongs to this process and takes no `shared_name`."""
        if shared_name is not None:
            raise NotImplementedError("An iterator over a distributed dataset can't be shared by name.")
        return self._iterator()

    def make_one_shot_iterator(self):
        """An iterator that has begun, where operations run at once."""
        return self._iterator()

    # What tf.compat.v1.data.make_initializable_iterator and its like ask of a dataset.
    _make_initializable_iterator, _make_one_shot_iterator = make_initializable_iterator, make_one_shot_iterator
    _get_iterator = _iterator

    def reduce(self, initial_state, reduce_fn):
        """`reduce_fn(state, element)` over all elements, where operations run at once."""
        state = initial_state
        for element in self:
            state = reduce_fn(state, element)
        return state


# --- of a strategy ------------------------------------------------------------------------------


def input_workers(strategy) -> InputWorkers:
    """This process reads for all devices of a strategy."""
    return InputWorkers(strategy.extended._device_map)


def split_over_replicas(strategy, dataset) -> list:
    """A dataset with each batch cut into a part for each replica; of several pipelines, the share of this one."""
    dataset = split_batches(dataset, strategy.num_replicas_in_sync)
    context = strategy._input_context()
    if context.num_input_pipelines > 1:
        dataset = dataset.shard(context.num_input_pipelines, context.input_pipeline_id)
    return [dataset]
