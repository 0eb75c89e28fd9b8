"""Names that programs take from inside tensorflow.python.ops.data_flow_ops: what queues and staging areas read their
arguments with.
"""

from __future__ import annotations

from typing import Any

from everflow.framework.shapes import TensorShape
from everflow.ops.queues.queues import _common_shape, as_shape_list
from everflow.ops.queues.queues import as_name_list as _as_name_list
from everflow.ops.queues.queues import as_type_list as _as_type_list
from everflow.ops.queues.staging import BaseStagingArea

__all__ = ["BaseStagingArea", "_as_name_list", "_as_shape_list", "_as_type_list", "_shape_common"]


def _as_shape_list(
    shapes: Any, dtypes: Any, unknown_dim_allowed: bool = False, unknown_rank_allowed: bool = False
) -> list[TensorShape] | None:
    """One shape or several, as a list; how many there are is not compared with `dtypes`."""
    return as_shape_list(shapes, unknown_dim_allowed, unknown_rank_allowed)


def _shape_common(s1: Any, s2: Any) -> TensorShape:
    """The shape that fits two shapes."""
    return _common_shape([TensorShape(s1), TensorShape(s2)])
