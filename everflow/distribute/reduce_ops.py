"""Sums and means over replicas: `ReduceOp`, and what it does to a list of parts."""

from __future__ import annotations

import enum

from everflow.framework.composites import IndexedSlices
from everflow.framework.scopes import device, get_default_graph
from everflow.ops import array, math
from everflow.ops.variables.options import VariableAggregation


class ReduceOp(enum.Enum):
    """How values are put together.

    Example:
        >>> tf.distribute.ReduceOp.SUM.name
        'SUM'
    """

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation):
        """The ReduceOp that a variable's aggregation asks for."""
        found = {VariableAggregation.SUM: ReduceOp.SUM, VariableAggregation.MEAN: ReduceOp.MEAN}.get(aggregation)
        if found is None:
            raise ValueError(f"No tf.distribute.ReduceOp does what {aggregation} says; SUM and MEAN have one")
        return found


def as_reduce_op(reduce_op) -> ReduceOp:
    """A ReduceOp, or the name of one."""
    if isinstance(reduce_op, ReduceOp):
        return reduce_op
    if isinstance(reduce_op, VariableAggregation):
        return ReduceOp.from_variable_aggregation(reduce_op)
    return ReduceOp(str(reduce_op).upper())


def reduced(reduce_op: ReduceOp, parts: list):
    """The sum or mean of tensors or slices, where we are."""
    if any(isinstance(p, IndexedSlices) for p in parts):
        values, indices = [p.values for p in parts], [p.indices for p in parts]
        if reduce_op is ReduceOp.MEAN:
            values = [v / len(parts) for v in values]
        return IndexedSlices(array.concat(values, 0), array.concat(indices, 0), parts[0].dense_shape)
    total = math.add_n(parts)
    return total / len(parts) if reduce_op is ReduceOp.MEAN and len(parts) > 1 else total


def read_all(variable):
    """The value of a variable that is put together when it is read."""
    if variable.aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
        return variable.values[0].read_value()
    parts = [_read_where_it_is(v) for v in variable.values]
    return reduced(ReduceOp.from_variable_aggregation(variable.aggregation), parts)


def _read_where_it_is(copy):
    """The value of one copy, read on its device, also where something else is colocated with another copy."""
    with get_default_graph().colocate_with(None, ignore_existing=True), device(copy.device):
        return copy.read_value()
