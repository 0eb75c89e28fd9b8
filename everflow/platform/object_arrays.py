"""Arrays of Python objects in which a graph's tensors stand as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.framework.operation import Tensor


class _Kept:
    """A tensor that numpy takes for any object, and doesn't ask for its value."""

    def __init__(self, tensor: Tensor):
        self.tensor = tensor


def _keeping(rows: Any) -> Any:
    if isinstance(rows, Tensor):
        return _Kept(rows)
    return [_keeping(row) for row in rows] if isinstance(rows, list | tuple) else rows


def array_of_objects(rows: Any) -> np.ndarray:
    """An array of objects made of nested lists with tensors in them.

    >>> array_of_objects([2, tensor]).prod()  # doctest: +SKIP
    <tf.Tensor 'mul:0' ...>
    """
    made = np.array(_keeping(rows), dtype=object)
    for index, value in np.ndenumerate(made):
        if isinstance(value, _Kept):
            made[index] = value.tensor
    return made
