"""tf.contrib.batching: calls of many threads computed as one batch."""

from everflow.ops.batching import batch_function

__all__ = ["batch_function"]
