"""Elements that wait in a shuffle's buffer when they come and go many at a time: known by their numbers, so that choosing
among them moves nothing but numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch

from everflow.kernels.data.blocks import chosen, fit, size_of
from everflow.kernels.data.datasets import Blocks, Iteration, Take

if TYPE_CHECKING:
    from everflow.kernels.tensors import AnyTensor, Value

Block: TypeAlias = "tuple[AnyTensor, ...]"
_AT_A_TIME = 4096


class _Pool:
    """Elements that wait to be chosen: rows of tables, known by their numbers."""

    def __init__(self) -> None:
        self._columns: list[AnyTensor] = []
        self._free: list[int] = []
        self._alone: dict[int, Block] = {}  # elements of other shapes than the first ones
        self._next = 0

    def put(self, block: Block) -> list[int]:
        """Keep the elements of a block; gives their numbers."""
        count = size_of(block)
        numbers = [self._free.pop() for _ in range(min(count, len(self._free)))]
        more = count - len(numbers)
        numbers.extend(range(self._next, self._next + more))
        self._next += more
        if not self._columns:
            self._columns = [_longer(c[:0], max(64, count)) for c in block]
        if not fit([tuple(self._columns), block]):
            self._alone.update((number, chosen(block, slice(i, i + 1))) for i, number in enumerate(numbers))
            return numbers
        if self._next > len(self._columns[0]):
            self._columns = [_longer(c, max(2 * len(c), self._next)) for c in self._columns]
        places = np.array(numbers)
        for column, values in zip(self._columns, block, strict=True):
            _write(column, places, values)
        return numbers

    def get(self, numbers: list[int]) -> list[Block]:
        """Elements by their numbers, which may be given to others then."""
        self._free += numbers
        if not self._alone:
            return [self._rows(numbers)]
        return [self._alone.pop(n) if n in self._alone else self._rows([n]) for n in numbers]

    def _rows(self, numbers: list[int]) -> Block:
        places = np.array(numbers)
        return tuple(c[torch.from_numpy(places) if isinstance(c, torch.Tensor) else places] for c in self._columns)


def _longer(column: AnyTensor, size: int) -> AnyTensor:
    """A table of so many rows with the rows of a shorter one in front."""
    shape = (size, *column.shape[1:])
    out = np.empty(shape, object) if isinstance(column, np.ndarray) else torch.empty(shape, dtype=column.dtype)
    _write(out, np.arange(len(column)), column)
    return out


def _write(column: Value, places: np.ndarray, values: Value) -> None:
    column[torch.from_numpy(places) if isinstance(column, torch.Tensor) else places] = values


class Waiting:
    """The elements of a source that wait for their turn: rows of its arrays where it has them, else those of a pool."""

    def __init__(self, source: Blocks, buffer_size: int) -> None:
        self._source = source
        self._pool = None if source.columns is not None else _Pool()
        self._wanted = buffer_size - 1  # how many elements have to come until what was asked for is complete

    def a_pass(self, iteration: Iteration) -> Callable[[], int]:
        """A function that gives the numbers of the source's elements one by one, as they come."""
        take, numbers = self._source.start(iteration), deque()

        def number() -> int:
            if not numbers:
                block = take(min(max(self._wanted, 1), _AT_A_TIME))
                numbers.extend(block.tolist() if self._pool is None else self._pool.put(block))
            self._wanted -= 1
            return numbers.popleft()

        return number

    def chosen_by(self, following: Callable[[], int]) -> Take:
        """The elements in the order of numbers that `following` gives."""
        ready: deque[Any] = deque()
        error: Exception | None = None  # that of the element after them

        def take(n: int) -> Any:
            nonlocal error
            if not ready:
                if error is not None:
                    failure, error = error, None
                    raise failure
                numbers: list[int] = []
                self._wanted += n
                try:
                    while len(numbers) < n:
                        numbers.append(following())
                except Exception as e:
                    if not numbers:
                        raise
                    error = e
                ready.extend([np.array(numbers)] if self._pool is None else self._pool.get(numbers))
            return ready.popleft()

        return take
