"""How XLA spreads a tensor over cores, said in an attribute of the node that makes it."""

from __future__ import annotations

import numpy as np

from everflow.protos.xla_data_pb2 import OpSharding

_MARK = "_XlaSharding"


class Sharding:
    """A tensor on every core, on one, or in tiles.

    >>> Sharding.split(tf.ones([4, 6]), 1, 3).proto.tile_assignment_dimensions
    [1, 3]
    """

    def __init__(self, proto=None):
        self._proto = proto

    proto = property(lambda self: self._proto, doc="The OpSharding.")

    @classmethod
    def replicate(cls):
        """All of it on every core."""
        return cls(OpSharding(type=OpSharding.REPLICATED))

    @classmethod
    def assign_device(cls, core):
        """All of it on one core."""
        return cls(OpSharding(type=OpSharding.MAXIMAL, tile_assignment_dimensions=[1], tile_assignment_devices=[core]))

    @classmethod
    def tile(cls, tile_assignment):
        """In tiles; `tile_assignment` has the core of each, and the tensor's rank."""
        if not isinstance(tile_assignment, np.ndarray):
            raise TypeError(f"tile_assignment must be a numpy array, not {tile_assignment!r}.")
        return cls(
            OpSharding(
                type=OpSharding.OTHER,
                tile_assignment_dimensions=tile_assignment.shape,
                tile_assignment_devices=tile_assignment.flatten().tolist(),
            )
        )

    @classmethod
    def split(cls, tensor, split_dimension, num_devices):
        """In equal parts along one dimension."""
        tiles = [1] * tensor.shape.ndims
        tiles[split_dimension] = num_devices
        return cls.tile(np.arange(num_devices).reshape(tiles))

    def apply_to_tensor(self, tensor, assign_tuple_sharding=False):
        """Mark the node that makes a tensor; of several outputs the others are as they were, or on every core."""
        outputs = tensor.op.outputs
        proto = self._proto
        if len(outputs) > 1 or assign_tuple_sharding:
            before = OpSharding.FromString(tensor.op.attrs.get(_MARK, b""))
            parts = list(before.tuple_shardings) or [OpSharding(type=OpSharding.REPLICATED) for _ in outputs]
            parts[tensor.value_index] = proto
            proto = OpSharding(type=OpSharding.TUPLE, tuple_shardings=parts)
        tensor.op._set_attr(_MARK, proto.SerializeToString())


def replicate(tensor, assign_tuple_sharding=False):
    """The tensor, marked to be on every core."""
    Sharding.replicate().apply_to_tensor(tensor, assign_tuple_sharding)
    return tensor


def assign_device(tensor, device, assign_tuple_sharding=False):
    """The tensor, marked to be on one core."""
    Sharding.assign_device(device).apply_to_tensor(tensor, assign_tuple_sharding)
    return tensor


def tile(tensor, tile_assignment, assign_tuple_sharding=False):
    """The tensor, marked to be in tiles."""
    Sharding.tile(tile_assignment).apply_to_tensor(tensor, assign_tuple_sharding)
    return tensor


def split(tensor, split_dimension, num_devices, assign_tuple_sharding=False):
    """The tensor, marked to be in equal parts along one dimension."""
    Sharding.split(tensor, split_dimension, num_devices).apply_to_tensor(tensor, assign_tuple_sharding)
    return tensor
