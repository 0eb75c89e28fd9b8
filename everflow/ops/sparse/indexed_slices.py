"""`IndexedSlices` as gradients: turning them into tensors, adding them up, and adding up plain gradients device by
device.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import register_tensor_conversion_function
from everflow.framework.operation import Tensor
from everflow.framework.scopes import colocate_with
from everflow.ops import array
from everflow.ops.math.elementwise import cast
from everflow.ops.math.sequences import range as tensor_range


def add_n(parts):
    """The sum of tensors and slices; a single part is given back as it is."""
    return parts[0] if len(parts) == 1 and isinstance(parts[0], Tensor) else raw.AddN(parts)


def add_by_device(tensors):
    """The sum of tensors: first of those on one device, there, then of those sums."""
    by_device: dict[str, list] = {}
    for tensor in tensors:
        by_device.setdefault(tensor.device, []).append(tensor)
    sums = []
    for name in sorted(by_device):
        here = by_device[name]
        with colocate_with(here[0].op, ignore_existing=True):
            sums.append(add_n(here))
    return add_n(sums)


def total(parts):
    """The sum of gradients of which some are slices: slices again where all are, put one after the other."""
    if any(isinstance(part, Tensor) for part in parts):
        return add_n(parts)
    parts = as_indexed_slices_list(parts)
    values = array.concat([part.values for part in parts], axis=0)
    indices = array.concat([part.indices for part in parts], axis=0)
    return IndexedSlices(values, indices, parts[0].dense_shape)


def as_indexed_slices(x, optimize=True):
    """A tensor as slices: all of its rows."""
    if not isinstance(x, (Tensor, IndexedSlices)):
        raise TypeError(f"Not a Tensor or IndexedSlices: {type(x)}")
    if isinstance(x, IndexedSlices):
        return x
    x_shape = array.shape_internal(x, optimize=optimize)
    return IndexedSlices(x, tensor_range(0, x_shape[0]), x_shape)


def as_indexed_slices_list(inputs, optimize=True):
    """Several values as slices, with one type of indices: int64 where any has it."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Expected a list or tuple, not a {type(inputs)}")
    outputs = [as_indexed_slices(item, optimize) for item in inputs]
    if not any(o.indices.dtype == dtypes.int32 for o in outputs) or all(
        o.indices.dtype == dtypes.int32 for o in outputs
    ):
        return outputs
    return [
        IndexedSlices(o.values, cast(o.indices, dtypes.int64), o.dense_shape) if o.indices.dtype == dtypes.int32 else o
        for o in outputs
    ]


def _to_tensor(value, dtype=None, name=None, as_ref=False):
    if dtype and not dtype.is_compatible_with(value.dtype):
        raise ValueError(
            f"IndexedSlices of dtype {value.dtype.name} can't become a tensor of {dtype.name}; cast them first"
        )
    if value.dense_shape is None:
        raise ValueError(f"IndexedSlices without a dense_shape can't become a tensor: {value}")
    return raw.UnsortedSegmentSum(value.values, value.indices, value.dense_shape[0], name=name)


register_tensor_conversion_function(IndexedSlices, _to_tensor)
