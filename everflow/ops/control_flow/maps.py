"""`map_fn`, `scan`, `foldl`, `foldr`: a function applied along the first dimension of tensors, as a loop."""

from __future__ import annotations

import contextlib

from everflow.framework import nest
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import Dimension, TensorShape
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.loops import while_loop
from everflow.ops.tensor_arrays.tensor_array import TensorArray
from everflow.ops.variables.scope import get_variable_scope


@contextlib.contextmanager
def _cached_variables():
    """Variables that the function gets are read once, not in each iteration."""
    scope = get_variable_scope()
    was_none = scope.caching_device is None
    if was_none:
        scope.set_caching_device(lambda op: op.device)
    try:
        yield
    finally:
        if was_none:
            scope.set_caching_device(None)


def _length(tensor):
    """How many elements a tensor has along its first dimension: a number where it is known."""
    return tensor.shape.size(0) or array.shape(tensor)[0]


def _stacked(arrays, tensors):
    """The results as tensors, as long as the elements are known to be."""
    results = [a.stack() for a in arrays]
    length = Dimension(None)
    for tensor in tensors:
        length = length.merge_with(tensor.shape.with_rank_at_least(1)[0])
    for result in results:
        result.set_shape(TensorShape([length]).concatenate(result.shape[1:]))
    return results


def map_fn(
    fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, name=None
):
    """`fn` applied to each element of `elems` (a tensor or a structure of them) along the first dimension.

    Args:
        fn: The function of an element.
        elems: The elements: a tensor, or a structure of them.
        dtype: The type, or structure of types, of what `fn` returns, where it is not that of `elems`.
        parallel_iterations: How many rounds may be under way at the same time; 10 if None, 1 when executing eagerly.
        back_prop: Whether gradients can be taken through it.
        swap_memory: Whether values kept for the gradient may move to the host's memory; memory is the host's already.
        infer_shape: Whether all results have the same shape.
        name: The name of the operation in the graph.

    Returns:
        The results, stacked along the first axis.

    Raises:
        TypeError: If `fn` is no function, or the types don't fit.
        ValueError: If the elements have no first axis, or of different lengths.

    Example:
        >>> sess.run(tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3])))
        array([1, 4, 9], dtype=int32)
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    if isinstance(elems, SparseTensor):
        raise TypeError(
            "map_fn can't take a SparseTensor: map over its values, and make one of the result with the same indices and dense_shape"
        )
    flat = nest.flatten(elems)
    with name_scope(name, "map", flat), _cached_variables():
        flat = [convert_to_tensor(e, name="elem") for e in flat]
        dtypes = nest.flatten(dtype) if dtype is not None else [t.dtype for t in flat]
        like = dtype if dtype is not None else elems
        if flat[0].shape.rank is not None and flat[0].shape.rank < 1:
            several = nest.is_sequence(elems)
            raise ValueError(
                "The tensors in elems must have at least one dimension to go along, and are not scalars"
                if several
                else "elems must have at least one dimension to go along, and is not a scalar"
            )
        count = _length(flat[0])
        arrays = [TensorArray(t.dtype, size=count, dynamic_size=False, infer_shape=True) for t in flat]
        arrays = [a.unstack(t) for a, t in zip(arrays, flat)]
        start = constant(0)
        results = [TensorArray(t, size=count, dynamic_size=False, infer_shape=infer_shape) for t in dtypes]

        def compute(i, outputs):
            values = nest.pack_sequence_as(elems, [a.read(i) for a in arrays])
            made = fn(values)
            nest.assert_same_structure(like, made)
            outputs = [a.write(i, value) for a, value in zip(outputs, nest.flatten(made))]
            return i + 1, outputs

        _, results = while_loop(
            lambda i, _: i < count,
            compute,
            (start, results),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return nest.pack_sequence_as(like, _stacked(results, flat))


def scan(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    reverse=False,
    name=None,
):
    """All values of `a = fn(a, element)`, going along the first dimension of `elems`; without an initializer from the
    first element.

    Args:
        fn: The function of the value so far and an element.
        elems: The elements: a tensor, or a structure of them.
        initializer: The first value; the first element if None.
        parallel_iterations: How many rounds may be under way at the same time.
        back_prop: Whether gradients can be taken through it.
        swap_memory: Whether values kept for the gradient may move to the host's memory; memory is the host's already.
        infer_shape: Whether all values have the same shape.
        reverse: Whether to go from the last element to the first.
        name: The name of the operation in the graph.

    Returns:
        The values, stacked along the first axis.

    Raises:
        TypeError: If `fn` is no function.
        ValueError: If the elements have different lengths.

    Example:
        >>> sess.run(tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3])))
        array([1, 3, 6], dtype=int32)
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    flat = nest.flatten(elems)
    like = elems if initializer is None else initializer
    with name_scope(name, "scan", flat), _cached_variables():
        flat = [convert_to_tensor(e, name="elem") for e in flat]
        count = _length(flat[0])
        arrays = [
            TensorArray(t.dtype, size=count, dynamic_size=False, element_shape=t.shape[1:], infer_shape=True)
            for t in flat
        ]
        arrays = [a.unstack(t) for a, t in zip(arrays, flat)]
        if initializer is None:
            values, done = [a.read(count - 1 if reverse else 0) for a in arrays], 1
        else:
            values, done = [convert_to_tensor(v) for v in nest.flatten(initializer)], 0
        results = [
            TensorArray(
                v.dtype,
                size=count,
                element_shape=v.shape if infer_shape else None,
                dynamic_size=False,
                infer_shape=infer_shape,
            )
            for v in values
        ]
        if initializer is None:
            results = [a.write(count - 1 if reverse else 0, v) for a, v in zip(results, values)]

        def compute(i, values, outputs):
            element = nest.pack_sequence_as(elems, [a.read(i) for a in arrays])
            made = fn(nest.pack_sequence_as(like, values), element)
            nest.assert_same_structure(like, made)
            made = nest.flatten(made)
            outputs = [a.write(i, value) for a, value in zip(outputs, made)]
            return i - 1 if reverse else i + 1, made, outputs

        _, _, results = while_loop(
            (lambda i, _1, _2: i >= 0) if reverse else (lambda i, _1, _2: i < count),
            compute,
            (count - 1 - done if reverse else done, values, results),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return nest.pack_sequence_as(like, _stacked(results, flat))


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """The last value of `a = fn(a, element)`, going along the first dimension of `elems` from its start.

    Args:
        fn: The function of the value so far and an element.
        elems: The elements: a tensor, or a structure of them.
        initializer: The first value; the first element if None.
        parallel_iterations: How many rounds may be under way at the same time.
        back_prop: Whether gradients can be taken through it.
        swap_memory: Whether values kept for the gradient may move to the host's memory; memory is the host's already.
        name: The name of the operation in the graph.

    Returns:
        The last value.

    Example:
        >>> sess.run(tf.foldl(lambda a, x: 10 * a + x, tf.constant([1, 2, 3])))
        np.int32(123)
    """
    return _fold("foldl", fn, elems, initializer, name, parallel_iterations, back_prop, swap_memory)


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """The last value of `a = fn(a, element)`, going along the first dimension of `elems` from its end.

    Args:
        fn: The function of the value so far and an element.
        elems: The elements: a tensor, or a structure of them.
        initializer: The first value; the last element if None.
        parallel_iterations: How many rounds may be under way at the same time.
        back_prop: Whether gradients can be taken through it.
        swap_memory: Whether values kept for the gradient may move to the host's memory; memory is the host's already.
        name: The name of the operation in the graph.

    Returns:
        The last value.

    Example:
        >>> sess.run(tf.foldr(lambda a, x: 10 * a + x, tf.constant([1, 2, 3])))
        np.int32(321)
    """
    return _fold("foldr", fn, elems, initializer, name, parallel_iterations, back_prop, swap_memory)


def _fold(kind, fn, elems, initializer, name, parallel_iterations, back_prop, swap_memory):
    if not callable(fn):
        raise TypeError("fn must be callable.")
    from_end = kind == "foldr"
    with name_scope(name, kind, nest.flatten(elems)), _cached_variables():
        flat = [convert_to_tensor(e, name="elem") for e in nest.flatten(elems)]
        count = _length(flat[0])
        arrays = [TensorArray(t.dtype, size=count, dynamic_size=False, infer_shape=True).unstack(t) for t in flat]

        def element(i):
            return nest.pack_sequence_as(elems, [a.read(i) for a in arrays])

        def step(i, a):
            if from_end:
                i -= 1
                return [i, fn(a, element(i))]
            a = fn(a, element(i))
            return [i + 1, a]

        if initializer is not None:
            start, value = count if from_end else constant(0), initializer
        elif from_end:
            start = count - 1
            value = element(start)
        else:
            value, start = element(0), constant(1)
        _, value = while_loop(
            lambda i, a: i > 0 if from_end else i < count,
            step,
            [start, value],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return value
