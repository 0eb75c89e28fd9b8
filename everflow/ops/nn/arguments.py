"""Arguments of the nn functions: short forms of strides, windows and paddings."""

from __future__ import annotations

import numpy as np

from everflow.framework.shapes import Dimension, TensorShape


def per_dimension(value, spatial: int, channel_axis: int, name: str) -> list:
    """One number, one for each spatial dimension or one for each dimension, as one for each dimension.

    >>> per_dimension(2, 2, 3, "strides")
    [1, 2, 2, 1]
    """
    if value is None:
        value = [1]
    elif not isinstance(value, (list, tuple, np.ndarray, TensorShape)):
        value = [value]
    value = [v.value if isinstance(v, Dimension) else v for v in value]
    if len(value) == spatial + 2:
        return value
    if len(value) == 1:
        value = value * spatial
    elif len(value) != spatial:
        raise ValueError(f"{name} should be of length 1, {spatial} or {spatial + 2} but was {len(value)}")
    return [1, *value, 1] if channel_axis == spatial + 1 else [1, 1, *value]


def split_padding(padding) -> tuple:
    """The padding attribute and the explicit paddings of an argument that may be a list of (before, after) pairs."""
    if isinstance(padding, (list, tuple)):
        if len(padding) != 4 or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in padding):
            raise ValueError(
                f"As a list, padding must have four pairs (before, after), one for each dimension; got {padding!r}"
            )
        return "EXPLICIT", [size for pair in padding for size in pair]
    if padding == "EXPLICIT":
        raise ValueError("padding='EXPLICIT' can't be given by name: give the list of pairs itself")
    return padding, []
