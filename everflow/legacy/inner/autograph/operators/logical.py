"""tensorflow.python.autograph.operators.logical: `and`, `or`, `not`, `==` and `!=` of values or of tensors."""

# ruff: noqa: F401  Names handed on are a purpose of this file.

from everflow.ops.autograph.operators import _equal as eq
from everflow.ops.autograph.operators import _not_equal as not_eq
from everflow.ops.autograph.operators import and_, not_, or_
