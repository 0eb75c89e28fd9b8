"""Putting the values of replicas together: `ReduceOp`, and the objects that say where and how."""

from __future__ import annotations

import enum

from everflow.distribute.values import DistributedValues, DistributedVariable, Mirrored, devices_of
from everflow.framework.composites import IndexedSlices
from everflow.framework.scopes import device
from everflow.ops import array, math
from everflow.ops.variable_options import VariableAggregation


class ReduceOp(enum.Enum):
    """How values are put together."""

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


class CrossDeviceOps:
    """How values of several devices are reduced and spread."""

    def reduce(self, reduce_op, per_replica_value, destinations):
        """The sum or mean of a value's parts, on the devices of `destinations` (a name, a value or a variable)."""
        return self.reduce_implementation(as_reduce_op(reduce_op), per_replica_value, destinations)

    def batch_reduce(self, reduce_op, value_destination_pairs):
        """`reduce` for a list of (value, destinations)."""
        return self.batch_reduce_implementation(as_reduce_op(reduce_op), value_destination_pairs)

    def broadcast(self, tensor, destinations):
        """A tensor on every device of `destinations`."""
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(self, reduce_op, per_replica_value, destinations):
        raise NotImplementedError("_reduce method must be implemented in descendants.")

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs):
        return [self.reduce_implementation(reduce_op, value, destinations) for value, destinations in value_destination_pairs]

    def broadcast_implementation(self, tensor, destinations):
        return mirrored_on(devices_of(destinations), lambda _: _copy(tensor))


class ReductionToOneDevice(CrossDeviceOps):
    """Adds up on one device and copies the result to the others."""

    def __init__(self, reduce_to_device=None, accumulation_fn=None):
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn

    def reduce_implementation(self, reduce_op, per_replica_value, destinations):
        devices = devices_of(destinations)
        parts = list(per_replica_value.values) if isinstance(per_replica_value, DistributedValues) else [per_replica_value]
        with device(self.reduce_to_device or devices[0]):
            if self.accumulation_fn is None:
                total = reduced(reduce_op, parts)
            else:
                total = self.accumulation_fn(parts)
                if reduce_op is ReduceOp.MEAN:
                    total = total / len(parts)
        return self.broadcast_implementation(total, devices)


class AllReduceCrossDeviceOps(CrossDeviceOps):
    """Adds up on every device that wants the result: all of them get the same, without a middle man."""

    def __init__(self, num_packs=1):
        self._num_packs = num_packs

    def reduce_implementation(self, reduce_op, per_replica_value, destinations):
        parts = list(per_replica_value.values) if isinstance(per_replica_value, DistributedValues) else [per_replica_value]
        return mirrored_on(devices_of(destinations), lambda _: reduced(reduce_op, parts))


class NcclAllReduce(AllReduceCrossDeviceOps):
    """An all-reduce; torch moves the values, whatever carries them."""


class HierarchicalCopyAllReduce(AllReduceCrossDeviceOps):
    """An all-reduce; torch moves the values, whatever carries them."""


def mirrored_on(devices, make):
    """`make(index)` on each device: a Mirrored, or the value itself where there is one device."""
    made = []
    for index, name in enumerate(devices):
        with device(name):
            made.append(make(index))
    return made[0] if len(made) == 1 else Mirrored(made)


def _copy(value):
    if isinstance(value, IndexedSlices):
        return IndexedSlices(array.identity(value.values), array.identity(value.indices), value.dense_shape)
    return array.identity(value)


def read_all(variable: DistributedVariable):
    """The value of a variable that is put together when it is read."""
    if variable.aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
        return variable.values[0].read_value()
    parts = [v.read_value() for v in variable.values]
    return reduced(ReduceOp.from_variable_aggregation(variable.aggregation), parts)
