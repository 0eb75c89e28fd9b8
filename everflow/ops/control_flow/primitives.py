"""The nodes that branches and loops are made of: Switch, Merge, NextIteration, Exit."""

from __future__ import annotations

import collections

from everflow.framework import nest
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor, internal_convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.ops.sparse.indexed_slices import as_indexed_slices_list


def switch(data, pred, dtype=None, name=None):
    """(data if pred is false, data if pred is true): only one of the two is live when run."""
    with name_scope(name, "Switch", [data, pred]) as name:
        if not hasattr(data, "_type_spec"):
            data = internal_convert_to_tensor(data, dtype, name="data", as_ref=True)
        pred = convert_to_tensor(pred, name="pred")
        if isinstance(data, Tensor):
            return raw.Switch(data=data, pred=pred, name=name)
        pairs = [raw.Switch(data=part, pred=pred) for part in nest.flatten(data, expand_composites=True)]
        return tuple(nest.pack_sequence_as(data, side, expand_composites=True) for side in zip(*pairs))


MergeOutput = collections.namedtuple("Merge", ["output", "value_index"])


def merge(inputs, name=None):
    """(the first live input, its index)."""
    if any(inp is None for inp in inputs):
        raise ValueError(f"A merge wants tensors; one of its inputs is None: {inputs}")
    with name_scope(name, "Merge", inputs) as name:
        inputs = [x if hasattr(x, "_type_spec") else internal_convert_to_tensor(x, as_ref=True) for x in inputs]
        if all(isinstance(x, Tensor) for x in inputs):
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
    data = convert_to_tensor(data) if not hasattr(data, "op") else data
    return (
        raw.RefNextIteration(data=data, name=name)
        if data.dtype._is_ref_dtype
        else raw.NextIteration(data=data, name=name)
    )


def exit(data, name=None):
    """Take a value out of its loop."""
    return raw.RefExit(data=data, name=name) if data.dtype._is_ref_dtype else raw.Exit(data=data, name=name)


def check_pairs(argument, pairs):
    """TypeError unless all entries of an argument are pairs of a key and the function that is called for it."""
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not callable(pair[1]):
            raise TypeError(f"{argument} must have 2-tuples of a key and a callable as its entries; got {pair!r}")
