"""Names that programs take from inside tensorflow.python.ops.embedding_ops: a lookup that computes with the rows it found,
clipping, and what is left out of sparse ids.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.framework.operation import Tensor
from everflow.ops.nn.embedding import _without_bad_ids as _prune_invalid_ids
from everflow.ops.nn.embedding import _without_bad_weights as _prune_invalid_weights
from everflow.ops.nn.embedding import clip_rows as _clip
from everflow.ops.nn.embedding import lookup_rows

__all__ = ["_clip", "_embedding_lookup_and_transform", "_prune_invalid_ids", "_prune_invalid_weights"]


def _embedding_lookup_and_transform(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    max_norm: Any = None,
    transform_fn: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """What a function makes of the rows at ids, computed beside each part of a table; the rows themselves without one."""
    return lookup_rows(params, ids, partition_strategy, name, max_norm, transform_fn)
