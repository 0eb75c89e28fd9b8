"""Infeeds of replicas that are several cores each: inputs are cut over the cores, or given to all of them."""

from __future__ import annotations

import numpy as np

from everflow.framework import nest
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import device
from everflow.ops import array
from everflow.ops.tpu.functions import infeed_dequeue_tuple
from everflow.tpu import xla_sharding
from everflow.tpu.feeds import InfeedQueue
from everflow.tpu.system import core


class _PartitionedInfeedQueue(InfeedQueue):
    """An InfeedQueue for the replicas of one host, with a list of parts along each dimension for each element, or None."""

    def __init__(
        self,
        number_of_tuple_elements,
        device_assignment,
        host_id,
        input_partition_dims=None,
        tuple_types=None,
        tuple_shapes=None,
        name=None,
    ):
        super().__init__(
            number_of_tuple_elements, tuple_types, tuple_shapes, name="PartitionedInfeedQueue" if name is None else name
        )
        self._input_partition_dims = input_partition_dims
        self._host_id = host_id
        self._device_assignment = device_assignment

    def generate_dequeue_op(self, tpu_device=0):
        """The tensors of a tuple, marked with how they are spread over the cores of a replica."""
        self.freeze()
        if self._dequeued:
            raise ValueError("An InfeedQueue is dequeued in one place only.")
        self._dequeued = True
        shapes = [p.get_unsharded_shape([s]) for p, s in zip(self._sharding_policies, self._tuple_shapes, strict=True)]
        with device(core(tpu_device)):
            values = infeed_dequeue_tuple(self._tuple_types, shapes, name=f"{self._name}/dequeue")
        return tag_sharding_attribute_for_dequeued_tensors(values, self._input_partition_dims)

    def generate_enqueue_ops(self, sharded_inputs):
        """Nodes that feed every core of the host's replicas."""
        self.set_configuration_from_sharded_input_tensors(sharded_inputs)
        self._tuple_shapes = [t.shape for t in sharded_inputs[0]]
        for policy in self._sharding_policies:
            policy.set_number_of_shards(1)
        self.freeze()
        # The replicas of this host, and for each of them what its cores get.
        replicas = self._device_assignment.lookup_replicas(self._host_id, logical_core=0)
        if len(sharded_inputs) != len(replicas):
            raise ValueError(
                f"{len(sharded_inputs)} inputs were given for {len(replicas)} replicas of host {self._host_id}."
            )
        made = []
        for number, (replica, inputs) in enumerate(zip(replicas, sharded_inputs, strict=True)):
            pairs = zip(inputs, nest.flatten_up_to(list(inputs), self._dims(inputs)), strict=True)
            parts = [self._partition(tensor, dims) for tensor, dims in pairs]
            for logical_core, tensors in enumerate(zip(*parts, strict=True)):
                ordinal = self._device_assignment.tpu_ordinal(replica=replica, logical_core=logical_core)
                made.append(
                    raw.InfeedEnqueueTuple(
                        inputs=list(tensors),
                        shapes=[t.shape for t in tensors],
                        device_ordinal=int(ordinal),
                        name=f"enqueue/replica_{number}/input_{logical_core}",
                    )
                )
        return made

    def _dims(self, inputs):
        return self._input_partition_dims or [None] * len(inputs)

    def _partition(self, tensor, dims):
        """The part of a tensor for each core of a replica."""
        cores = self._device_assignment.num_cores_per_replica
        if dims is None:
            return [tensor] * cores
        self._check_dims(tensor, np.asarray(dims), cores)
        return partition_or_replicate_on_host(tensor, dims)

    @staticmethod
    def _check_dims(tensor, dims, cores):
        if (dims < 1).any():
            raise ValueError(f"Parts along dimensions must be positive, not {dims.tolist()}.")
        if dims.prod() != cores:
            raise ValueError(f"{dims.tolist()} are not the parts of {cores} cores.")
        if tensor.shape.ndims != dims.size:
            raise ValueError(
                f"{dims.tolist()} are parts of {dims.size} dimensions, for a tensor of shape {tensor.shape}."
            )
        if not tensor.shape.is_fully_defined():
            raise ValueError(f"A tensor that is cut must have a known shape, not {tensor.shape}.")


def partition_or_replicate_on_host(tensor, dims):
    """A tensor cut along its dimensions into so many parts each; the last part of a dimension may be smaller."""
    if dims is None:
        return tensor
    parts = [tensor]
    for axis, count in enumerate(np.asarray(dims).tolist()):
        if count > 1:
            parts = [piece for part in parts for piece in _cut(part, axis, count)]
    return parts


def _cut(tensor, axis, count):
    size = tensor.shape.as_list()[axis]
    if size % count == 0:
        return array.split(tensor, count, axis=axis)
    largest = -(-size // count)
    sizes = [max(0, min(largest, size - i * largest)) for i in range(count)]
    return array.split(tensor, sizes, axis=axis)


def tag_sharding_attribute_for_dequeued_tensors(dequeues, dims):
    """Mark tensors with the parts that they are in on the cores of a replica."""
    nest.map_structure_up_to(dequeues, _tag, dequeues, dims or [None] * len(dequeues))
    return dequeues


def _tag(tensor, dims):
    if dims is None:
        return xla_sharding.replicate(tensor, assign_tuple_sharding=True)
    if np.prod(dims) == 1:
        return xla_sharding.assign_device(tensor, 0, assign_tuple_sharding=True)
    tiles = np.arange(np.prod(dims)).reshape(dims)
    return xla_sharding.tile(tensor, assign_tuple_sharding=True, tile_assignment=tiles)
