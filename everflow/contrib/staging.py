"""tf.contrib.staging: tensors put aside in one run and taken in a later one."""

from everflow.ops.queues.staging import StagingArea

__all__ = ["StagingArea"]
