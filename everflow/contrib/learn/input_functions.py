"""Input functions over arrays, frames and generators; they shuffle unless they are told not to."""

from __future__ import annotations

import types
from collections.abc import Container

import numpy as np

from everflow.estimator import inputs
from everflow.estimator.inputs.feeding import FeedingQueueRunner, dequeue_batch
from everflow.framework import dtypes, errors
from everflow.framework.scopes import name_scope
from everflow.ops.array.constants import placeholder
from everflow.ops.queues.queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from everflow.train.queue_runner import add_queue_runner


def numpy_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=True, queue_capacity=1000, num_threads=1):
    """An input function over arrays."""
    return inputs.numpy_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads)


def pandas_input_fn(
    x, y=None, batch_size=128, num_epochs=1, shuffle=True, queue_capacity=1000, num_threads=1, target_column="target"
):
    """An input function over frames."""
    return inputs.pandas_input_fn(
        x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads, target_column=target_column
    )


class _Rows:
    """Called again and again, gives the next elements of a generator, which is begun anew for each epoch."""

    def __init__(self, placeholders, generate, keys, size, num_epochs, pad_value):
        self._placeholders, self._generate, self._keys = placeholders, generate, keys
        self._size, self._epochs, self._pad_value = size, num_epochs, pad_value
        self._elements = generate()
        self._epoch = self._number = 0

    def _is_over(self):
        return self._epochs is not None and self._epoch >= self._epochs

    def _next(self):
        element = next(self._elements, None)
        if element is None:
            self._epoch += 1
            self._elements = self._generate()
            element = next(self._elements)
        wrong = set(element) ^ set(self._keys)
        if wrong:
            raise KeyError(f"The generator's dicts differ in their keys: {sorted(wrong)}")
        self._number += 1
        return element

    def _stacked(self, values):
        """The values as they go into the queue: of one shape, where they may be completed."""
        arrays = [np.asarray(value) for value in values]
        if self._pad_value is None:
            return arrays
        sizes = np.max([array.shape for array in arrays], axis=0)
        missing = [[(0, int(whole) - own) for whole, own in zip(sizes, array.shape, strict=True)] for array in arrays]
        return [
            np.pad(array, sides, constant_values=self._pad_value) for array, sides in zip(arrays, missing, strict=True)
        ]

    def __call__(self):
        if self._is_over():
            raise errors.OutOfRangeError(None, None, "The generator has given all its elements.")
        elements = []
        # That an epoch is over shows only when the next has begun: its first element comes, too, as in TensorFlow.
        while len(elements) < self._size and not (elements and self._is_over()):
            elements.append(self._next())
        numbers = list(range(self._number - len(elements), self._number))
        columns = [self._stacked([element[key] for element in elements]) for key in self._keys]
        return dict(zip(self._placeholders, [numbers, *columns], strict=True))


def generator_input_fn(
    x,
    target_key=None,
    batch_size=128,
    num_epochs=1,
    shuffle=True,
    queue_capacity=1000,
    num_threads=1,
    pad_value=None,
):
    """An input function over a function that generates dicts of arrays.

    Args:
        x: A function without arguments that returns a generator.
        target_key: The key of the labels, or several.
        batch_size: How many elements make a batch.
        num_epochs: How often to generate; for ever if None.
        shuffle: Whether the order is random.
        queue_capacity: The most elements that wait.
        num_threads: How many threads work at it.
        pad_value: What completes elements of different sizes.
    """
    if not isinstance(x, types.FunctionType):
        raise TypeError(f"x must be generator function; got {type(x).__name__}")
    generated = x()
    if not isinstance(generated, types.GeneratorType):
        raise TypeError(f"x() must be generator; got {type(generated).__name__}")
    first = next(generated)
    if not isinstance(first, dict):
        raise TypeError(f"x() must yield dict; got {type(first).__name__}")
    keys = sorted(first)
    targets = [target_key] if isinstance(target_key, str) else target_key
    if target_key is not None:
        if not isinstance(target_key, (str, Container)):
            raise TypeError(f"target_key must be string or Container of strings; got {type(target_key).__name__}")
        for key in targets:
            if not isinstance(key, str):
                raise TypeError(f"target_key must be string or Container of strings; got one of {type(key).__name__}")
            if key not in keys:
                raise KeyError(f"target_key not in yielded dict: {key!r} is not among {keys}")

    def input_fn():
        with name_scope("enqueue_input"):
            examples = [np.asarray(first[key]) for key in keys]
            kinds = [dtypes.int64, *(dtypes.as_dtype(example.dtype) for example in examples)]
            shapes = [(), *((None,) * example.ndim if pad_value is not None else example.shape for example in examples)]
            if pad_value is not None:
                queue = PaddingFIFOQueue(queue_capacity, dtypes=kinds, shapes=shapes)
            elif shuffle:
                queue = RandomShuffleQueue(queue_capacity, queue_capacity // 4, dtypes=kinds, shapes=shapes)
            else:
                queue = FIFOQueue(queue_capacity, dtypes=kinds, shapes=shapes)
            enqueue_ops, feed_fns = [], []
            for _ in range(num_threads):
                placeholders = [placeholder(kind) for kind in kinds]
                enqueue_ops.append(queue.enqueue_many(placeholders))
                feed_fns.append(_Rows(placeholders, x, keys, batch_size, num_epochs, pad_value))
            add_queue_runner(FeedingQueueRunner(queue, enqueue_ops, feed_fns=feed_fns))
        features = dict(zip(keys, dequeue_batch(queue, batch_size, num_epochs), strict=True))
        if target_key is None:
            return features
        if len(targets) > 1:
            return features, {key: features.pop(key) for key in targets}
        return features, features.pop(targets[0])

    return input_fn
