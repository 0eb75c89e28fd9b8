"""tf.sets: sets held as the last dimension of tensors."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.ops.sparse.sets import set_difference, set_intersection, set_size, set_union
from everflow.ops.sparse.sets import set_difference as difference
from everflow.ops.sparse.sets import set_intersection as intersection
from everflow.ops.sparse.sets import set_size as size
from everflow.ops.sparse.sets import set_union as union
