"""tf.contrib.compiler: tf.xla under its old names."""

from __future__ import absolute_import, annotations, division, print_function  # noqa: UP010  Names here.

from everflow.contrib.compiler import jit, xla

__all__ = ["jit", "xla"]
