"""Threads of a pipeline's own."""

from __future__ import annotations

from everflow.framework import raw_ops as raw


class PrivateThreadPool:
    """Threads of a pipeline's own."""

    def __init__(self, num_threads, display_name=None, max_intra_op_parallelism=1):
        self._resource = raw.ThreadPoolHandle(
            num_threads=num_threads, max_intra_op_parallelism=max_intra_op_parallelism, display_name=display_name or ""
        )


def override_threadpool(dataset, thread_pool):
    """The same dataset, whose functions are called by the threads of a pool."""
    return dataset._then(raw.ThreadPoolDataset, thread_pool=thread_pool._resource)
