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
        for index, pair in enumerate(padding):
            if not isinstance(pair, (list, tuple)):
                raise ValueError(
                    "When padding is a list, each element of padding must be a list/tuple of size 2. "
                    f"Element with index {index} of padding is not a list/tuple"
                )
            if len(pair) != 2:
                raise ValueError(
                    "When padding is a list, each element of padding must be a list/tuple of size 2. "
                    f"Element with index {index} of padding has size {len(pair)}"
                )
        if len(padding) != 4:
            raise ValueError(f"When padding is a list, it must be of size 4. Got padding of size: {len(padding)}")
        return "EXPLICIT", [size for pair in padding for size in pair]
    if padding == "EXPLICIT":
        raise ValueError(
            '"EXPLICIT" is not a valid value for the padding parameter. To use explicit padding, the padding parameter must be a list.'
        )
    return padding, []
