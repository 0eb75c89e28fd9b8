"""Parts of a replicated computation that run on the host."""

import pytest

import everflow as tf
from tests.tpu.drawn import drawn, expected, placeholder

OUTSIDE = """
x Placeholder()
input0 TPUReplicatedInput(x)
cluster/pivot NoOp()
TPUReplicateMetadata TPUReplicateMetadata(^cluster/pivot) cluster
replicated_input_0 Identity(input0, ^TPUReplicateMetadata) in cluster
add/y Const(^TPUReplicateMetadata) cluster outside
add AddV2(replicated_input_0, add/y) cluster outside
mul/y Const(^TPUReplicateMetadata) cluster @/device:TPU_REPLICATED_CORE:1
mul Mul(add, mul/y) cluster @/device:TPU_REPLICATED_CORE:1
NoOp NoOp(^cluster/pivot) cluster
Identity Identity(mul) out cluster @/device:TPU_REPLICATED_CORE:1
TPUCompilationResult TPUCompilationResult(^TPUReplicateMetadata)
output0 TPUReplicatedOutput(Identity)
output_0_shard_0 Identity(output0, ^NoOp)
"""


def _on_the_host(a):
    with tf.device(tf.tpu.core(1)):
        return tf.tpu.outside_compilation(lambda q: q + 1.0, a) * 2.0


def test_host_nodes_are_marked_and_leave_the_core():
    assert drawn(lambda: tf.tpu.rewrite(_on_the_host, [placeholder(4)])) == expected(OUTSIDE)


def test_the_core_is_kept_for_the_host():
    with tf.Graph().as_default() as graph:
        tf.tpu.rewrite(_on_the_host, [placeholder(4)])
        assert graph.get_operation_by_name("TPUReplicateMetadata").get_attr("host_compute_core") == [b"0:1"]


def test_without_a_computation_around_it_is_a_call():
    assert drawn(lambda: tf.tpu.outside_compilation(lambda q: -q, placeholder(4))) == ["x Placeholder()", "Neg Neg(x)"]


def test_parts_on_the_host_are_not_nested():
    def nested(a):
        return tf.tpu.outside_compilation(lambda q: tf.tpu.outside_compilation(lambda z: z, q), a)

    with tf.Graph().as_default(), pytest.raises(NotImplementedError):
        tf.tpu.rewrite(nested, [placeholder(4)])
