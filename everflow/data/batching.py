"""Batches of a dataset's elements: stacked, padded, and cut into rows again."""

from __future__ import annotations

import numpy as np

from everflow.data import structure
from everflow.data.settings import as_bool, as_int64
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value, constant_value_as_shape
from everflow.framework.type_specs import TensorSpec

_NO_VECTOR = "Padded shape {} must be a 1-D tensor: one of tf.int64, and"


def static_size(batch_size, drop_remainder):
    """The size that every batch surely has, or None."""
    if not constant_value(drop_remainder):
        return None
    size = constant_value(batch_size)
    return None if size is None else int(size)


def batch(dataset, batch_size, drop_remainder):
    """See `Dataset.batch`."""
    sizes = as_int64(batch_size=batch_size) | as_bool(drop_remainder=drop_remainder)
    return dataset._then(raw.BatchDatasetV2, structure.batch(dataset.element_spec, static_size(**sizes)), **sizes)


def padded_batch(dataset, batch_size, padded_shapes, padding_values, drop_remainder):
    """See `Dataset.padded_batch`."""
    specs = structure.flatten(dataset.element_spec)
    if not all(type(s) is TensorSpec for s in specs):
        raise TypeError(
            f"padded_batch pads dense tensors only, and the elements are {specs}: use tf.sparse.to_dense before"
        )
    batch_size = convert_to_tensor(batch_size, dtypes.int64, name="batch_size")
    shapes = [
        _shape_tensor(p, s.shape)
        for p, s in zip(structure.up_to(dataset.element_spec, padded_shapes), specs, strict=True)
    ]
    given = [None] * len(specs) if padding_values is None else structure.up_to(dataset.element_spec, padding_values)
    fillers = [_filler(value, s.dtype) for value, s in zip(given, specs, strict=True)]
    drop_remainder = convert_to_tensor(drop_remainder, dtypes.bool, name="drop_remainder")
    size = TensorShape([static_size(batch_size, drop_remainder)])
    padded = [TensorSpec(size.concatenate(constant_value_as_shape(t)), s.dtype) for t, s in zip(shapes, specs)]
    sizes = {"batch_size": batch_size, "drop_remainder": drop_remainder}
    filled = {"padded_shapes": shapes, "padding_values": fillers, "output_shapes": [s.shape for s in padded]}
    variant = raw.PaddedBatchDatasetV2(input_dataset=dataset._variant_tensor, **sizes, **filled)
    return dataset._make(variant, structure.pack_as(dataset.element_spec, padded), [dataset])


def _shape_tensor(padded_shape, component_shape, given=None):
    if isinstance(padded_shape, Tensor):
        tensor, shown = padded_shape, padded_shape if given is None else given
        if tensor.shape.rank not in (None, 1):
            raise ValueError(f"{_NO_VECTOR.format(shown)} its shape was {tensor.shape}.")
        if tensor.dtype != dtypes.int64:
            raise TypeError(f"{_NO_VECTOR.format(shown)} its element type was {tensor.dtype.name}.")
        known = constant_value_as_shape(tensor)
    else:
        try:
            listed = isinstance(padded_shape, (list, tuple))
            known = TensorShape([None if d == -1 else d for d in padded_shape] if listed else padded_shape)
        except (TypeError, ValueError):
            tensor = convert_to_tensor(padded_shape, preferred_dtype=dtypes.int64)
            return _shape_tensor(tensor, component_shape, padded_shape)
        if known.rank is None:
            raise ValueError("A padded shape must have a known rank")
        tensor = None
    fits = known.rank is None or component_shape.rank is None or known.rank == component_shape.rank
    if fits and known.rank is not None and component_shape.rank is not None:
        pairs = zip(known.as_list(), component_shape.as_list())
        fits = all(p is None or c is None or p >= c for p, c in pairs)
    if not fits:
        raise ValueError(
            f"The padded shape {known} is not compatible with elements of shape {component_shape}: "
            "pad to the same rank, and to no less than they have."
        )
    if tensor is None:
        tensor = convert_to_tensor(np.array([-1 if d is None else d for d in known.as_list()], np.int64))
    return tensor


def _filler(value, dtype):
    if value is None:
        value = "" if dtype is dtypes.string else np.zeros([], dtype.as_numpy_dtype)
    tensor = convert_to_tensor(value, name="padding_value")
    if not tensor.shape.is_compatible_with([]):
        raise ValueError(f"Padding value should be a scalar, but got {tensor}")
    if tensor.dtype != dtype and tensor.dtype.base_dtype != dtype:
        raise TypeError(f"padding_values has {tensor} for a component of type {dtype!r}: both need one type")
    return tensor


def unbatch(dataset):
    """See `Dataset.unbatch`."""
    spec = dataset.element_spec
    rows = structure.unbatch(spec)
    sizes = {leaf.shape.size(0) for leaf in structure.flatten(spec) if getattr(leaf, "shape", None)}
    if len(sizes - {None}) > 1:
        raise ValueError(
            f"Components of an element have the same number of rows to be unbatched, not {sorted(sizes - {None})}"
        )

    def normalize(*element):
        element = element if type(spec) is tuple else element[0]
        return structure.pack_as(spec, structure.to_batched_tensors(spec, element))

    return dataset.map(normalize)._then(raw.UnbatchDataset, rows)
