"""`tf.autograph.experimental`: functions that stay as they are, wishes for loops, and the kinds of conversion that can
be asked for.
"""

from everflow.ops.autograph.features import Feature
from everflow.ops.autograph.public import do_not_convert, set_loop_options

__all__ = ["Feature", "do_not_convert", "set_loop_options"]
