"""RecordInput at run time: a buffer of records that random ones are taken from, refilled from files in random order."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from everflow.formats import records
from everflow.framework.errors import NotFoundError
from everflow.framework.forking import renewed
from everflow.kernels.registry import fresh
from everflow.platform import file_io

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session
    from everflow.kernels.tensors import Strings


class RecordYielder:
    """Endless records of the files that match a pattern; each record comes once in an epoch."""

    def __init__(self, pattern: str, seed: int, shift_ratio: float, buffer_size: int, compression: str) -> None:
        self._names = sorted(file_io.get_matching_files(pattern))
        if not self._names:
            raise NotFoundError(None, None, f"Found no files at {pattern}")
        self._random = random.Random(seed)
        self._shift_ratio, self._size, self._compression = shift_ratio, buffer_size, compression
        self._lock = renewed(threading.Lock())
        self._source = self._shuffled()

    def _epoch(self) -> Iterator[bytes]:
        """The records of all files, once."""
        names = self._names.copy()
        self._random.shuffle(names)
        shift = int(self._shift_ratio * len(names))
        for name in names[shift:] + names[:shift]:
            with file_io.FileIO(name, "rb") as file:
                yield from records.read_records(file, self._compression, name)

    def _shuffled(self) -> Iterator[bytes]:
        while True:
            buffer, seen = [], False
            for record in self._epoch():
                seen = True
                buffer.append(record)
                if len(buffer) >= self._size:
                    yield self._take(buffer)
            while buffer:
                yield self._take(buffer)
            if not seen:
                raise NotFoundError(None, None, f"No record in {len(self._names)} files")

    def _take(self, buffer: list[bytes]) -> bytes:
        at = self._random.randrange(len(buffer))
        buffer[at], buffer[-1] = buffer[-1], buffer[at]
        return buffer.pop()

    def take(self, count: int) -> list[bytes]:
        """The next `count` records."""
        with self._lock:
            return [next(self._source) for _ in range(count)]


@fresh("RecordInput")
def record_input(
    *,
    node: Node,
    session: Session,
    file_pattern: str,
    file_random_seed: int,
    file_shuffle_shift_ratio: float,
    file_buffer_size: int,
    batch_size: int,
    compression_type: str,
) -> Strings:
    def make() -> RecordYielder:
        return RecordYielder(
            file_pattern, file_random_seed, file_shuffle_shift_ratio, file_buffer_size, compression_type
        )

    found = session.own("record yielder", node.name, make).take(batch_size)
    batch = np.empty(batch_size, object)
    batch[:] = found
    return batch
