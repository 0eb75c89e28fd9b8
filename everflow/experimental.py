"""tf.experimental: how functions are to be run."""

from everflow.ops.functions.gradients import function_executor_type

__all__ = ["function_executor_type"]
