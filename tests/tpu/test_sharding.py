"""Computations over shards."""

import pytest

import everflow as tf
from tests.tpu.drawn import drawn, expected, placeholder

SHARDED = """
x Placeholder()
Const Const()
split/split_dim Const()
split Split(split/split_dim, x)
input0 TPUReplicatedInput(split, split:1)
cluster/pivot NoOp()
TPUReplicateMetadata TPUReplicateMetadata(^cluster/pivot) cluster
replicated_input_0 Identity(input0, ^TPUReplicateMetadata) in cluster
add/y Const(^TPUReplicateMetadata) cluster
add AddV2(replicated_input_0, add/y) cluster
NoOp NoOp(^cluster/pivot) cluster
Identity Identity(add) out cluster @/device:TPU_REPLICATED_CORE:0
TPUCompilationResult TPUCompilationResult(^TPUReplicateMetadata)
output0 TPUReplicatedOutput(Identity)
output_0_shard_0 Identity(output0, ^NoOp)
output_0_shard_1 Identity(output0:1, ^NoOp)
concat/axis Const()
concat ConcatV2(output_0_shard_0, output_0_shard_1, concat/axis)
"""


def test_inputs_are_split_and_outputs_joined():
    def build():
        tf.tpu.shard(lambda a: a + 1.0, [placeholder(4, 3)], num_shards=2)

    assert drawn(build) == expected(SHARDED)
    assert drawn(lambda: tf.tpu.batch_parallel(lambda a: a + 1.0, [placeholder(4, 3)], num_shards=2)) == expected(
        SHARDED
    )


def test_outputs_of_the_first_shard():
    with tf.Graph().as_default():
        total, rows = tf.tpu.shard(
            lambda a: (tf.reduce_sum(a), a), [placeholder(4, 3)], num_shards=2, outputs_from_all_shards=[False, True]
        )
        assert (total.op.type, rows.op.type, rows.shape.as_list()) == ("Identity", "ConcatV2", [4, 3])
        (done,) = tf.tpu.shard(tf.no_op, num_shards=2)
        assert done.name == "shard_0"


@pytest.mark.parametrize(
    "wrong",
    [
        {"num_shards": 0},
        {"num_shards": 2, "input_shard_axes": [0, 1]},
        {"num_shards": 2, "output_shard_axes": [0, 1]},
        {"num_shards": 2, "outputs_from_all_shards": [True, True]},
    ],
)
def test_refusals(wrong):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        tf.tpu.shard(lambda a: a, [placeholder(4)], **wrong)


def test_means_over_shards_divide_the_loss():
    def train(x, **how):
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
        return tf.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1), **how).minimize(tf.reduce_sum(v * x))

    def factors(**how):
        with tf.Graph().as_default() as graph:
            tf.tpu.shard(lambda x: train(x, **how), [placeholder(4)], num_shards=2)
            operations = {op.name: op for op in graph.get_operations()}
            return "mul_1" in operations, tf.contrib.util.constant_value(
                operations["CrossReplicaSum"].inputs[1]
            ).tolist()

    assert factors() == (True, [[0, 1]])
    assert factors(reduction=tf.losses.Reduction.SUM, group_assignment=[[0], [1]]) == (False, [[0], [1]])
    with pytest.raises(ValueError, match="each of 2 shards"):
        factors(group_assignment=[[0]])
    with pytest.raises(ValueError, match="not reduced by"):
        tf.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1), reduction="none")
    with pytest.raises(TypeError):
        tf.tpu.CrossShardOptimizer(tf.keras.optimizers.SGD(0.1))
