"""`tf.autograph.experimental`."""

from everflow.ops.autograph.public import Feature, do_not_convert

__all__ = ["Feature", "do_not_convert"]
