"""Elements grouped by a key: windows, buckets by length, reductions of each group."""

from __future__ import annotations

import numpy as np

from everflow.data import structure
from everflow.data.dataset import DatasetSpec
from everflow.data.functions import StructuredFunction
from everflow.data.stateful import drawn_with_state
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import get_default_graph, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec
from everflow.ops import array, math
from everflow.ops.array import constants
from everflow.ops.checks import values as check
from everflow.platform.signatures import takes

_KEY = TensorSpec([], dtypes.int64)


def _named(**functions):
    """Functions of an op as its arguments: each with the tensors that it captured."""
    captured = {f"{name}_other_arguments": function.captured_inputs for name, function in functions.items()}
    return {**captured, **functions}


def group_by_window(key_func, reduce_func, window_size=None, window_size_func=None):
    """Windows of elements that have the same key, each made a dataset by `reduce_func(key, window)`.

    Args:
        key_func: A function of an element that gives its key, an int64.
        reduce_func: A function of the key and a Dataset that gives a Dataset.
        window_size: The most elements of a window.
        window_size_func: A function of the key that gives it.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        TypeError: If `reduce_func` gives no Dataset.
        ValueError: If both or neither of the sizes are given.

    Example:
        >>> windows = tf.data.experimental.group_by_window(lambda x: x % 2, lambda key, window: window.batch(3), 3)
        >>> element = tf.data.Dataset.range(6).apply(windows).make_one_shot_iterator().get_next()
        >>> sess.run(element), sess.run(element)
        (array([0, 2, 4]), array([1, 3, 5]))
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError(
            f"group_by_window needs one of window_size ({window_size}) and window_size_func ({window_size_func}), not both"
        )
    size_of = (
        (lambda key: convert_to_tensor(window_size, dtypes.int64)) if window_size is not None else window_size_func
    )

    def apply(dataset):
        where = "tf.data.experimental.group_by_window()"

        def key_func_wrapper(*element):
            return convert_to_tensor(key_func(*element), dtypes.int64)

        def window_size_func_wrapper(key):
            return convert_to_tensor(size_of(key), dtypes.int64)

        keys = StructuredFunction(key_func_wrapper, where, dataset.element_spec)
        keys.check_returns_scalar("key_func", dtypes.int64)
        reduced = StructuredFunction(reduce_func, where, (_KEY, DatasetSpec(dataset.element_spec)))
        if not isinstance(reduced.output_structure, DatasetSpec):
            raise TypeError("`reduce_func` must return a `Dataset` object.")
        sizes = StructuredFunction(window_size_func_wrapper, where, _KEY)
        sizes.check_returns_scalar("window_size_func", dtypes.int64)
        functions = _named(key_func=keys, reduce_func=reduced, window_size_func=sizes)
        return dataset._then(raw.GroupByWindowDataset, reduced.output_structure.element_spec, **functions)

    return apply


@takes(
    """element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None, padding_values=None,
    pad_to_bucket_boundary=False, no_padding=False, drop_remainder=False"""
)
def bucket_by_sequence_length(
    element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values, **choices
):
    """Batches of elements of similar length, padded.

    Args:
        element_length_func: A function of an element that gives its length, an int32.
        bucket_boundaries: The lengths at which a bucket ends and the next begins.
        bucket_batch_sizes: The size of a batch in each bucket, one more.
        padded_shapes: The shapes that elements are padded to; the largest of a batch if None.
        padding_values: What they are padded with; zeros if None.
        pad_to_bucket_boundary: Whether elements are padded to the bucket's greatest length.
        no_padding: Whether they are not padded, but made sparse.
        drop_remainder: Whether a last batch that isn't full is left out.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        ValueError: If there isn't one size more than boundaries.

    Example:
        >>> dataset = tf.data.Dataset.range(1, 5).map(lambda n: tf.fill([n], n))
        >>> buckets = tf.data.experimental.bucket_by_sequence_length(lambda x: tf.size(x), [3], [2, 2])
        >>> sess.run(dataset.apply(buckets).make_one_shot_iterator().get_next())
        array([[1, 0],
               [2, 2]])
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError(
            f"{len(bucket_boundaries)} bucket_boundaries make {len(bucket_boundaries) + 1} buckets, but there are "
            f"{len(bucket_batch_sizes)} bucket_batch_sizes"
        )
    with name_scope("bucket_by_seq_length"):
        batch_sizes = constants.constant(bucket_batch_sizes, dtype=dtypes.int64)

        def element_to_bucket_id(*element):
            length = element_length_func(*element)
            boundaries = list(bucket_boundaries)
            limits = np.iinfo(np.int32)
            inside = math.logical_and(
                math.less_equal([limits.min, *boundaries], length), math.less(length, [*boundaries, limits.max])
            )
            return math.reduce_min(array.where(inside))

        def window_size_fn(bucket):
            return batch_sizes[bucket]

        def batching_fn(bucket, window):
            size = window_size_fn(bucket)
            drop_remainder = choices["drop_remainder"]
            if choices["no_padding"]:
                return window.batch(size, drop_remainder=drop_remainder)
            shapes = padded_shapes if padded_shapes is not None else window.output_shapes
            if choices["pad_to_bucket_boundary"]:
                last = constants.constant(len(bucket_batch_sizes) - 1, dtype=dtypes.int64)
                message = "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
                known = check.assert_less(bucket, last, message=message)
                with get_default_graph().control_dependencies([known]):
                    boundary = constants.constant(bucket_boundaries, dtype=dtypes.int64)[bucket] - 1
                shapes = structure.map_nest(lambda s: _bounded(s, boundary), shapes)
            return window.padded_batch(size, shapes, padding_values, drop_remainder=drop_remainder)

        def apply(dataset):
            return dataset.apply(group_by_window(element_to_bucket_id, batching_fn, window_size_func=window_size_fn))

        return apply


def _bounded(shape, boundary):
    """A shape whose unknown sizes are the bucket's boundary."""
    sizes = [boundary if d is None else d for d in TensorShape(shape).as_list()]
    return convert_to_tensor(sizes, dtypes.int64) if sizes else TensorShape([])


class Reducer:
    """How the elements of a group become one: `init_func(key)`, `reduce_func(state, element)`, `finalize_func(state)`.

    Args:
        init_func: A function of the key that gives the first state.
        reduce_func: A function of state and element that gives the next state.
        finalize_func: A function of the last state.

    Example:
        >>> count = tf.data.experimental.Reducer(lambda key: np.int64(0), lambda n, x: n + 1, lambda n: n)
        >>> dataset = tf.data.Dataset.range(5).apply(tf.data.experimental.group_by_reducer(lambda x: x % 2, count))
        >>> element = dataset.make_one_shot_iterator().get_next()
        >>> sess.run(element), sess.run(element)
        (np.int64(3), np.int64(2))
    """

    def __init__(self, init_func, reduce_func, finalize_func):
        self._functions = (init_func, reduce_func, finalize_func)

    init_func = property(lambda self: self._functions[0])
    reduce_func = property(lambda self: self._functions[1])
    finalize_func = property(lambda self: self._functions[2])


def group_by_reducer(key_func, reducer):
    """One element for each key: what a Reducer makes of those that have it.

    Args:
        key_func: A function of an element that gives its key, an int64.
        reducer: The `Reducer`.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        TypeError: If the types of the state change.

    Example:
        >>> total = tf.data.experimental.Reducer(lambda key: np.int64(0), lambda n, x: n + x, lambda n: n)
        >>> dataset = tf.data.Dataset.range(5).apply(tf.data.experimental.group_by_reducer(lambda x: x % 2, total))
        >>> element = dataset.make_one_shot_iterator().get_next()
        >>> sess.run(element), sess.run(element)
        (np.int64(6), np.int64(4))
    """

    def apply(dataset):
        where = "tf.data.experimental.group_by_reducer()"
        keys = StructuredFunction(key_func, where, dataset.element_spec)
        keys.check_returns_scalar("key_func", dtypes.int64)
        initial = StructuredFunction(reducer.init_func, where, _KEY)
        reduced, state = drawn_with_state(
            reducer.reduce_func, where, initial.output_structure, dataset.element_spec, lambda found: found
        )
        final = StructuredFunction(reducer.finalize_func, where, state)
        functions = _named(key_func=keys, init_func=initial, reduce_func=reduced, finalize_func=final)
        return dataset._then(raw.ExperimentalGroupByReducerDataset, final.output_structure, **functions)

    return apply
