"""Functions for `Dataset.apply`: each returns a function of a dataset."""

from __future__ import annotations

from everflow.data import batching, stateful, structure
from everflow.data.files import interleaved_in_parallel
from everflow.data.functions import StructuredFunction
from everflow.data.seeds import seed_tensors
from everflow.data.settings import as_bool, as_int64
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensorSpec
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value_as_shape
from everflow.framework.type_specs import TensorSpec


def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
    """`map`, then `batch`, in one."""
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            f"num_parallel_batches={num_parallel_batches} and num_parallel_calls={num_parallel_calls} exclude each other: pass one of them"
        )
    if num_parallel_calls is None:
        num_parallel_calls = batch_size if num_parallel_batches is None else batch_size * num_parallel_batches

    def apply(dataset):
        function = StructuredFunction(map_func, "tf.data.experimental.map_and_batch()", dataset.element_spec)
        sizes = as_int64(batch_size=batch_size, num_parallel_calls=num_parallel_calls) | as_bool(
            drop_remainder=drop_remainder
        )
        size = batching.static_size(sizes["batch_size"], sizes["drop_remainder"])
        spec = structure.batch(function.output_structure, size)
        arguments = {**function.argument("f"), "preserve_cardinality": True, **sizes}
        return dataset._then(raw.MapAndBatchDataset, spec, **arguments)

    return apply


map_and_batch_with_legacy_function = map_and_batch


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """`shuffle`, then `repeat`, in one: the buffer stays full from one pass to the next."""

    def apply(dataset):
        sizes = as_int64(buffer_size=buffer_size, count=-1 if count is None else count)
        first, second = seed_tensors(seed)
        return dataset._then(raw.ShuffleAndRepeatDataset, seed=first, seed2=second, **sizes)

    return apply


def parallel_interleave(
    map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None, prefetch_input_elements=None
):
    """`Dataset.interleave` by an op of its own, that may run ahead."""

    def apply(dataset):
        return interleaved_in_parallel(
            dataset, map_func, cycle_length, block_length, sloppy, buffer_output_elements, prefetch_input_elements
        )

    return apply


def unbatch():
    """The rows of each element."""
    return lambda dataset: dataset.unbatch()


def ignore_errors():
    """The elements that can be computed; those that fail are left out."""
    return lambda dataset: dataset._then(raw.IgnoreErrorsDataset)


def unique():
    """Each element once."""

    def apply(dataset):
        if dataset.output_types not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError(f"unique() compares single tensors of int32, int64 or string, not {dataset.output_types}")
        return dataset._then(raw.UniqueDataset)

    return apply


def enumerate_dataset(start=0):
    """Pairs of a running number and an element."""
    return lambda dataset: dataset.enumerate(start)


def scan(initial_state, scan_func):
    """What `scan_func(state, element)` returns beside the next state, for each element.

    >>> tf.data.Dataset.range(5).apply(tf.data.experimental.scan(np.int64(0), lambda total, x: (total + x, total + x)))
    """
    return lambda dataset: stateful.scan(dataset, initial_state, scan_func)


def take_while(predicate):
    """The elements up to the first for which a function gives False."""

    def apply(dataset):
        function = StructuredFunction(predicate, "tf.data.experimental.take_while()", dataset.element_spec)
        function.check_returns_scalar("predicate", dtypes.bool)
        return dataset._then(raw.TakeWhileDataset, **function.argument("predicate"))

    return apply


def dense_to_sparse_batch(batch_size, row_shape):
    """Elements of different sizes as one SparseTensor for each batch."""

    def apply(dataset):
        spec = dataset.element_spec
        if type(spec) is not TensorSpec:
            raise TypeError(
                f"dense_to_sparse_batch takes elements of a single dense tensor, not {dataset.output_types}"
            )
        known = isinstance(row_shape, (TensorShape, list, tuple))
        rows = [-1 if d is None else d for d in TensorShape(row_shape).as_list()] if known else row_shape
        sizes = as_int64(batch_size=batch_size, row_shape=rows)
        static = TensorShape([None]).concatenate(constant_value_as_shape(sizes["row_shape"]))
        return dataset._then(raw.DenseToSparseBatchDataset, SparseTensorSpec(static, spec.dtype), **sizes)

    return apply


def prefetch_to_device(device, buffer_size=None):
    """The elements prepared ahead; all devices share one memory here."""
    return lambda dataset: dataset.prefetch(buffer_size)


def copy_to_device(target_device, source_device="/cpu:0"):
    """The dataset itself: all devices share one memory here."""
    return lambda dataset: dataset


def bytes_produced_stats(tag):
    """The same dataset, whose elements' sizes are recorded under a tag."""
    return lambda dataset: dataset._then(
        raw.BytesProducedStatsDataset, tag=convert_to_tensor(tag, dtypes.string, name="tag")
    )


def latency_stats(tag):
    """The same dataset, whose elements' times are recorded under a tag."""
    return lambda dataset: dataset._then(raw.LatencyStatsDataset, tag=convert_to_tensor(tag, dtypes.string, name="tag"))
