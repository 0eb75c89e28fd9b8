"""`data_adapter` and `convert_to_generator_like`: what `fit` may be given, as a dataset or an iterator of batches."""

from __future__ import annotations

import abc
import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from everflow.data import Dataset
from everflow.framework import nest
from everflow.framework.composites import SparseTensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly
from everflow.framework.shapes import TensorShape
from everflow.keras.engine.data_checks import slice_arrays
from everflow.keras.utils.sequences import Sequence
from everflow.ops.ragged.tensor import RaggedTensor


class DataAdapter(abc.ABC):
    """Data of one kind, as a dataset of batches."""

    def __init__(self, x: Any, y: Any = None, **kwargs: Any) -> None:
        if not self.can_handle(x, y):
            raise ValueError(f"{type(self).__name__} can't take {_type_name(x)} and {_type_name(y)}")
        self._dataset: Dataset

    @staticmethod
    @abc.abstractmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether data is of this kind."""

    def get_dataset(self) -> Dataset:
        """The batches."""
        return self._dataset

    def get_size(self) -> int | None:
        """The number of batches, where it is known."""
        return None

    def batch_size(self) -> int | None:
        """The size of batches, where it is known."""
        return None

    def has_partial_batch(self) -> bool:
        """Whether the last batch is smaller."""
        return False

    def partial_batch_size(self) -> int | None:
        """The size of the last batch, where it is smaller."""
        return None

    def should_recreate_iterator(self, steps_per_epoch: int | None) -> bool:
        """Whether each epoch begins anew, rather than where the last one ended."""
        return self.get_size() is not None or steps_per_epoch is None


class _SlicedAdapter(DataAdapter):
    """Base of those that cut values of known length into batches."""

    _sizes_are_told = True

    def _cut(self, given, batch_size: int | None, shuffle: Any = False, steps: int | None = None) -> None:
        """Batches of arrays or tensors: of a size, or as many as are wanted."""
        given = tuple(_in_tuples(value) for value in given if not is_none_or_empty(value))
        self._samples = _length(nest.flatten(given)[0])
        self._batch_size = batch_size or (math.ceil(self._samples / steps) if steps else 32)
        self._size = math.ceil(self._samples / self._batch_size)
        whole = Dataset.from_tensor_slices(given)
        # Where all batches have a size, their type says it.
        size = min(self._batch_size, self._samples)
        dataset = whole.shuffle(self._samples) if shuffle else whole
        self._dataset = dataset.batch(size, drop_remainder=self._samples % size == 0 and self._sizes_are_told)

    def get_size(self) -> int:
        return self._size

    def batch_size(self) -> int:
        return self._batch_size

    def has_partial_batch(self) -> bool:
        return self._samples % self._batch_size != 0

    def partial_batch_size(self) -> int | None:
        return self._samples % self._batch_size or None


class TensorLikeDataAdapter(_SlicedAdapter):
    """Arrays and eager tensors, also in lists and dicts."""

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        flat = nest.flatten([x]) + (nest.flatten([y]) if y is not None else [])
        return all(isinstance(value, (np.ndarray, Tensor)) for value in flat)

    def __init__(self, x, y=None, sample_weights=None, batch_size=None, epochs=1, steps=None, shuffle=False, **kwargs):
        super().__init__(x, y)
        if not batch_size and not steps:
            raise ValueError("Arrays are cut into batches by a `batch_size`, or by a number of `steps`.")
        self._cut((x, y, sample_weights), batch_size, shuffle, steps)
        if epochs > 1:  # Each has a last batch of its own.
            self._dataset = self._dataset.repeat(epochs)

    def should_recreate_iterator(self, steps_per_epoch: int | None) -> bool:
        return False


class ListsOfScalarsDataAdapter(_SlicedAdapter):
    """Lists of numbers or strings, nested or not."""

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        of_y = True if y is None else ListsOfScalarsDataAdapter._is_list_of_scalars(y)
        return ListsOfScalarsDataAdapter._is_list_of_scalars(x) and of_y

    @staticmethod
    def _is_list_of_scalars(value: Any) -> bool:
        if isinstance(value, (float, int, str, bytes)):
            return True
        return isinstance(value, (list, tuple)) and ListsOfScalarsDataAdapter._is_list_of_scalars(value[0])

    def __init__(self, x, y=None, sample_weights=None, batch_size=None, shuffle=False, **kwargs):
        super().__init__(x, y)
        arrays = [None if value is None else np.asarray(value) for value in (x, y, sample_weights)]
        self._cut(arrays, batch_size, shuffle)


class CompositeTensorDataAdapter(_SlicedAdapter):
    """Sparse and ragged tensors, alone or beside others."""

    _sizes_are_told = False

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        flat = nest.flatten([x]) + (nest.flatten([y]) if y is not None else [])
        known = (np.ndarray, Tensor, SparseTensor, RaggedTensor)
        has_composites = any(isinstance(value, (SparseTensor, RaggedTensor)) for value in flat)
        return has_composites and all(isinstance(value, known) for value in flat)

    def __init__(self, x, y=None, sample_weights=None, batch_size=None, steps=None, shuffle=False, **kwargs):
        super().__init__(x, y)
        self._cut((x, y, sample_weights), batch_size, shuffle)


class DatasetAdapter(DataAdapter):
    """A dataset, as it is."""

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        return isinstance(x, Dataset)

    def __init__(self, x, y=None, sample_weights=None, **kwargs):
        super().__init__(x, y)
        _refuse_beside("a dataset", y, sample_weights)
        self._dataset = x


class _PeekingAdapter(DataAdapter):
    """Base of those whose first batch tells what all are like."""

    def _make_dataset(self, first: Any, batches: Callable[[], Iterator]) -> None:
        first = _as_batch(first)
        self._batch_size = int(np.shape(nest.flatten(first)[0])[0])
        types = nest.map_structure(lambda value: np.asarray(value).dtype, first)
        shapes = nest.map_structure(lambda value: TensorShape(np.shape(value)), first)
        made = Dataset.from_generator(lambda: map(_as_batch, batches()), types, output_shapes=shapes)
        self._dataset = made.prefetch(1)

    def batch_size(self) -> int:
        return self._batch_size


class GeneratorDataAdapter(_PeekingAdapter):
    """A generator of batches."""

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        return inspect.isgenerator(x)

    def __init__(
        self, x, y=None, sample_weights=None, workers=1, use_multiprocessing=False, max_queue_size=10, **kwargs
    ):
        super().__init__(x, y)
        _refuse_beside("a generator", y, sample_weights)
        first = next(x)

        def batches() -> Iterator:
            yield first
            yield from x

        self._make_dataset(first, batches)


class KerasSequenceAdapter(_PeekingAdapter):
    """A `Sequence`, over and over."""

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        return isinstance(x, Sequence)

    def __init__(self, x, y=None, sample_weights=None, shuffle=False, workers=1, **kwargs):
        super().__init__(x, y)
        _refuse_beside("a `Sequence`", y, sample_weights)
        self._size = len(x)

        def batches() -> Iterator:
            while True:
                order = np.random.permutation(len(x)) if shuffle else range(len(x))
                yield from (x[int(index)] for index in order)
                x.on_epoch_end()

        self._make_dataset(x[0], batches)

    def get_size(self) -> int:
        return self._size


ALL_ADAPTER_CLS = [
    ListsOfScalarsDataAdapter,
    TensorLikeDataAdapter,
    DatasetAdapter,
    GeneratorDataAdapter,
    KerasSequenceAdapter,
    CompositeTensorDataAdapter,
]


def select_data_adapter(x: Any, y: Any) -> type[DataAdapter]:
    """The adapter for data, which must be of one kind."""
    fitting = [cls for cls in ALL_ADAPTER_CLS if cls.can_handle(x, y)]
    if len(fitting) != 1:
        raise ValueError(f"There is no way to make batches of {_type_name(x)} and {_type_name(y)}")
    return fitting[0]


def is_none_or_empty(inputs: Any) -> bool:
    """Whether there is nothing."""
    return inputs is None or isinstance(inputs, (list, tuple, dict)) and not nest.flatten(inputs)


def _in_tuples(value: Any) -> Any:
    """Tuples in place of lists, which datasets take for arrays, and the only value of a dict in place of it."""
    if isinstance(value, list):
        return tuple(value)
    return next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value


def _refuse_beside(kind: str, y: Any, sample_weights: Any) -> None:
    if not is_none_or_empty(y) or not is_none_or_empty(sample_weights):
        raise ValueError(f"{kind} has targets and weights in its batches: none can be given beside it")


def _as_batch(batch: Any) -> Any:
    return tuple(nest.map_structure(np.asarray, list(batch))) if isinstance(batch, (tuple, list)) else np.asarray(batch)


def _length(value: Any) -> int:
    if isinstance(value, (SparseTensor, RaggedTensor)):
        return int(value.shape[0]) if isinstance(value, SparseTensor) else int(value.nrows())
    return int(value.shape[0])


def _type_name(x: Any) -> str:
    """The type of data, and of what is in lists and dicts."""
    if isinstance(x, (list, tuple)):
        return f"{type(x).__name__} of {sorted({_type_name(value) for value in x})}"
    if isinstance(x, dict):
        return f"dict of {sorted({_type_name(value) for value in x.values()})}"
    return type(x).__name__


# --- training_generator ------------------------------------------------------------------------


def convert_to_generator_like(
    data: Any, batch_size: int | None = None, steps_per_epoch: int | None = None, epochs: int = 1, shuffle: bool = False
) -> tuple[Any, int | None]:
    """(an iterator of batches or a Sequence, the batches in an epoch where they are known) for what `fit` may be given."""
    if isinstance(data, tuple):
        # What is left out at the end, as in (x, None, None), is not there.
        data = tuple(value for value in data if not all(v is None for v in nest.flatten(value)))
    if inspect.isgenerator(data) or isinstance(data, Sequence) or hasattr(data, "__next__"):
        return data, steps_per_epoch or (len(data) if isinstance(data, Sequence) else None)
    if isinstance(data, Dataset):
        if not executing_eagerly():
            raise TypeError("A dataset can be gone through where operations run at once; here it needs an iterator.")
        return iter(data), steps_per_epoch
    if not batch_size:
        raise ValueError("Arrays are cut into batches by a `batch_size`: it has to be said.")
    samples = int(nest.flatten(data)[0].shape[0])
    size = batch_size

    def batches() -> Iterator:
        for _ in range(epochs):
            order = np.arange(samples)
            if shuffle:
                np.random.shuffle(order)
            for start in range(0, samples, size):
                rows = slice_arrays(nest.flatten(data), order[start : start + size])
                yield nest.pack_sequence_as(data, rows)

    return batches(), math.ceil(samples / size)
