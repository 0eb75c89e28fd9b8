"""Part of `tensorflow.python.keras.engine.training_utils`: what batches of outputs or metrics come to over a data set."""

from __future__ import annotations

import abc
import atexit
import functools
import threading
from multiprocessing.pool import ThreadPool
from typing import Any

import numpy as np

from everflow.framework import nest
from everflow.framework.composites import SparseTensor, SparseTensorValue
from everflow.framework.operation import Tensor
from everflow.keras.engine.batch_values import is_composite, joined
from everflow.ops.ragged.functions import concat as ragged_concat
from everflow.ops.ragged.tensor import RaggedTensor
from everflow.ops.ragged.value import RaggedTensorValue
from everflow.ops.sparse.functions import sparse_concat

_COMPOSITE = (SparseTensor, SparseTensorValue, RaggedTensor, RaggedTensorValue)


class Aggregator(abc.ABC):
    """Takes batch after batch: `create` with the first, `aggregate` with each, `finalize` at the end; see `results`."""

    def __init__(
        self, use_steps: bool, num_samples: int | None = None, steps: int | None = None, batch_size: int | None = None
    ) -> None:
        self.use_steps, self.num_samples, self.steps, self.batch_size = use_steps, num_samples, steps, batch_size
        self.results: Any = []

    @abc.abstractmethod
    def create(self, batch_outs: Any) -> None:
        """Prepare for results like these."""

    @abc.abstractmethod
    def aggregate(self, batch_outs: Any, batch_start: int | None = None, batch_end: int | None = None) -> None:
        """Take a batch."""

    @abc.abstractmethod
    def finalize(self) -> None:
        """Make `results` of what was taken."""


class MetricsAggregator(Aggregator):
    """Losses are averaged by samples or steps; metrics keep their own state, so the last value counts."""

    def __init__(self, use_steps: bool, num_samples: int | None = None, steps: int | None = None) -> None:
        super().__init__(use_steps, num_samples, steps)

    def create(self, batch_outs: Any) -> None:
        """Begin with a loss of nothing."""
        self.results = [0.0] * len(batch_outs)

    def aggregate(self, batch_outs: Any, batch_start: int | None = None, batch_end: int | None = None) -> None:
        """Add a batch's loss, by how many samples it has where they are counted."""
        weight = 1 if self.use_steps else batch_end - batch_start  # type: ignore[operator]  # both are given then
        self.results[0] += batch_outs[0] * weight
        self.results[1:] = batch_outs[1:]

    def finalize(self) -> None:
        """Divide the loss by how many there were."""
        if not self.results:
            raise ValueError("There were no batches to make a mean of.")
        self.results[0] /= self.num_samples or self.steps


class ConcatAggregator(Aggregator):
    """Batches one behind the other, however many come."""

    def __init__(self, batch_size: int | None) -> None:
        super().__init__(use_steps=True, batch_size=batch_size)
        self.composite = False

    def create(self, batch_element: Any) -> None:
        """See whether the parts are sparse or ragged."""
        self.composite = isinstance(batch_element, _COMPOSITE)

    def aggregate(self, batch_element: Any, batch_start: int | None = None, batch_end: int | None = None) -> None:
        """Keep a batch; one that is larger than batches are is a model that changed their size."""
        size = None if self.composite else batch_element.shape[0]
        if self.batch_size is not None and size is not None and size > self.batch_size:
            raise ValueError(f"A batch of {self.batch_size} gave outputs of shape {batch_element.shape}.")
        self.results.append(batch_element)

    def finalize(self) -> None:
        """Join them."""
        if len(self.results) == 1:
            self.results = self.results[0]
        elif self.composite:
            self.results = _joined(self.results)
        else:
            self.results = np.concatenate(self.results, axis=0)


def _joined(parts: list) -> Any:
    if is_composite(parts[0]):
        return joined(parts)
    if isinstance(parts[0], RaggedTensor):
        return ragged_concat(parts, axis=0)
    return sparse_concat(axis=0, sp_inputs=parts)


@functools.cache
def get_copy_pool() -> ThreadPool:
    """The threads that write large batches to their places while the next ones are computed."""
    pool = ThreadPool(4)
    atexit.register(pool.terminate)
    return pool


class SliceAggregator(Aggregator):
    """Batches written into one array, where it is known how many samples come; large ones by other threads."""

    _BINARY_SIZE_THRESHOLD = 2**14  # numbers in a batch from which on a thread is worth it
    _MAX_COPY_SECONDS = 300

    def __init__(self, num_samples: int, batch_size: int) -> None:
        super().__init__(use_steps=False, num_samples=num_samples, batch_size=batch_size)
        self._copies: list[threading.Event] = []
        self._errors: list[BaseException] = []

    def create(self, batch_element: Any) -> None:
        """Make room for all."""
        if isinstance(batch_element, _COMPOSITE):
            raise TypeError(f"Rows can't be written into a {type(batch_element).__name__}: use ConcatAggregator.")
        self.results = np.empty((self.num_samples, *batch_element.shape[1:]), batch_element.dtype)

    def aggregate(self, batch_element: Any, batch_start: int | None = None, batch_end: int | None = None) -> None:
        """Write a batch to its place."""
        if batch_end - batch_start == self.num_samples:  # type: ignore[operator]  # both are given
            if self.num_samples != batch_element.shape[0]:
                raise ValueError(f"{self.num_samples} samples gave outputs of shape {batch_element.shape}.")
            self.results = batch_element
            return
        if self._errors:
            raise self._errors[0]
        if self._BINARY_SIZE_THRESHOLD > batch_element.size:
            self.results[batch_start:batch_end] = batch_element
            return
        is_finished = threading.Event()

        def failed(error: BaseException) -> None:
            self._errors.append(error)
            is_finished.set()

        get_copy_pool().apply_async(
            self._slice_assign, (batch_element, batch_start, batch_end, is_finished), error_callback=failed
        )
        self._copies.append(is_finished)

    def _slice_assign(self, batch_element: Any, batch_start: int, batch_end: int, is_finished: threading.Event) -> None:
        """Write a batch to its place, in a thread."""
        self.results[batch_start:batch_end] = batch_element
        is_finished.set()

    def finalize(self) -> None:
        """Wait until everything is in its place."""
        for copy in self._copies:
            if not copy.wait(timeout=self._MAX_COPY_SECONDS):
                raise ValueError(f"A batch wasn't written to its place within {self._MAX_COPY_SECONDS} seconds.")
        if self._errors:
            raise self._errors[0]


class OutputsAggregator(Aggregator):
    """The outputs of a model, in the structure that they have."""

    _structure: Any = None

    def create(self, batch_outs: Any) -> None:
        """An aggregator for each output."""
        # Sparse and ragged values are one thing, though they are tuples.
        is_one = is_composite(batch_outs)
        self._structure = None if is_one else nest.map_structure(lambda _: None, batch_outs)
        for element in [batch_outs] if is_one else nest.flatten(batch_outs):
            if self.use_steps or isinstance(element, (*_COMPOSITE, Tensor)):
                made: Aggregator = ConcatAggregator(self.batch_size)
            else:
                made = SliceAggregator(self.num_samples, self.batch_size)  # type: ignore[arg-type]  # known then
            made.create(element)
            self.results.append(made)

    def aggregate(self, batch_outs: Any, batch_start: int | None = None, batch_end: int | None = None) -> None:
        """Give each output to its aggregator."""
        for made, element in zip(self.results, nest.flatten_up_to(self._structure, batch_outs), strict=True):
            made.aggregate(element, batch_start, batch_end)

    def finalize(self) -> None:
        """The outputs whole."""
        for made in self.results:
            made.finalize()
        self.results = nest.pack_sequence_as(self._structure, [made.results for made in self.results])
