"""tensorflow.python.ops.inplace_ops: rows of a tensor changed, as loops over long sequences do it that would otherwise
copy the whole.

What changes is a value of its own here, never the memory of a tensor that somebody else sees.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.ops import array, math


def _changing(make):
    def changed(x, i, v):
        x = convert_to_tensor(x)
        v = convert_to_tensor(v, x.dtype)
        if i is None:
            whole = make(array.reshape(x, [1, -1]), [0], array.reshape(v, [1, -1]))
            return array.reshape(whole, array.shape(x))
        i = math.cast(i, dtypes.int32)
        if i.shape.ndims == 0:
            return make(x, array.reshape(i, [1]), array.expand_dims(v, 0))
        return make(x, i, v)

    return changed


def _on_a_copy(change):
    return lambda x, i, v: change(raw.DeepCopy(x), i, v)


alias_inplace_update = _changing(raw.InplaceUpdate)
alias_inplace_add = _changing(raw.InplaceAdd)
alias_inplace_sub = _changing(raw.InplaceSub)
inplace_update = _on_a_copy(alias_inplace_update)
inplace_add = _on_a_copy(alias_inplace_add)
inplace_sub = _on_a_copy(alias_inplace_sub)


def empty_like(x, init=None):
    """A tensor of the shape and type of another, with zeros where `init` asks for them."""
    x = convert_to_tensor(x)
    return raw.Empty(array.shape(x), dtype=x.dtype, init=init)
