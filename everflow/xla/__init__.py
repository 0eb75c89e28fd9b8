"""tf.xla: what asks TensorFlow's compiler to compile. Everflow compiles every plan; the marks travel with the graph."""

from everflow.xla import experimental

__all__ = ["experimental"]
