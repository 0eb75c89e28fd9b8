"""Eager execution: operations run when they are called. `tf.enable_eager_execution()` turns it on for the process."""

from everflow.eager.mode import disable_eager_execution, enable_eager_execution

__all__ = ["disable_eager_execution", "enable_eager_execution"]
