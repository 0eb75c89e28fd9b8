"""Infeeds: configuration, shards, and cores of one replica."""

import pytest

import everflow as tf
from everflow.protos.xla_data_pb2 import OpSharding
from everflow.tpu import xla_sharding
from everflow.tpu.partitioned_feeds import _PartitionedInfeedQueue, partition_or_replicate_on_host
from everflow.tpu.sharding_policy import ShardingPolicy
from tests.tpu.drawn import drawn, placeholder


def test_a_queue_is_frozen_when_it_is_used():
    queue = tf.contrib.tpu.InfeedQueue(number_of_tuple_elements=2)
    queue.set_tuple_types([tf.float32, "int32"])
    queue.set_tuple_shapes([[4, 2], [2]])
    queue.set_number_of_shards(2)
    queue.freeze()
    assert [str(policy) for policy in queue.sharding_policies] == ["ShardingPolicy(2 shards dimension 0)"] * 2
    for change in (lambda: queue.set_number_of_shards(3), lambda: queue.set_tuple_types([tf.float32] * 2)):
        with pytest.raises(ValueError, match="frozen"):
            change()


@pytest.mark.parametrize(
    "wrong", [{}, {"number_of_tuple_elements": 0}, {"tuple_types": [tf.float32], "tuple_shapes": [[1], [2]]}]
)
def test_wrong_queues(wrong):
    with pytest.raises(ValueError):
        tf.contrib.tpu.InfeedQueue(**wrong)


def test_shards_are_fed_where_they_are():
    def build():
        queue = tf.contrib.tpu.InfeedQueue(tuple_types=[tf.float32], tuple_shapes=[[4, 3]], shard_dimensions=[0])
        queue.set_number_of_shards(2)
        queue.split_inputs_and_generate_enqueue_ops([placeholder(4, 3)])
        queue.generate_dequeue_op()

    assert drawn(build)[3:] == [
        "InfeedQueue/split/0 Split(InfeedQueue/split/0/split_dim, x)",
        "InfeedQueue/enqueue/0 InfeedEnqueueTuple(InfeedQueue/split/0) @/task:0/device:CPU:0",
        "InfeedQueue/enqueue/1 InfeedEnqueueTuple(InfeedQueue/split/0:1) @/task:0/device:CPU:0",
        "InfeedQueue/dequeue InfeedDequeueTuple() @/device:TPU_REPLICATED_CORE:0",
    ]


def test_a_queue_is_dequeued_once():
    with tf.Graph().as_default():
        queue = tf.contrib.tpu.InfeedQueue(tuple_types=[tf.float32], tuple_shapes=[[4]])
        (value,) = queue.generate_dequeue_op()
        assert value.shape.as_list() == [4]
        with pytest.raises(ValueError, match="one place"):
            queue.generate_dequeue_op()


def test_inputs_are_cut_over_the_cores_of_a_replica():
    topology = tf.contrib.tpu.Topology(mesh_shape=[1, 1, 2], device_coordinates=[[[0, 0, 0], [0, 0, 1]]])
    assignment = tf.contrib.tpu.device_assignment(topology, computation_shape=[1, 1, 2])
    with tf.Graph().as_default():
        queue = _PartitionedInfeedQueue(2, assignment, 0, input_partition_dims=[[2, 1], None])
        fed = queue.generate_enqueue_ops([[placeholder(4, 3), placeholder(4)]])
        assert [[t.shape.as_list() for t in op.inputs] for op in fed] == [[[2, 3], [4]]] * 2
        assert [op.get_attr("device_ordinal") for op in fed] == [0, 1]
        values = queue.generate_dequeue_op()
        sharding = OpSharding.FromString(values[0].op.get_attr("_XlaSharding"))
        assert [list(part.tile_assignment_dimensions) for part in sharding.tuple_shardings] == [[2, 1], []]
        wrong = _PartitionedInfeedQueue(1, assignment, 0, input_partition_dims=[[4, 1]])
        with pytest.raises(ValueError, match="parts of 2 cores"):
            wrong.generate_enqueue_ops([[placeholder(4, 3)]])


def test_parts_need_not_be_equal():
    with tf.Graph().as_default():
        parts = partition_or_replicate_on_host(placeholder(5, 4), [2, 2])
        assert [part.shape.as_list() for part in parts] == [[3, 2], [3, 2], [2, 2], [2, 2]]


def test_policies():
    policy = ShardingPolicy()
    assert str(policy) == "ShardingPolicy(unset)"
    policy.set_number_of_shards(4)
    policy.set_shard_dimension(1)
    assert policy.get_sharded_shape([3, 8]).as_list() == [3, 2]
    assert policy.get_unsharded_shape([[3, 2]] * 4).as_list() == [3, 8]
    for wrong in (
        lambda: policy.get_sharded_shape([3, 7]),
        lambda: policy.get_sharded_shape([3]),
        lambda: policy.get_sharded_shape([3, None]),
        lambda: policy.get_unsharded_shape([[3, 2]]),
        lambda: policy.set_number_of_shards(5),
    ):
        with pytest.raises(ValueError):
            wrong()


def test_sharding_is_an_attribute():
    with tf.Graph().as_default():
        x = tf.identity(placeholder(4, 6))
        xla_sharding.split(x, 1, 3)
        assert x.op.get_attr("_XlaSharding") == b'\x08\x03\x1a\x02\x01\x03"\x03\x00\x01\x02'
        one, two = tf.split(x, 2)
        xla_sharding.Sharding.assign_device(3).apply_to_tensor(two)
        sharding = OpSharding.FromString(one.op.get_attr("_XlaSharding"))
        assert [part.type for part in sharding.tuple_shardings] == [OpSharding.REPLICATED, OpSharding.MAXIMAL]
        with pytest.raises(TypeError):
            xla_sharding.tile(x, [0, 1])
