"""`RecordInput`: batches of the records of many files, shuffled, without end."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.scopes import name_scope
from everflow.io.records import TFRecordOptions
from everflow.ops import array


class RecordInput:
    """Reads TFRecord files that match a pattern, around and around, in an order of its own for each round.

    The order depends on `seed`; it isn't the one that TensorFlow draws.

    >>> records = tf.contrib.framework.RecordInput("data/train-*", batch_size=32, buffer_size=1000).get_yield_op()
    """

    def __init__(self, file_pattern, batch_size=1, buffer_size=1, parallelism=1, shift_ratio=0, seed=0, name=None, batches=None,
                 compression_type=None):  # fmt: skip
        self._batch_size = batch_size if batches is None else batch_size * batches
        self._batches = batches
        self._options = {"file_pattern": file_pattern, "file_random_seed": seed, "file_buffer_size": buffer_size}
        self._options.update(file_shuffle_shift_ratio=shift_ratio, file_parallelism=parallelism)
        self._compression_type = compression_type
        self._name = name

    def get_yield_op(self):
        """The batch of records; a list of `batches` lists of scalars where those were asked for."""
        compression = TFRecordOptions.get_compression_type_string(TFRecordOptions(self._compression_type))
        options = {**self._options, "batch_size": self._batch_size, "compression_type": compression}
        records = raw.RecordInput(**options, name=self._name)
        if self._batches is None:
            return records
        batches = [[] for _ in range(self._batches)]
        with name_scope(self._name):
            for i, part in enumerate(array.split(records, self._batch_size, 0)):
                batches[i % self._batches].append(array.reshape(part, []))
        return batches
