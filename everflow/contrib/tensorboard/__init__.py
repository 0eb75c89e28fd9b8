"""tf.contrib.tensorboard: what programs hand to TensorBoard's plugins."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import absolute_import, annotations, division, print_function  # noqa: UP010  Names here.

from everflow.contrib.tensorboard import plugins
