"""Arrays, iterators and frames as batches that are fed into placeholders."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from everflow.contrib.learn.tables import (
    extract_dask_data,
    extract_dask_labels,
    extract_pandas_data,
    extract_pandas_labels,
)
from everflow.framework import dtypes
from everflow.ops.array import placeholder


def _mapped(fn: Callable, values: Any, *others: Any) -> Any:
    """The function of a value, or of each of a dict's; None stays None."""
    if values is None:
        return None
    if isinstance(values, dict):
        return {
            key: fn(value, *(other[key] if isinstance(other, dict) else other for other in others))
            for key, value in values.items()
        }
    return fn(values, *others)


def _is_iterable(x: Any) -> bool:
    """Whether it is an iterator."""
    return hasattr(x, "next") or hasattr(x, "__next__")


def _check_dtype(dtype: Any) -> Any:
    """A type that tensors can have."""
    return dtype if dtypes.as_dtype(dtype) is not None else None


def _get_in_out_shape(x_shape: Any, y_shape: Any, n_classes: Any, batch_size: int | None = None) -> tuple:
    """(shape of a batch of x, of y, the size of the batch): classes are told by a row of numbers."""
    first = next(iter(x_shape.values())) if isinstance(x_shape, dict) else x_shape
    if batch_size is None:
        batch_size = first[0]

    def of_x(shape):
        return [batch_size, *(list(shape[1:]) or [1])]

    def of_y(shape, classes):
        inner = list(shape[1:])
        if inner == [1]:  # a column is taken for a vector
            inner = []
        return [batch_size, *inner, *([classes] if classes is not None and classes > 1 else [])]

    return _mapped(of_x, x_shape), _mapped(of_y, y_shape, n_classes), batch_size


def _data_type_filter(x: Any, y: Any) -> tuple:
    """Frames as arrays."""
    x = extract_pandas_data(extract_dask_data(x))
    return x, None if y is None else extract_pandas_labels(extract_dask_labels(y))


def check_array(array: Any, dtype: Any) -> np.ndarray:
    """The values as an array of a type."""
    return np.array(array, dtype=dtype, order=None, copy=None)


def _access(data: Any, iloc: Any) -> Any:
    """Rows of an array or of a frame."""
    return data.iloc[iloc] if hasattr(data, "iloc") else data[iloc]


def setup_train_data_feeder(
    x: Any, y: Any, n_classes: Any, batch_size: int | None = None, shuffle: bool = True, epochs: int | None = None
) -> DataFeeder:
    """What feeds x and y: from arrays, or from iterators, both of them."""
    x, y = _data_type_filter(x, y)
    if _is_iterable(x):
        if y is not None and not _is_iterable(y):
            raise ValueError("x is an iterator, so y must be an iterator as well")
        if batch_size is not None and batch_size <= 0:
            raise ValueError(f"Invalid batch_size {batch_size}.")
        return StreamingDataFeeder(x, y, n_classes, batch_size)
    return DataFeeder(x, y, n_classes, batch_size, shuffle, epochs=epochs)


def _batch_data(x: Iterator, batch_size: int | None = None) -> Iterator:
    """The elements of an iterator in batches; all in one without a size."""
    if batch_size is not None and batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")
    first = next(x, None)
    if first is None:
        return
    rest = itertools.chain([first], x)
    while chunk := list(itertools.islice(rest, batch_size)):
        if isinstance(first, dict):
            yield {key: np.matrix([element[key] for element in chunk]) for key in first}
        else:
            yield np.matrix(chunk)


def setup_predict_data_feeder(x: Any, batch_size: int | None = None) -> Any:
    """The batches of what is predicted from: a list, or an iterator where x is one."""
    x, _ = _data_type_filter(x, None)
    if _is_iterable(x):
        return _batch_data(x, batch_size)
    if len(x.shape) == 1:
        x = np.reshape(x, (-1, 1))
    if batch_size is None:
        return [x]
    if batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")
    return [x[i * batch_size : (i + 1) * batch_size] for i in range(math.ceil(len(x) / batch_size))]


def setup_processor_data_feeder(x: Any) -> Any:
    """What processors of data take: arrays for frames."""
    return extract_pandas_data(x)


def _one_hot(labels: np.ndarray, classes: int, dtype: Any) -> np.ndarray:
    """A row of zeros with a one at the class of each label."""
    return (np.arange(classes) == np.asarray(labels, np.int64)[..., None]).astype(dtype)


class DataFeeder:
    """Feeds batches of arrays, or dicts of arrays, over and over, or so many epochs."""

    def __init__(
        self,
        x: Any,
        y: Any,
        n_classes: Any,
        batch_size: int | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        epochs: int | None = None,
    ):
        if isinstance(y, dict) != isinstance(n_classes, dict) and y is not None and n_classes is not None:
            raise ValueError("y and n_classes must both be dicts, or neither")
        self.n_classes = n_classes
        self.max_epochs = epochs
        self._x = _mapped(lambda array: check_array(array, getattr(array, "dtype", None)), x)
        self._y = _mapped(self._labels, y, n_classes)
        # Where labels are a dict, their types are told as those of single numbers.
        as_floats = isinstance(n_classes, dict)
        self._output_dtype = _mapped(lambda array: np.float32 if as_floats else array.dtype, self._y)
        self._input_dtype = _mapped(lambda array: array.dtype, self._x)
        self.input_shape, self.output_shape, self._batch_size = _get_in_out_shape(
            _mapped(np.shape, self._x), _mapped(np.shape, self._y), n_classes, batch_size
        )
        self._shuffle = shuffle
        self.random_state = np.random.RandomState(42) if random_state is None else random_state
        self._count = len(next(iter(self._x.values())) if isinstance(self._x, dict) else self._x)
        self.indices = self._order()
        self.offset = self.epoch = 0
        self._epoch_placeholder = self._input_placeholder = self._output_placeholder = None

    x = property(lambda self: self._x)
    y = property(lambda self: self._y)
    shuffle = property(lambda self: self._shuffle)
    input_dtype = property(lambda self: self._input_dtype)
    output_dtype = property(lambda self: self._output_dtype)
    batch_size = property(lambda self: self._batch_size)

    @staticmethod
    def _labels(array, classes):
        if classes is None:
            return check_array(array, getattr(array, "dtype", None))
        return check_array(array, np.int64 if classes > 1 else np.float32)

    def _order(self):
        return self.random_state.permutation(self._count) if self._shuffle else np.array(range(self._count))

    def make_epoch_variable(self) -> Any:
        """The placeholder that the number of the epoch is fed to."""
        self._epoch_placeholder = placeholder(dtypes.int32, [1], name="epoch")
        return self._epoch_placeholder

    def input_builder(self) -> tuple:
        """(placeholders of x, of y), as `get_feed_dict_fn` feeds them."""

        def made(shape, dtype, prefix):
            if shape is None:
                return None
            if isinstance(shape, dict):
                return {key: made(shape[key], dtype[key], f"{prefix}_{key}") for key in shape}
            kind = dtypes.string if np.dtype(dtype).kind in "OU" else dtypes.as_dtype(dtype)
            return placeholder(kind, [None, *shape[1:]], name=prefix)

        if self._input_placeholder is None:
            self._input_placeholder = made(self.input_shape, self._input_dtype, "input")
        if self._output_placeholder is None:
            self._output_placeholder = made(self.output_shape, self._output_dtype, "output")
        return self._input_placeholder, self._output_placeholder

    def set_placeholders(self, input_placeholder: Any, output_placeholder: Any) -> None:
        """Feed to these."""
        self._input_placeholder, self._output_placeholder = input_placeholder, output_placeholder

    def get_feed_params(self) -> dict:
        """How far it is."""
        return {"epoch": self.epoch, "offset": self.offset, "batch_size": self._batch_size}

    def _feeds(self, x, y):
        """{name of a placeholder: values}."""
        feeds = {}
        if self._epoch_placeholder is not None:
            feeds[self._epoch_placeholder.name] = [self.epoch]
        for tensors, values in ((self._input_placeholder, x), (self._output_placeholder, y)):
            if isinstance(tensors, dict):
                feeds.update({tensor.name: values[key] for key, tensor in tensors.items()})
            elif tensors is not None:
                feeds[tensors.name] = values
        return feeds

    def get_feed_dict_fn(self) -> Callable:
        """A function that returns what is fed for one batch; it raises StopIteration after the last epoch."""

        def rows(array, dtype):
            taken = _access(array, self._rows)
            return taken.reshape(-1, 1) if taken.ndim == 1 else taken

        def labels(array, dtype, classes):
            taken = _access(array, self._rows)
            if classes is not None and classes > 1:
                return _one_hot(np.reshape(taken, [len(taken)]) if taken.ndim > 1 else taken, classes, dtype)
            if taken.ndim > 1 and taken.shape[-1] == 1:
                taken = taken.reshape(taken.shape[:-1])
            return taken.astype(dtype)

        def feed():
            if self.max_epochs is not None and self.epoch + 1 > self.max_epochs:
                raise StopIteration
            self._rows = self.indices[self.offset : self.offset + self._batch_size]
            x = _mapped(rows, self._x, self._input_dtype)
            y = _mapped(labels, self._y, self._output_dtype, self.n_classes)
            feeds = self._feeds(x, y)
            self.offset += len(self._rows)
            if self.offset >= self._count:
                self.indices, self.offset = self._order(), 0
                self.epoch += 1
            return feeds

        return feed


class StreamingDataFeeder(DataFeeder):
    """Feeds what iterators give."""

    def __init__(self, x: Iterator, y: Iterator | None, n_classes: Any, batch_size: int | None):
        first = next(x)
        self._x = itertools.chain([first], x)
        first_label = None
        self._y = y
        if y is not None:
            first_label = next(y)
            self._y = itertools.chain([first_label], y)
        self.n_classes = n_classes

        def shape(element):
            return [1, *np.shape(element)]

        self.input_shape, self.output_shape, self._batch_size = _get_in_out_shape(
            _mapped(shape, first), _mapped(shape, first_label), n_classes, batch_size
        )
        self._input_dtype = _mapped(lambda element: np.asarray(element).dtype, first)

        def label_dtype(element, classes):
            return np.asarray(element).dtype if classes is None else np.float32

        self._output_dtype = _mapped(label_dtype, first_label, n_classes)
        if y is None and n_classes is not None:
            self._output_dtype = np.float32
        self._shuffle = False
        self.stopped = False
        self.offset = self.epoch = 0
        self._epoch_placeholder = self._input_placeholder = self._output_placeholder = None

    def get_feed_params(self) -> dict:
        """How many are fed at once."""
        return {"batch_size": self._batch_size}

    def get_feed_dict_fn(self) -> Callable:
        """A function that returns what is fed for one batch; it raises StopIteration where there are no more."""

        def inputs(elements, dtype, shape):
            return np.reshape(np.asarray(elements, dtype), [len(elements), *shape[1:]])

        def labels(elements, dtype, shape, classes):
            if classes is not None and classes > 1:
                return _one_hot(np.reshape(elements, [len(elements), *shape[1:-1]]), classes, dtype)
            return np.reshape(np.asarray(elements, dtype), [len(elements), *shape[1:]])

        def gathered(elements):
            if isinstance(elements[0], dict):
                return {key: [element[key] for element in elements] for key in elements[0]}
            return elements

        def feed():
            if self.stopped:
                raise StopIteration
            elements = list(itertools.islice(self._x, self._batch_size))
            self.stopped = len(elements) < self._batch_size
            if not elements:
                raise StopIteration
            x = _mapped(inputs, gathered(elements), self._input_dtype, self.input_shape)
            y = None
            if self._y is not None:
                given = gathered(list(itertools.islice(self._y, len(elements))))
                y = _mapped(labels, given, self._output_dtype, self.output_shape, self.n_classes)
            return self._feeds(x, y)

        return feed


class DaskDataFeeder:
    """Feeds samples of Dask frames."""

    def __init__(
        self,
        x: Any,
        y: Any,
        n_classes: Any,
        batch_size: int,
        shuffle: bool = True,
        random_state: Any = None,
        epochs: int | None = None,
    ):
        self._x, self._y, self.n_classes, self._batch_size = x, y, n_classes, batch_size
        self._x_columns = list(x.columns)
        self.sample_fraction = batch_size / float(x.count().compute().iloc[0])
        self.random_state = 42 if random_state is None else random_state

    def get_feed_params(self) -> dict:
        """How many are fed at once."""
        return {"batch_size": self._batch_size}

    def get_feed_dict_fn(self, input_placeholder: Any, output_placeholder: Any) -> Callable:
        """A function that returns what is fed for one batch."""

        def feed():
            parts = [self.sample_fraction, 1 - self.sample_fraction]
            x, y = (
                data.random_split(parts, random_state=self.random_state)[0].compute() for data in (self._x, self._y)
            )
            self.random_state += 1
            labels = np.asarray(y)[..., 0] if np.ndim(y) > 1 else np.asarray(y)
            if self.n_classes is not None and self.n_classes > 1:
                labels = _one_hot(labels, self.n_classes, np.float32)
            return {input_placeholder.name: np.asarray(x), output_placeholder.name: labels}

        return feed
