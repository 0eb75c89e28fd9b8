"""Places of cores, and which of them replicas get: numbers as TensorFlow 1.15.5 gives them."""

import numpy as np
import pytest

import everflow as tf
from everflow.protos.topology_pb2 import TopologyProto
from everflow.tpu.device_assignment import ring_2d

PLACES = [(x, y, z) for x in range(2) for y in range(2) for z in range(2)]


@pytest.fixture
def topology():
    proto = TopologyProto(
        mesh_shape=[2, 2, 2], num_tasks=2, num_tpu_devices_per_task=4, device_coordinates=np.ravel(PLACES).tolist()
    )
    return tf.contrib.tpu.Topology(serialized=proto.SerializeToString())


def test_topology(topology):
    assert (topology.mesh_rank, topology.num_tasks, topology.num_tpus_per_task) == (3, 2, 4)
    assert topology.task_ordinal_at_coordinates([1, 1, 0]) == 1
    assert topology.tpu_device_ordinal_at_coordinates([1, 1, 0]) == 2
    assert topology.cpu_device_name_at_coordinates([1, 1, 0]) == "/task:1/device:CPU:0"
    assert topology.tpu_device_name_at_coordinates([0, 0, 1], job="w") == "/job:w/task:0/device:TPU:1"
    again = tf.contrib.tpu.Topology(mesh_shape=[2, 2, 2], device_coordinates=topology.device_coordinates)
    assert again.serialized() == topology.serialized()


@pytest.mark.parametrize("wrong", [{"mesh_shape": [2, 2]}, {"mesh_shape": [2, 2, 0]}, {"device_coordinates": [[1]]}])
def test_wrong_topologies(topology, wrong):
    given = {"mesh_shape": [2, 2, 2], "device_coordinates": topology.device_coordinates}
    with pytest.raises(ValueError):
        tf.contrib.tpu.Topology(**given | wrong)


def test_replicas_are_near_each_other(topology):
    build = tf.contrib.tpu.device_assignment
    assert build(topology, num_replicas=8).core_assignment.tolist() == [[list(place)] for place in PLACES]
    assert build(topology, computation_shape=[1, 1, 2], num_replicas=4).core_assignment.tolist() == [
        [[0, 0, 0], [0, 0, 1]],
        [[0, 1, 0], [0, 1, 1]],
        [[1, 1, 0], [1, 1, 1]],
        [[1, 0, 0], [1, 0, 1]],
    ]
    strided = build(topology, computation_shape=[1, 1, 2], computation_stride=[1, 2, 1], num_replicas=4)
    assert strided.core_assignment[:, 0].tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]
    assert tf.tpu.experimental.DeviceAssignment.build(topology).num_replicas == 1


def test_few_replicas_make_a_box():
    places = [[[(t % 2) * 2 + i % 2, (t // 2) * 2 + i // 2, z] for i in range(4) for z in range(2)] for t in range(4)]
    topology = tf.contrib.tpu.Topology(mesh_shape=[4, 4, 2], device_coordinates=places)
    found = tf.contrib.tpu.device_assignment(topology, num_replicas=10).core_assignment[:, 0].tolist()
    assert found == [[x, y, z] for x in range(2) for y in range(3) for z in range(2)][:10]


def test_what_an_assignment_knows(topology):
    assignment = tf.contrib.tpu.device_assignment(topology, num_replicas=8)
    assert assignment.coordinates(5, 0) == (1, 0, 1)
    assert assignment.lookup_replicas(1, 0) == [4, 5, 6, 7]
    assert assignment.host_device(replica=5) == "/task:1/device:CPU:0"
    assert assignment.tpu_device(replica=5, job="j") == "/job:j/task:1/device:TPU:1"
    assert assignment.tpu_ordinal(replica=5) == 1
    with pytest.raises(ValueError, match="No replica"):
        tf.contrib.tpu.device_assignment(topology).lookup_replicas(1, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"num_replicas": 9},
        {"computation_shape": [1, 1]},
        {"computation_shape": [3, 1, 1]},
        {"computation_stride": [0, 1, 1]},
    ],
)
def test_what_does_not_fit(topology, wrong):
    with pytest.raises(ValueError):
        tf.contrib.tpu.device_assignment(topology, **wrong)


def test_rings():
    assert ring_2d(2, 4) == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 3), (1, 2), (1, 1), (1, 0)]
    assert ring_2d(4, 2) == [(0, 0), (0, 1), (1, 1), (2, 1), (3, 1), (3, 0), (2, 0), (1, 0)]
    assert ring_2d(3, 2) == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]
