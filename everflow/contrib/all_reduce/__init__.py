"""tf.contrib.all_reduce: builders of all-reduce, which are imported from its inner module."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.distribute.all_reduce import (
    build_recursive_hd_all_reduce,
    build_ring_all_reduce,
    build_shuffle_all_reduce,
    build_shuffle_then_ring,
    build_shuffle_then_shuffle,
)
