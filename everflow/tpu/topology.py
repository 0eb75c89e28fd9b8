"""`Topology`: where the cores of a TPU system are in its mesh, from the message that starting it gives."""

from __future__ import annotations

import numpy as np

from everflow.protos import topology_pb2


def _device_name(job, task, kind, number):
    return f"{'' if job is None else f'/job:{job}'}/task:{task}/device:{kind}:{number}"


class Topology:
    """The mesh of a TPU system: which task has which core, by coordinates.

    >>> tf.contrib.tpu.Topology(mesh_shape=[1, 1, 2], device_coordinates=[[[0, 0, 0], [0, 0, 1]]]).num_tpus_per_task
    2
    """

    def __init__(self, serialized=None, mesh_shape=None, device_coordinates=None):
        self._serialized = serialized
        if serialized:
            self._parse(serialized)
        else:
            self._mesh_shape = np.asarray(mesh_shape, dtype=np.int32)
            self._device_coordinates = np.asarray(device_coordinates, dtype=np.int32)
            self._check_mesh()
            if self._device_coordinates.ndim != 3 or self._device_coordinates.shape[2] != len(self._mesh_shape):
                raise ValueError(
                    "device_coordinates are [tasks, cores of a task, coordinates]; they have shape "
                    f"{self._device_coordinates.shape} for a mesh of rank {len(self._mesh_shape)}."
                )
        # For each place of the mesh the task that has its core, and the core's number there.
        self._tasks = np.full(self._mesh_shape, -1, dtype=np.int32)
        self._cores = np.full(self._mesh_shape, -1, dtype=np.int32)
        for task, cores in enumerate(self._device_coordinates):
            for core, place in enumerate(cores):
                self._tasks[tuple(place)] = task
                self._cores[tuple(place)] = core

    def _check_mesh(self):
        if len(self._mesh_shape) != 3 or any(self._mesh_shape < 1):
            raise ValueError(f"mesh_shape must have 3 positive entries, not {self._mesh_shape}.")

    def _parse(self, serialized):
        proto = topology_pb2.TopologyProto.FromString(serialized)
        self._mesh_shape = np.array(proto.mesh_shape, dtype=np.int32)
        self._check_mesh()
        shape = (proto.num_tasks, proto.num_tpu_devices_per_task, len(self._mesh_shape))
        coordinates = np.array(proto.device_coordinates, dtype=np.int32)
        if any(size < 1 for size in shape) or coordinates.size != np.prod(shape):
            raise ValueError(f"{coordinates.size} numbers are no coordinates of [tasks, cores, dimensions] = {shape}.")
        self._device_coordinates = coordinates.reshape(shape)

    mesh_shape = property(lambda self: self._mesh_shape, doc="The sizes of the mesh.")
    mesh_rank = property(lambda self: len(self._mesh_shape), doc="The number of dimensions of the mesh.")
    device_coordinates = property(
        lambda self: self._device_coordinates, doc="[task, core of the task, dimension]: where each core is."
    )
    num_tasks = property(lambda self: self._device_coordinates.shape[0])
    num_tpus_per_task = property(lambda self: self._device_coordinates.shape[1])

    def task_ordinal_at_coordinates(self, device_coordinates):
        """The task that has the core at a place."""
        return self._tasks[tuple(device_coordinates)]

    def tpu_device_ordinal_at_coordinates(self, device_coordinates):
        """The number that the core at a place has in its task."""
        return self._cores[tuple(device_coordinates)]

    def cpu_device_name_at_coordinates(self, device_coordinates, job=None):
        """The host of the core at a place."""
        return _device_name(job, self._tasks[tuple(device_coordinates)], "CPU", 0)

    def tpu_device_name_at_coordinates(self, device_coordinates, job=None):
        """The device of the core at a place."""
        place = tuple(device_coordinates)
        return _device_name(job, self._tasks[place], "TPU", self._cores[place])

    def serialized(self):
        """The topology as a serialized TopologyProto."""
        if self._serialized is None:
            self._serialized = topology_pb2.TopologyProto(
                mesh_shape=self._mesh_shape.tolist(),
                num_tasks=self.num_tasks,
                num_tpu_devices_per_task=self.num_tpus_per_task,
                device_coordinates=self._device_coordinates.flatten().tolist(),
            ).SerializeToString()
        return self._serialized
