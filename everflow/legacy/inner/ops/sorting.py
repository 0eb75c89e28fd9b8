"""Names that programs take from inside tensorflow.python.ops.sort_ops: sorting in each direction."""

from __future__ import annotations

from typing import Any

from everflow.framework.operation import Tensor
from everflow.ops.array.sequences import _sort_or_argsort

__all__ = ["_SORT_IMPL", "_ascending_sort", "_descending_sort", "_sort_or_argsort"]


def _ascending_sort(values: Any, axis: int, return_argsort: bool = False) -> Tensor:
    """Values along an axis, least first; with `return_argsort` their places."""
    return _sort_or_argsort(values, axis, "ASCENDING", return_argsort)


def _descending_sort(values: Any, axis: int, return_argsort: bool = False) -> Tensor:
    """Values along an axis, greatest first; with `return_argsort` their places."""
    return _sort_or_argsort(values, axis, "DESCENDING", return_argsort)


_SORT_IMPL = {"ASCENDING": _ascending_sort, "DESCENDING": _descending_sort}
