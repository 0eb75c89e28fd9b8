"""Values with a part for each replica: the devices they know, what is computed with them, and functions that take them."""

import pytest

import everflow as tf
from everflow.distribute import values
from everflow.distribute.device_maps import (
    ReplicaDeviceMap,
    SingleDeviceMap,
    WorkerDeviceMap,
    current_device,
    full_device,
)
from everflow.distribute.values import (
    DistributedDelegate,
    DistributedValues,
    Mirrored,
    PerReplica,
    regroup,
    select_device_mirrored,
    select_replica,
)
from everflow.eager.mode import eager_mode

TWO = ReplicaDeviceMap(["/cpu:0", "/gpu:0"])
CPU, GPU = "/replica:0/task:0/device:CPU:0", "/replica:0/task:0/device:GPU:0"


def test_names_of_devices_in_full():
    with tf.Graph().as_default():
        assert full_device("/cpu:0") == CPU and full_device("/job:w/gpu:1") == "/job:w/replica:0/task:0/device:GPU:1"
        assert full_device("/gpu:0", default="/job:w/task:3/cpu:0") == "/job:w/replica:0/task:3/device:GPU:0"
        assert current_device() == ""
        with tf.device("/job:w"), tf.device("/gpu:2"):
            assert current_device() == "/job:w/device:GPU:2"
    with eager_mode():
        assert full_device("/cpu:0") == "/job:localhost" + CPU


def test_maps_find_the_part_of_a_device_or_replica():
    assert TWO.all_devices == (CPU, GPU) and list(TWO.devices_by_replica) == [(CPU,), (GPU,)]
    assert TWO.select_for_device("ab", GPU) == "b" and TWO.replica_for_device(GPU) == 1
    with pytest.raises(ValueError, match="GPU:1"):
        TWO.select_for_device("ab", "/device:GPU:1")
    with pytest.raises(ValueError, match="device of its own"):
        ReplicaDeviceMap(["/cpu:0", "/device:CPU:0"])
    with pytest.raises(ValueError, match="SingleDeviceMap"):
        SingleDeviceMap("/cpu:0").replica_for_device(CPU)
    with tf.Graph().as_default():
        third = tf.distribute.ReplicaContext(tf.distribute.get_strategy(), 3)
        assert WorkerDeviceMap(["/cpu:0", "/gpu:0"], 2).select_for_current_replica("ab", third) == "b"


def test_parts():
    value = DistributedValues(TWO, ("a", "b"))
    assert value.get("/gpu:0") == "b" and value.get() == value.primary == "a" and value.devices == (CPU, GPU)
    assert str(value).splitlines()[1] == f"  0 {CPU}: a,"
    with pytest.raises(AssertionError):
        DistributedValues(TWO, ("a",))


def test_delegates_compute_with_the_part_at_hand():
    value = DistributedDelegate(TWO, (7, 8))
    assert (value + 1, 10 - value, value // 2, 2**value, -value, value < 8, value / 2) == (8, 3, 3, 128, -7, True, 3.5)
    assert value.bit_length() == 3 and DistributedDelegate(TWO, ([5], [6]))[0] == 5
    with pytest.raises(AttributeError):
        _ = value._hidden


def test_structures_are_joined_and_taken_apart():
    joined = regroup(TWO, (("a", {"k": [1]}), ("b", {"k": [1]})))
    assert joined[0].values == ("a", "b") and joined[1] == {"k": [1]}
    assert select_replica(1, joined) == ("b", {"k": [1]})
    with pytest.raises(TypeError, match="same values"):
        select_device_mirrored(GPU, joined)
    assert select_device_mirrored(GPU, regroup(TWO, ("a", "b"), Mirrored)) == "b"
    for a, b in (((1,), [1]), ([1], [1, 2]), ({"a": 1}, {"b": 1})):
        with pytest.raises(AssertionError):
            regroup(TWO, (a, b))


def test_functions_take_and_give_values_of_replicas():
    with eager_mode():
        value = PerReplica(TWO, (tf.constant(1.0), tf.constant(2.0)))
        assert len(tf.nest.flatten(value, expand_composites=True)) == 2
        doubled = tf.function(lambda x: tf.nest.map_structure(lambda v: v * 2, x, expand_composites=True))(value)
        assert isinstance(doubled, PerReplica) and [v.numpy() for v in doubled.values] == [2.0, 4.0]


def test_operands_with_a_modulus_and_tensors():
    one = values.DistributedDelegate(SingleDeviceMap("/cpu:0"), (7,))
    assert (pow(one, 3, 10), pow(one, 2), pow(2, one)) == (3, 49, 128)
    with tf.Graph().as_default():
        assert tf.is_tensor(values.PerReplica(SingleDeviceMap("/cpu:0"), (tf.constant(1),)))
    assert not tf.is_tensor(one)
