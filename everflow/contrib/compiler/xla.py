"""tf.contrib.compiler.xla: functions marked to be compiled."""

from everflow.xla.experimental import compile

__all__ = ["compile"]
