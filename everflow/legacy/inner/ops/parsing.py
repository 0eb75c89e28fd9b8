"""`parsing_ops` under the names that only TensorFlow's own modules have."""

from __future__ import annotations

from everflow.ops.io.examples import parse_single_example


def parse_single_example_v2_unoptimized(serialized, features, example_names=None, name=None):
    """`parse_single_example` with its arguments in version 2's order."""
    return parse_single_example(serialized, features, name, example_names)
