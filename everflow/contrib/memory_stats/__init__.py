"""tf.contrib.memory_stats: how much memory is in use. Tensors live in main memory here, so these tell of the process."""

from everflow.framework import raw_ops as _raw
from everflow.framework.registry import shape_rule as _shape_rule
from everflow.framework.shapes import scalar as _scalar

__all__ = ["BytesInUse", "BytesLimit", "MaxBytesInUse"]


def BytesInUse():
    """Bytes that are in use now."""
    return _raw.BytesInUse()


def BytesLimit():
    """Bytes that may be used at most."""
    return _raw.BytesLimit()


def MaxBytesInUse():
    """The most bytes that were in use at any time."""
    return _raw.MaxBytesInUse()


@_shape_rule("BytesInUse", "BytesLimit", "MaxBytesInUse")
def _one_number(op):
    return _scalar()
