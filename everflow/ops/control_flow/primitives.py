"""The nodes that branches and loops are made of: Switch, Merge, NextIteration, Exit. Executing eagerly, what is not
live is empty.
"""

from __future__ import annotations

import collections

from everflow.framework import dtypes, errors, nest
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor, internal_convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly, name_scope
from everflow.ops.sparse.indexed_slices import as_indexed_slices_list


def switch(data, pred, dtype=None, name=None):
    """(data if pred is false, data if pred is true): only one of the two is live when run."""
    with name_scope(name, "Switch", [data, pred]) as name:
        if not hasattr(data, "_type_spec"):
            data = internal_convert_to_tensor(data, dtype, name="data", as_ref=True)
        pred = convert_to_tensor(pred, name="pred")
        if isinstance(data, Tensor):
            return _switched(data, pred, name)
        pairs = [_switched(part, pred) for part in nest.flatten(data, expand_composites=True)]
        return tuple(nest.pack_sequence_as(data, side, expand_composites=True) for side in zip(*pairs))


def _switched(data, pred, name=None):
    if not executing_eagerly():
        return raw.Switch(data=data, pred=pred, name=name)
    dead = raw.Empty(shape=[0], dtype=data.dtype)
    return SwitchOutput(dead, data) if pred else SwitchOutput(data, dead)


SwitchOutput = collections.namedtuple("Switch", ["output_false", "output_true"])
MergeOutput = collections.namedtuple("Merge", ["output", "value_index"])


def merge(inputs, name=None):
    """(the first live input, its index)."""
    if any(inp is None for inp in inputs):
        raise ValueError(f"A merge wants tensors; one of its inputs is None: {inputs}")
    with name_scope(name, "Merge", inputs) as name:
        inputs = [x if hasattr(x, "_type_spec") else internal_convert_to_tensor(x, as_ref=True) for x in inputs]
        if executing_eagerly() and len(inputs) > 1:
            raise errors.InternalError(None, None, "Executing eagerly, all inputs of a merge are live; give it one.")
        if all(isinstance(x, Tensor) for x in inputs):
            if executing_eagerly():
                return MergeOutput(inputs[0], convert_to_tensor(0))
            build = raw.RefMerge if all(x.dtype._is_ref_dtype for x in inputs) else raw.Merge
            return build(inputs=inputs, name=name)
        if all(isinstance(x, (IndexedSlices, Tensor)) for x in inputs):
            inputs = as_indexed_slices_list(inputs, optimize=False)
        for other in inputs[1:]:
            nest.assert_same_structure(inputs[0], other, expand_composites=True)
        merged = [raw.Merge(inputs=parts) for parts in zip(*(nest.flatten(x, expand_composites=True) for x in inputs))]
        packed = nest.pack_sequence_as(inputs[0], [m.output for m in merged], expand_composites=True)
        return MergeOutput(packed, merged[0].value_index)


def next_iteration(data, name=None):
    """Hand a value to the next iteration of the loop."""
    return _each(data, raw.NextIteration, raw.RefNextIteration, name)


def exit(data, name=None):
    """Take a value out of its loop."""
    return _each(data, raw.Exit, raw.RefExit, name)


def identity(data, name=None):
    """A value again, where a reference stays one."""
    return _each(data, raw.Identity, raw.RefIdentity, name)


def _each(data, build, build_ref, name):
    """What an op of one input makes of a value, of each part of one that has parts; executing eagerly, the value."""
    if not hasattr(data, "_type_spec"):
        data = internal_convert_to_tensor(data, as_ref=True)
    if executing_eagerly():
        return data
    if not isinstance(data, Tensor):
        parts = [_each(part, build, build_ref, name) for part in nest.flatten(data, expand_composites=True)]
        return nest.pack_sequence_as(data, parts, expand_composites=True)
    if data.dtype._is_ref_dtype:
        return build_ref(data, name=name)
    return build(data, name=name)


def with_common_indices(results, scopes):
    """What branches return, with slices' indices of one type: where only some have int64, the others are cast, each in
    the scope of its branch.
    """
    flat = [nest.flatten(result) for result in results]
    if len({len(values) for values in flat}) > 1:
        return results
    for place, values in enumerate(zip(*flat)):
        slices = [value for value in values if isinstance(value, IndexedSlices)]
        if len({value.indices.dtype.base_dtype for value in slices}) < 2:
            continue
        for branch, value in enumerate(values):
            if isinstance(value, IndexedSlices) and value.indices.dtype.base_dtype == dtypes.int32:
                with scopes[branch]():
                    indices = raw.Cast(x=value.indices, DstT=dtypes.int64)
                flat[branch][place] = IndexedSlices(value.values, indices, value.dense_shape)
    return [nest.pack_sequence_as(result, values) for result, values in zip(results, flat)]


def check_pairs(argument, pairs):
    """TypeError unless all entries of an argument are pairs of a key and the function that is called for it."""
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not callable(pair[1]):
            raise TypeError(f"{argument} must have 2-tuples of a key and a callable as its entries; got {pair!r}")
