"""Putting the values of replicas together: the objects that say where and how."""

from __future__ import annotations

from everflow.distribute.device_maps import map_of
from everflow.distribute.reduce_ops import ReduceOp, as_reduce_op, reduced
from everflow.distribute.values import DistributedValues, Mirrored, devices_of
from everflow.framework.composites import IndexedSlices
from everflow.framework.scopes import device
from everflow.ops import array


class CrossDeviceOps:
    """How values of several devices are reduced and spread.

    Example:
        >>> isinstance(tf.distribute.NcclAllReduce(), tf.distribute.CrossDeviceOps)
        True
    """

    def reduce(self, reduce_op, per_replica_value, destinations):
        """The sum or mean of a value's parts, on the devices of `destinations` (a name, a value or a variable)."""
        _check(per_replica_value, destinations)
        return self.reduce_implementation(as_reduce_op(reduce_op), per_replica_value, destinations)

    def batch_reduce(self, reduce_op, value_destination_pairs):
        """`reduce` for a list of (value, destinations)."""
        for pair in value_destination_pairs:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ValueError(f"A pair (value, destinations) is a tuple of two, not {pair!r}")
            _check(*pair)
        return self.batch_reduce_implementation(as_reduce_op(reduce_op), value_destination_pairs)

    def broadcast(self, tensor, destinations):
        """A tensor on every device of `destinations`."""
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(self, reduce_op, per_replica_value, destinations):
        raise NotImplementedError("_reduce method must be implemented in descendants.")

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs):
        return [
            self.reduce_implementation(reduce_op, value, destinations)
            for value, destinations in value_destination_pairs
        ]

    def broadcast_implementation(self, tensor, destinations):
        return mirrored_on(devices_of(destinations), lambda _: _copy(tensor))


def _check(value, destinations) -> None:
    if not isinstance(value, DistributedValues) and not hasattr(value, "device"):
        raise ValueError(f"A tensor is reduced, or a value with parts, not {value!r}")
    if destinations is None:
        raise ValueError("There must be destinations: a device's name, a value or a variable")


class ReductionToOneDevice(CrossDeviceOps):
    """Adds up on one device and copies the result to the others.

    Args:
        reduce_to_device: The device; that of the result if None.
        accumulation_fn: How values are added up; `tf.add_n` if None.

    Example:
        >>> isinstance(tf.distribute.ReductionToOneDevice(), tf.distribute.CrossDeviceOps)
        True
    """

    def __init__(self, reduce_to_device=None, accumulation_fn=None):
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn

    def reduce_implementation(self, reduce_op, per_replica_value, destinations):
        devices = devices_of(destinations)
        parts = (
            list(per_replica_value.values) if isinstance(per_replica_value, DistributedValues) else [per_replica_value]
        )
        with device(self.reduce_to_device or devices[0]):
            if self.accumulation_fn is None or any(isinstance(part, IndexedSlices) for part in parts):
                total = reduced(reduce_op, parts)
            else:
                total = self.accumulation_fn(parts)
                if reduce_op is ReduceOp.MEAN:
                    total = total / len(parts)
        return self.broadcast_implementation(total, devices)


class AllReduceCrossDeviceOps(CrossDeviceOps):
    """Adds up on every device that wants the result: all of them get the same, without a middle man."""

    def __init__(self, all_reduce_alg="nccl", num_packs=1, agg_small_grads_max_bytes=0, agg_small_grads_max_group=10):
        self._all_reduce_alg, self._num_packs = all_reduce_alg, num_packs
        # How gradients would be packed for the way: values of one memory need no packing.
        self._agg_small_grads_max_bytes = agg_small_grads_max_bytes
        self._agg_small_grads_max_group = agg_small_grads_max_group

    def reduce_implementation(self, reduce_op, per_replica_value, destinations):
        parts = (
            list(per_replica_value.values) if isinstance(per_replica_value, DistributedValues) else [per_replica_value]
        )
        return mirrored_on(devices_of(destinations), lambda _: reduced(reduce_op, parts))


class NcclAllReduce(AllReduceCrossDeviceOps):
    """An all-reduce; torch moves the values, whatever carries them.

    Args:
        num_packs: Into how many parts values are packed.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0"], cross_device_ops=tf.distribute.NcclAllReduce())
        >>> strategy.num_replicas_in_sync
        1
    """

    def __init__(self, num_packs=1):
        super().__init__("nccl", num_packs)


class HierarchicalCopyAllReduce(AllReduceCrossDeviceOps):
    """An all-reduce; torch moves the values, whatever carries them.

    Args:
        num_packs: Into how many parts values are packed.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0"], cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())
        >>> strategy.num_replicas_in_sync
        1
    """

    def __init__(self, num_packs=1):
        super().__init__("hierarchical_copy", num_packs)


def mirrored_on(devices, make):
    """`make(index)` on each device: a Mirrored, or the value itself where there is one device."""
    made = []
    for index, name in enumerate(devices):
        with device(name):
            made.append(make(index))
    return made[0] if len(made) == 1 else Mirrored(map_of(devices), made)


def _copy(value):
    if isinstance(value, IndexedSlices):
        return IndexedSlices(array.identity(value.values), array.identity(value.indices), value.dense_shape)
    return array.identity(value)
