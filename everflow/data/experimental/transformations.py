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

_MAP_AND_BATCH = "tf.data.experimental.map_and_batch()"


def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
    """`map`, then `batch`, in one.

    Args:
        map_func: The function of an element.
        batch_size: How many elements make a batch.
        num_parallel_batches: How many batches are worked on at the same time.
        drop_remainder: Whether a last batch that isn't full is left out.
        num_parallel_calls: How many elements are worked on at the same time.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        ValueError: If both numbers are given.

    Example:
        >>> dataset = tf.data.Dataset.range(4).apply(tf.contrib.data.map_and_batch(lambda x: x * x, 2))
        >>> sess.run(dataset.make_one_shot_iterator().get_next())
        array([0, 1])
    """
    return _map_and_batch(map_func, batch_size, num_parallel_batches, drop_remainder, num_parallel_calls)


def _map_and_batch(map_func, batch_size, num_parallel_batches, drop_remainder, num_parallel_calls, legacy=False):
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            f"num_parallel_batches={num_parallel_batches} and num_parallel_calls={num_parallel_calls} exclude each other: pass one of them"
        )
    if num_parallel_calls is None:
        num_parallel_calls = batch_size if num_parallel_batches is None else batch_size * num_parallel_batches

    def apply(dataset):
        function = StructuredFunction(map_func, _MAP_AND_BATCH, dataset.element_spec, legacy)
        sizes = as_int64(batch_size=batch_size, num_parallel_calls=num_parallel_calls) | as_bool(
            drop_remainder=drop_remainder
        )
        size = batching.static_size(sizes["batch_size"], sizes["drop_remainder"])
        spec = structure.batch(function.output_structure, size)
        arguments = {**function.argument("f"), "preserve_cardinality": True, **sizes}
        return dataset._then(raw.MapAndBatchDataset, spec, **arguments)

    return apply


def map_and_batch_with_legacy_function(
    map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None
):
    """`map_and_batch` with a function drawn as a `Defun`."""
    return _map_and_batch(map_func, batch_size, num_parallel_batches, drop_remainder, num_parallel_calls, legacy=True)


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """`shuffle`, then `repeat`, in one: the buffer stays full from one pass to the next.

    Args:
        buffer_size: How many elements are mixed.
        count: How many passes; for ever if None.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        A function for `Dataset.apply`.

    Example:
        >>> dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.shuffle_and_repeat(3, count=2))
        >>> element = dataset.make_one_shot_iterator().get_next()
        >>> sorted(int(sess.run(element)) for _ in range(6))
        [0, 0, 1, 1, 2, 2]
    """

    def apply(dataset):
        sizes = as_int64(buffer_size=buffer_size, count=-1 if count is None else count)
        first, second = seed_tensors(seed)
        return dataset._then(raw.ShuffleAndRepeatDataset, seed=first, seed2=second, **sizes)

    return apply


def parallel_interleave(
    map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None, prefetch_input_elements=None
):
    """`Dataset.interleave` by an op of its own, that may run ahead.

    Args:
        map_func: A function of an element that gives a Dataset.
        cycle_length: How many datasets are read at the same time.
        block_length: How many elements are taken in a row.
        sloppy: Whether the order may depend on which dataset is quicker.
        buffer_output_elements: How many elements of a dataset are ready.
        prefetch_input_elements: How many datasets are ready.

    Returns:
        A function for `Dataset.apply`.

    Example:
        >>> interleave = tf.data.experimental.parallel_interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), 2)
        >>> element = tf.data.Dataset.range(2).apply(interleave).make_one_shot_iterator().get_next()
        >>> [int(sess.run(element)) for _ in range(4)]
        [0, 1, 0, 1]
    """

    def apply(dataset):
        return interleaved_in_parallel(
            dataset, map_func, cycle_length, block_length, sloppy, buffer_output_elements, prefetch_input_elements
        )

    return apply


def unbatch():
    """The rows of each element.

    Returns:
        A function for `Dataset.apply`.

    Example:
        >>> dataset = tf.data.Dataset.from_tensors([1, 2]).apply(tf.data.experimental.unbatch())
        >>> sess.run(dataset.make_one_shot_iterator().get_next())
        np.int32(1)
    """
    return lambda dataset: dataset.unbatch()


def ignore_errors():
    """The elements that can be computed; those that fail are left out.

    Returns:
        A function for `Dataset.apply`.

    Example:
        >>> dataset = tf.data.Dataset.from_tensor_slices([1.0, 0.0, 4.0]).map(lambda x: tf.check_numerics(1.0 / x, "no"))
        >>> element = dataset.apply(tf.data.experimental.ignore_errors()).make_one_shot_iterator().get_next()
        >>> sess.run(element), sess.run(element)
        (np.float32(1.0), np.float32(0.25))
    """
    return lambda dataset: dataset._then(raw.IgnoreErrorsDataset)


def unique():
    """Each element once.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        TypeError: If elements are not of int32, int64 or string.

    Example:
        >>> dataset = tf.data.Dataset.from_tensor_slices([1, 1, 2]).apply(tf.data.experimental.unique())
        >>> element = dataset.make_one_shot_iterator().get_next()
        >>> sess.run(element), sess.run(element)
        (np.int32(1), np.int32(2))
    """

    def apply(dataset):
        if dataset.output_types not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError(f"unique() compares single tensors of int32, int64 or string, not {dataset.output_types}")
        return dataset._then(raw.UniqueDataset)

    return apply


def enumerate_dataset(start=0):
    """Pairs of a running number and an element.

    Args:
        start: The first number.

    Returns:
        A function for `Dataset.apply`.

    Example:
        >>> dataset = tf.data.Dataset.range(5, 8).apply(tf.data.experimental.enumerate_dataset())
        >>> sess.run(dataset.make_one_shot_iterator().get_next())
        (np.int64(0), np.int64(5))
    """
    return lambda dataset: dataset.enumerate(start)


def scan(initial_state, scan_func):
    """What `scan_func(state, element)` returns beside the next state, for each element.

    Args:
        initial_state: The first state.
        scan_func: A function of state and element that gives the next state and the output.

    Returns:
        A function for `Dataset.apply`.

    Example:
        >>> sums = tf.data.experimental.scan(np.int64(0), lambda total, x: (total + x, total + x))
        >>> element = tf.data.Dataset.range(4).apply(sums).make_one_shot_iterator().get_next()
        >>> [int(sess.run(element)) for _ in range(4)]
        [0, 1, 3, 6]
    """
    return lambda dataset: stateful.scan(dataset, initial_state, scan_func)


def take_while(predicate):
    """The elements up to the first for which a function gives False.

    Args:
        predicate: The function.

    Returns:
        A function for `Dataset.apply`.

    Example:
        >>> dataset = tf.data.Dataset.range(9).apply(tf.data.experimental.take_while(lambda x: x < 2))
        >>> element = dataset.make_one_shot_iterator().get_next()
        >>> sess.run(element), sess.run(element)
        (np.int64(0), np.int64(1))
    """

    def apply(dataset):
        function = StructuredFunction(predicate, "tf.data.experimental.take_while()", dataset.element_spec)
        function.check_returns_scalar("predicate", dtypes.bool)
        return dataset._then(raw.TakeWhileDataset, **function.argument("predicate"))

    return apply


def dense_to_sparse_batch(batch_size, row_shape):
    """Elements of different sizes as one SparseTensor for each batch.

    Args:
        batch_size: How many elements make a batch.
        row_shape: The shape of the largest element; None for any size.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        TypeError: If elements are no tensors.

    Example:
        >>> dataset = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))
        >>> dataset = dataset.apply(tf.data.experimental.dense_to_sparse_batch(2, [4]))
        >>> sess.run(dataset.make_one_shot_iterator().get_next()).values
        array([1, 2, 2])
    """

    def apply(dataset):
        spec = dataset.element_spec
        if type(spec) is not TensorSpec:
            raise TypeError(
                f"dense_to_sparse_batch takes elements of a single dense tensor, not {dataset.output_types}"
            )
        known = isinstance(row_shape, (TensorShape, list, tuple))
        rows = [-1 if d is None else d for d in TensorShape(row_shape).as_list()] if known else row_shape
        rows = convert_to_tensor(rows, dtypes.int64)
        static = TensorShape([None]).concatenate(constant_value_as_shape(rows))
        return dataset._then(
            raw.DenseToSparseBatchDataset, SparseTensorSpec(static, spec.dtype), batch_size=batch_size, row_shape=rows
        )

    return apply


def prefetch_to_device(device, buffer_size=None):
    """The elements prepared ahead; all devices share one memory here.

    Args:
        device: The device.
        buffer_size: How many elements are ready; chosen if None.

    Returns:
        A function for `Dataset.apply`.

    Example:
        >>> dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.prefetch_to_device("/cpu:0"))
        >>> sess.run(dataset.make_one_shot_iterator().get_next())
        np.int64(0)
    """
    return lambda dataset: dataset.prefetch(buffer_size)


def copy_to_device(target_device, source_device="/cpu:0"):
    """The dataset itself: all devices share one memory here.

    Args:
        target_device: The device.
        source_device: The device it comes from.

    Returns:
        A function for `Dataset.apply`.

    Example:
        >>> dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.copy_to_device("/cpu:0"))
        >>> sess.run(dataset.make_one_shot_iterator().get_next())
        np.int64(0)
    """
    return lambda dataset: dataset


def bytes_produced_stats(tag):
    """The same dataset, whose elements' sizes are recorded under a tag.

    Args:
        tag: The name of the statistic.

    Returns:
        A function for `Dataset.apply`.

    Example:
        >>> dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.bytes_produced_stats("range"))
        >>> sess.run(dataset.make_one_shot_iterator().get_next())
        np.int64(0)
    """
    return lambda dataset: dataset._then(raw.BytesProducedStatsDataset, tag=convert_to_tensor(tag, dtypes.string))


def latency_stats(tag):
    """The same dataset, whose elements' times are recorded under a tag.

    Args:
        tag: The name of the statistic.

    Returns:
        A function for `Dataset.apply`.

    Example:
        >>> dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.latency_stats("range"))
        >>> sess.run(dataset.make_one_shot_iterator().get_next())
        np.int64(0)
    """
    return lambda dataset: dataset._then(raw.LatencyStatsDataset, tag=convert_to_tensor(tag, dtypes.string))
