"""Columns for data as it is: one `real_valued_column` for each feature of numbers."""

from __future__ import annotations

from everflow.contrib.layers.column_inputs import infer_real_valued_columns
from everflow.contrib.learn.input_arrays import ArrayFeeder
from everflow.framework.graph import Graph


def infer_real_valued_columns_from_input_fn(input_fn):
    """A column for each feature that the function gives."""
    with Graph().as_default():
        features, _ = input_fn()
        return infer_real_valued_columns(features)


def infer_real_valued_columns_from_input(x):
    """A column for an array, of as many numbers as its rows have."""
    return infer_real_valued_columns_from_input_fn(ArrayFeeder(x).input_fn)
