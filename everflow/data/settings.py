"""Settings of datasets, numbers for the most part, as tensors that are named after them in the graph."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor


def as_int64(**values):
    """Settings as int64 tensors, by name."""
    return {name: convert_to_tensor(value, dtypes.int64, name=name) for name, value in values.items()}


def as_bool(**values):
    """Settings as bool tensors, by name."""
    return {name: convert_to_tensor(value, dtypes.bool, name=name) for name, value in values.items()}


def optional_tensor(name, value, default, dtype=dtypes.int64):
    """A setting that need not be given, as a tensor."""
    return convert_to_tensor(default if value is None else value, dtype, name=name)
