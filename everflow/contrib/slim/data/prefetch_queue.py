"""slim.prefetch_queue: a queue between the making of batches and their use, so that both go on at once."""

from __future__ import annotations

from everflow import queue
from everflow.framework import dtypes
from everflow.framework.scopes import name_scope
from everflow.ops import math
from everflow.ops.io import summaries as summary
from everflow.train.queue_runner import QueueRunner, add_queue_runner


def prefetch_queue(tensors, capacity=8, num_threads=1, dynamic_pad=False, shared_name=None, name=None):
    """A queue of what `tensors` give, filled by a queue runner.

    >>> images, labels = prefetch_queue([images, labels]).dequeue()
    """
    values = list(tensors.values()) if isinstance(tensors, dict) else list(tensors)
    with name_scope(name, "prefetch_queue", values):
        make = queue.PaddingFIFOQueue if dynamic_pad else queue.FIFOQueue
        names = list(tensors) if isinstance(tensors, dict) else None
        kinds = {"dtypes": [t.dtype.base_dtype for t in values], "shapes": [t.get_shape() for t in values]}
        made = make(capacity=capacity, **kinds, names=names, shared_name=shared_name)
        add_queue_runner(QueueRunner(made, [made.enqueue(tensors)] * num_threads))
        summary.scalar(f"fraction_of_{capacity}_full", math.cast(made.size(), dtypes.float32) * (1.0 / capacity))
        return made
