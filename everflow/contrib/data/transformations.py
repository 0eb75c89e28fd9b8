"""The transformations that tf.contrib.data alone has."""

from __future__ import annotations

from everflow.contrib.framework.tensors import with_shape
from everflow.data import structure
from everflow.data.experimental import Reducer, make_batched_features_dataset, parallel_interleave
from everflow.data.files import TFRecordDatasetV1
from everflow.framework import dtypes, nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.shapes import TensorShape
from everflow.platform import logging


def batch_and_drop_remainder(batch_size):
    """`batch` without a last, smaller one."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size, padded_shapes, padding_values=None):
    """`padded_batch` without a last, smaller one."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def sloppy_interleave(map_func, cycle_length, block_length=1):
    """`parallel_interleave` in whatever order comes fastest."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def sliding_window_batch(window_size, stride=None, window_shift=None, window_stride=1):
    """Overlapping batches: each starts `window_shift` elements later and takes every `window_stride`-th.

    >>> tf.data.Dataset.range(5).apply(tf.contrib.data.sliding_window_batch(3))  # [0, 1, 2], [1, 2, 3], [2, 3, 4]
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    if stride is not None:
        logging.warning("stride is called window_shift now")
    shift = next((given for given in (stride, window_shift) if given is not None), 1)

    def apply(dataset):
        size = convert_to_tensor(window_size, dtypes.int64, name="window_stride")
        step = convert_to_tensor(window_stride, dtypes.int64, name="window_stride")
        by = convert_to_tensor(shift, dtypes.int64, name="window_shift")
        spec = structure.batch(dataset.element_spec, None)
        return dataset._then(raw.SlidingWindowDataset, spec, window_size=size, window_shift=by, window_stride=step)

    return apply


def reduce_dataset(dataset, reducer):
    """The state that a `Reducer` comes to after all elements."""
    if not isinstance(reducer, Reducer):
        raise TypeError("`reducer` must be an instance of tf.contrib.data.Reducer.")
    return dataset.reduce(reducer.init_func(0), reducer.reduce_func)


def assert_element_shape(expected_shapes):
    """Check, for each element, that its tensors have these shapes; they are known to have them afterwards."""

    def _merge(expected, shape):
        if not shape.is_compatible_with(expected):
            raise ValueError(f"Shapes {shape} and {expected} are not compatible")

    def _check_shape(*elements):
        flat = nest.flatten(elements)
        shapes = map(TensorShape, nest.flatten(expected_shapes))
        sizes = [None if s.ndims is None else [-1 if side is None else side for side in s.as_list()] for s in shapes]
        checked = [t if size is None else with_shape(size, t) for size, t in zip(sizes, flat, strict=True)]
        if len(elements) > 1:
            return nest.pack_sequence_as(elements, checked)
        return checked[0] if len(checked) == 1 else elements[0]

    def apply(dataset):
        nest.assert_same_structure(expected_shapes, dataset.output_shapes)
        for expected, shape in zip(nest.flatten(expected_shapes), nest.flatten(dataset.output_shapes), strict=True):
            _merge(TensorShape(expected), shape)
        return dataset.map(_check_shape)

    return apply


def read_batch_features(
    file_pattern,
    batch_size,
    features,
    reader=TFRecordDatasetV1,
    reader_args=None,
    randomize_input=True,
    num_epochs=None,
    capacity=10000,
):
    """Batches of parsed examples of some files, as tensors."""
    given = {"reader": reader, "reader_args": reader_args, "shuffle": randomize_input, "num_epochs": num_epochs}
    given["shuffle_buffer_size"] = capacity
    dataset = make_batched_features_dataset(file_pattern, batch_size, features, **given)
    return dataset.make_one_shot_iterator().get_next()
