"""tensorflow.python.autograph.operators.slices: reading and writing elements."""

from __future__ import annotations

from typing import Any, NamedTuple

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.operation import Tensor
from everflow.ops.autograph import lists


class GetItemOpts(NamedTuple):
    """What is known of a list that an element is read from."""

    element_dtype: Any


def get_item(target: Any, i: Any, opts: GetItemOpts) -> Any:
    """`target[i]`; of a scalar string the i-th character."""
    if not isinstance(opts, GetItemOpts):
        raise AssertionError(f"opts must be GetItemOpts, not {opts!r}")
    if isinstance(target, Tensor) and target.dtype == dtypes.string and target.shape.rank == 0:
        return raw.Substr(input=target, pos=i, len=1)
    return lists.list_get_item(target, i, (opts.element_dtype, None))


def set_item(target: Any, i: Any, x: Any) -> Any:
    """What `target` is after `target[i] = x`: another list of the graph or tensor, or itself."""
    return lists.list_set_item(target, i, x)
