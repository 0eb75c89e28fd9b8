"""tf.contrib.compiler.jit: scopes whose nodes are marked to be compiled."""

from everflow.xla.experimental import jit_scope as experimental_jit_scope

__all__ = ["experimental_jit_scope"]
