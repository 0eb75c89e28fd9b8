"""tf.contrib.compiler: tf.xla under its old names."""

from everflow.contrib.compiler import jit, xla

__all__ = ["jit", "xla"]
