"""`RecordInput`: records of TFRecord files in random order, without end, batch by batch."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.ops.array import reshape, split


class RecordInput:
    """Yields the records of all files that match a pattern, shuffled within a buffer, over and over.

    With `batches`, one run yields that many batches: a list of lists of scalars.
    """

    def __init__(
        self,
        file_pattern,
        batch_size=1,
        buffer_size=1,
        parallelism=1,
        shift_ratio=0,
        seed=0,
        name=None,
        batches=None,
        compression_type=None,
    ):
        self._file_pattern = file_pattern
        self._batch_size = batch_size * (1 if batches is None else batches)
        self._batches = batches
        self._buffer_size = buffer_size
        self._parallelism = parallelism
        self._shift_ratio = shift_ratio
        self._seed = seed
        self._name = name
        self._compression_type = {None: "", 0: "", 1: "ZLIB", 2: "GZIP"}.get(compression_type, compression_type)

    def get_yield_op(self):
        """A batch of records as a vector of strings, or lists of scalars where `batches` was given."""
        records = raw.RecordInput(
            file_pattern=self._file_pattern,
            file_buffer_size=self._buffer_size,
            file_parallelism=self._parallelism,
            file_shuffle_shift_ratio=self._shift_ratio,
            batch_size=self._batch_size,
            file_random_seed=self._seed,
            compression_type=self._compression_type,
            name=self._name,
        )
        if self._batches is None:
            return records
        each = [reshape(record, []) for record in split(records, self._batch_size, 0)]
        return [each[i :: self._batches] for i in range(self._batches)]
