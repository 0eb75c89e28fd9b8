"""tf.queue: queues of tensors."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.ops.queues.queues import FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
