"""`DeviceAssignment`: which cores of a mesh the logical cores of each replica are."""

from __future__ import annotations

import collections
import itertools
import math

import numpy as np

from everflow.tpu.topology import Topology

SINGLE_CORE_ASSIGNMENT = [[[0, 0, 0]]]


class DeviceAssignment:
    """Cores of a topology for the logical cores of replicas: `core_assignment[replica, logical core]` is a place."""

    def __init__(self, topology, core_assignment):
        if not isinstance(topology, Topology):
            raise ValueError(f"topology must be a Topology, not {type(topology)}.")
        core_assignment = np.asarray(core_assignment, dtype=np.int32)
        if core_assignment.ndim != 3:
            raise ValueError(
                f"core_assignment is [replica, logical core, coordinate], not of shape {core_assignment.shape}."
            )
        if core_assignment.shape[2] != topology.mesh_rank:
            raise ValueError(
                f"core_assignment has places of {core_assignment.shape[2]} coordinates in a mesh of rank {topology.mesh_rank}."
            )
        self._topology = topology
        self._core_assignment = core_assignment
        # {task: {logical core: replicas}}
        self._replicas = collections.defaultdict(lambda: collections.defaultdict(list))
        for replica, cores in enumerate(core_assignment):
            for logical_core, place in enumerate(cores):
                self._replicas[topology.task_ordinal_at_coordinates(place)][logical_core].append(replica)

    topology = property(lambda self: self._topology)
    core_assignment = property(lambda self: self._core_assignment)
    num_replicas = property(lambda self: self._core_assignment.shape[0])
    num_cores_per_replica = property(lambda self: self._core_assignment.shape[1])

    def coordinates(self, replica, logical_core):
        """The place of a replica's logical core."""
        return tuple(self._core_assignment[replica, logical_core, :].tolist())

    def lookup_replicas(self, task_id, logical_core):
        """The replicas whose logical core of this number is in a task."""
        replicas = self._replicas.get(task_id, {}).get(logical_core)
        if not replicas:
            raise ValueError(f"No replica has its logical core {logical_core} in task {task_id}.")
        return replicas

    def tpu_ordinal(self, replica=0, logical_core=0):
        """The number that a logical core has in its task."""
        return self._topology.tpu_device_ordinal_at_coordinates(self.coordinates(replica, logical_core))

    def host_device(self, replica=0, logical_core=0, job=None):
        """The host of a logical core."""
        return self._topology.cpu_device_name_at_coordinates(self.coordinates(replica, logical_core), job=job)

    def tpu_device(self, replica=0, logical_core=0, job=None):
        """The device of a logical core."""
        return self._topology.tpu_device_name_at_coordinates(self.coordinates(replica, logical_core), job=job)

    @staticmethod
    def build(topology, computation_shape=None, computation_stride=None, num_replicas=1):
        return device_assignment(topology, computation_shape, computation_stride, num_replicas)


def device_assignment(topology, computation_shape=None, computation_stride=None, num_replicas=1):
    """Replicas that are blocks of `computation_shape` cores in the mesh, near each other.

    With a stride the cores of a replica are so far apart, and those between belong to other replicas.
    """
    if not isinstance(topology, Topology):
        raise ValueError(f"topology must be a Topology, not {type(topology)}.")
    mesh = topology.mesh_shape
    shape = _triple("computation_shape", computation_shape, topology.mesh_rank)
    stride = _triple("computation_stride", computation_stride, topology.mesh_rank)
    footprint = shape * stride
    if any(footprint > mesh):
        raise ValueError(f"Replicas that take {footprint} cores do not fit into a mesh of {mesh}.")
    blocks = mesh // footprint
    counts = blocks * stride
    most = math.prod(counts.tolist())
    if num_replicas > most:
        raise ValueError(
            f"{num_replicas} replicas were asked for; {most} of {shape} cores with stride {stride} fit into a mesh of {mesh}."
        )
    # Where whole chips of two cores fill the mesh, neighbours in the numbering are neighbours in a ring.
    if (
        topology.mesh_rank == 3
        and shape[2] == mesh[2] == 2
        and math.prod(stride.tolist()) == 1
        and num_replicas == most
    ):
        starts = [(*(np.array(p) * shape[:2]), 0) for p in ring_2d(*blocks[:2])]
        inner = [(*p, z) for p in ring_2d(*shape[:2]) for z in range(shape[2])]
    else:
        starts = [_start(p, footprint, stride) for p in _positions(num_replicas, counts)]
        inner = [np.array(p) * stride for p in itertools.product(*map(range, shape))]
    assignment = [[np.add(start, core) for core in inner] for start in starts]
    return DeviceAssignment(topology, np.reshape(assignment, (num_replicas, len(inner), topology.mesh_rank)))


def _triple(name, given, rank):
    values = np.asarray([1] * rank if given is None else given, dtype=np.int32)
    if values.shape != (rank,):
        raise ValueError(f"{name} must have {rank} entries, not shape {values.shape}.")
    if any(values < 1):
        raise ValueError(f"{name} must be positive, not {values}.")
    return values


def _positions(num_replicas, counts):
    """The first `num_replicas` places of a box that is as near to a cube as `counts` allow."""
    box, left = [1] * len(counts), num_replicas
    order = sorted(range(len(counts)), key=lambda i: (counts[i], -i))
    for dims_left, i in zip(range(len(counts), 0, -1), order, strict=True):
        box[i] = max(1, min(math.ceil(left ** (1.0 / dims_left)), counts[i]))
        left = math.ceil(left / box[i])
    return itertools.islice(itertools.product(*map(range, box)), num_replicas)


def _start(position, footprint, stride):
    """The first core of the replica at a position."""
    position = np.array(position)
    return position // stride * footprint + position % stride


def ring_2d(height, width):
    """The places of a rectangle in an order in which each is next to the one before; where rows are even in number,
    the last is next to the first.
    """
    if height == 1:
        return [(0, i) for i in range(width)]
    if width == 1:
        return [(i, 0) for i in range(height)]
    if height % 2:
        return [(i, j) for j in range(width) for i in range(height)]
    ring = [(0, 0)]
    for i in range(height):
        row = [(i, j) for j in range(1, width)]
        ring += row if i % 2 == 0 else row[::-1]
    return ring + [(i, 0) for i in range(height - 1, 0, -1)]
