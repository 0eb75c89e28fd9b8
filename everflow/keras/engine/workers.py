"""Training on several workers: each takes its share of every batch, and what they find is put together.

A graph belongs to workers if it has variables that were made in the scope of their strategy.
"""

from __future__ import annotations

import contextlib
import itertools

import numpy as np

from everflow.framework import strategy_context
from everflow.keras import backend as K

_shuffles = itertools.count()


def worker():
    """The strategy of the workers that Keras's graph belongs to; None where there is this process only."""
    return strategy_context.worker_of(K.get_graph())


def is_chief() -> bool:
    """Whether this process is the one that saves what all workers have."""
    strategy = worker()
    return strategy is None or strategy.extended.should_checkpoint


def drawing():
    """A context for what all workers draw."""
    strategy = worker()
    return contextlib.nullcontext() if strategy is None else strategy.scope()


def share(values):
    """The rows of a batch that this worker takes: arrays in lists, or lists of them. None stays None."""
    strategy = worker()
    if strategy is None:
        return values
    context = strategy._input_context()
    return [
        part if part is None else [_rows(v, context.num_input_pipelines, context.input_pipeline_id) for v in part]
        for part in values
    ]


def _rows(value, count: int, index: int):
    if value is None:
        return None
    size = -(-len(value) // count)
    # Where a small batch has no rows left for the last workers, they take the last one again: all have to take part.
    first = min(index * size, len(value) - 1)
    return value[first : first + size]


def shuffle(order) -> None:
    """Put an array into a new order: with numpy's numbers, or, of several workers, one that all come to."""
    (np.random if worker() is None else np.random.RandomState(next(_shuffles))).shuffle(order)


def mean(tensor):
    """The mean of a tensor over all workers."""
    strategy = worker()
    return tensor if strategy is None else means([tensor])[0]


def means(tensors):
    """The means of tensors, or of the rows of slices, over all workers."""
    strategy = worker()
    if strategy is None:
        return tensors
    return strategy.extended.batch_reduce_to("MEAN", [(tensor, tensor) for tensor in tensors])
