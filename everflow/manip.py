"""tf.manip: other names of array functions."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.ops.array import batch_to_space_nd, gather_nd, reshape, reverse, roll, scatter_nd, space_to_batch_nd, tile
