"""slim.parallel_reader: records of many files, read by several readers into one queue."""

from __future__ import annotations

from everflow import queue
from everflow.framework import dtypes as tf_dtypes
from everflow.framework.scopes import name_scope
from everflow.ops import math
from everflow.ops.io import summaries as summary
from everflow.platform import gfile
from everflow.train.input import string_input_producer
from everflow.train.queue_runner import QueueRunner, add_queue_runner


class ParallelReader:
    """Readers that share their work, and put what they read into a common queue."""

    def __init__(self, reader_class, common_queue, num_readers=4, reader_kwargs=None):
        if len(common_queue.dtypes) != 2:
            raise TypeError("common_queue.dtypes must contain two data types")
        for dtype in common_queue.dtypes:
            if not dtype.is_compatible_with(tf_dtypes.string):
                raise TypeError("common_queue.dtypes must be string")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    num_readers = property(lambda self: len(self._readers))
    common_queue = property(lambda self: self._common_queue)

    def read(self, queue, name=None):
        """(key, value) of the next record; a queue runner fills the common queue from `queue`, which has file names."""
        self._configure_readers_by(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue, num_records, name=None):
        """(keys, values) of the next records."""
        self._configure_readers_by(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _configure_readers_by(self, queue):
        enqueue_ops = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        add_queue_runner(QueueRunner(self._common_queue, enqueue_ops))

    def num_records_produced(self, name=None):
        """How many records the readers gave in all."""
        return math.add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name=None):
        """How many files the readers finished in all."""
        return math.add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


def parallel_read(data_sources, reader_class, num_epochs=None, num_readers=4, reader_kwargs=None, shuffle=True, dtypes=None,
                  capacity=256, min_after_dequeue=128, seed=None, scope=None):  # fmt: skip
    """(key, value) of records of many files, by several readers, in random order unless told otherwise."""
    data_files = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        names = string_input_producer(data_files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames")
        dtypes = dtypes or [tf_dtypes.string, tf_dtypes.string]
        if shuffle:
            settings = {"min_after_dequeue": min_after_dequeue, "dtypes": dtypes, "seed": seed}
            common = queue.RandomShuffleQueue(capacity=capacity, **settings, name="common_queue")
        else:
            common = queue.FIFOQueue(capacity=capacity, dtypes=dtypes, name="common_queue")
        summary.scalar(f"fraction_of_{capacity}_full", math.cast(common.size(), tf_dtypes.float32) * (1.0 / capacity))
        return ParallelReader(reader_class, common, num_readers=num_readers, reader_kwargs=reader_kwargs).read(names)


def single_pass_read(data_sources, reader_class, reader_kwargs=None, scope=None):
    """(key, value) of the records of files, each once, in order."""
    data_files = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        names = string_input_producer(data_files, num_epochs=1, shuffle=False, capacity=1, name="filenames")
        return reader_class(**(reader_kwargs or {})).read(names)


def get_data_files(data_sources):
    """The files of sources: names or patterns."""
    if isinstance(data_sources, (list, tuple)):
        data_files = [file for source in data_sources for file in get_data_files(source)]
    elif "*" in data_sources or "?" in data_sources or "[" in data_sources:
        data_files = gfile.Glob(data_sources)
    else:
        data_files = [data_sources]
    if not data_files:
        raise ValueError(f"No data files found in {data_sources}")
    return data_files
