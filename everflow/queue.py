"""tf.queue: queues of tensors."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.ops.data_flow import FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
