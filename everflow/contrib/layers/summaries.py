"""Summaries of tensors by their kind, and of all tensors in a collection."""

from __future__ import annotations

import functools
import re

from everflow.framework import dtypes
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_collection
from everflow.ops import math
from everflow.ops.io import summaries as summary


def _share(condition):
    return math.reduce_mean(math.to_float(condition))


def summarize_activation(op):
    """A histogram of an activation; for ReLUs also how much of it is zero."""
    if op.op.type in ("Relu", "Softplus", "Relu6"):
        summary.scalar(f"{op.op.name}/zeros", _share(math.less(op.op.inputs[0], math.cast(0.0, op.op.inputs[0].dtype))))
    if op.op.type == "Relu6":
        before = op.op.inputs[0]
        summary.scalar(f"{op.op.name}/sixes", _share(math.greater(before, math.cast(6.0, before.dtype))))
    return summary.histogram(f"{op.op.name}/activation", op)


def summarize_tensor(tensor, tag=None):
    """A scalar summary of a scalar, a histogram of other numbers; None for strings and booleans."""
    if tensor.dtype.base_dtype in (dtypes.string, dtypes.bool):
        return None
    tag = tag or f"{tensor.op.name}_summary"
    return summary.scalar(tag, tensor) if tensor.shape.ndims == 0 else summary.histogram(tag, tensor)


def summarize_tensors(tensors, summarizer=summarize_tensor):
    """A summary of each tensor."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(collection, name_filter=None, summarizer=summarize_tensor):
    """A summary of each tensor in a collection whose op's name matches a pattern."""
    tensors = [t for t in get_collection(collection) if name_filter is None or re.match(name_filter, t.op.name)]
    return summarize_tensors(tensors, summarizer)


summarize_variables = functools.partial(summarize_collection, GraphKeys.GLOBAL_VARIABLES)
summarize_weights = functools.partial(summarize_collection, GraphKeys.WEIGHTS)
summarize_biases = functools.partial(summarize_collection, GraphKeys.BIASES)


def summarize_activations(name_filter=None, summarizer=summarize_activation):
    """A summary of each tensor among the activations."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
