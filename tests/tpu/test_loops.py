"""Loops on cores."""

import pytest

import everflow as tf
from everflow.ops.tpu.shard_context import on_device_training_loop
from tests.tpu.drawn import drawn, expected, placeholder

REPEATED = """
cluster/pivot NoOp()
TPUReplicateMetadata TPUReplicateMetadata(^cluster/pivot) cluster
Const Const(^TPUReplicateMetadata) cluster
Const_1 Const(^TPUReplicateMetadata) cluster
Enter Enter(Const) cluster
Enter_1 Enter(Const_1) cluster
Merge Merge(Enter, NextIteration) cluster
Merge_1 Merge(Enter_1, NextIteration_1) cluster
Less/y Const(^Merge) cluster
Less Less(Merge, Less/y) cluster
LoopCond LoopCond(Less) cluster
Switch Switch(Merge, LoopCond) cluster
Switch_1 Switch(Merge_1, LoopCond) cluster
Identity Identity(Switch:1) cluster
Identity_1 Identity(Switch_1:1) cluster
add/y Const(^Identity) cluster
add AddV2(Identity, add/y) cluster
add_1/y Const(^Identity) cluster
add_1 AddV2(Identity_1, add_1/y) cluster
NextIteration NextIteration(add) cluster
NextIteration_1 NextIteration(add_1) cluster
Exit Exit(Switch) cluster
Exit_1 Exit(Switch_1) cluster
NoOp NoOp(^cluster/pivot) cluster
Identity_2 Identity(Exit_1) out cluster @/device:TPU_REPLICATED_CORE:0
TPUCompilationResult TPUCompilationResult(^TPUReplicateMetadata)
output0 TPUReplicatedOutput(Identity_2)
output_0_shard_0 Identity(output0, ^NoOp)
"""


def test_repeat():
    def build():
        tf.tpu.rewrite(lambda: tf.contrib.tpu.repeat(10, lambda s: s + 1.5, [1.0]))

    assert drawn(build) == expected(REPEATED)


def test_loops_run_anywhere_without_an_infeed():
    with tf.Graph().as_default(), tf.Session() as session:
        counted = tf.contrib.tpu.while_loop(lambda i, s: i < 10, lambda i, s: (i + 1, s + 1.5), [0, 1.0])
        assert session.run(counted) == [10, 16.0]
        assert session.run(tf.contrib.tpu.repeat(3, lambda a, b: (a + b, b), [1.0, 2.0])) == [7.0, 2.0]


def test_rounds_wait_for_operations_and_take_from_the_infeed():
    def build():
        queue = tf.contrib.tpu.InfeedQueue(tuple_types=[tf.float32], tuple_shapes=[[]])
        tf.tpu.rewrite(lambda: tf.contrib.tpu.while_loop(lambda a: a < 1.0, lambda a, b: a + b, [1.0], queue))

    lines = drawn(build)
    assert "InfeedQueue/dequeue InfeedDequeueTuple(^Identity) cluster @/device:TPU_REPLICATED_CORE:0" in lines
    assert "NextIteration NextIteration(tuple/control_dependency) cluster" in lines


def test_steps_are_counted_by_the_loop():
    with tf.Graph().as_default() as graph:
        tf.tpu.rewrite(on_device_training_loop(lambda: tf.contrib.tpu.repeat(3, lambda a: a, [1.0])))
        metadata = graph.get_operation_by_name("TPUReplicateMetadata")
        assert metadata.get_attr("step_marker_location") == b"STEP_MARK_AT_TOP_LEVEL_WHILE_LOOP"


@pytest.mark.parametrize(
    ("error", "condition", "body"),
    [
        (TypeError, lambda a, b: a < 1.0, lambda a: a),
        (TypeError, lambda a: a < 1.0, lambda a, b: a),
        (TypeError, lambda a: a < 1.0, lambda a: (a, a)),
        (ValueError, lambda a: a < 1.0, lambda a: (tf.no_op(), a)),
        (ValueError, lambda a: a < 1.0, lambda a: None),
    ],
)
def test_refusals(error, condition, body):
    with tf.Graph().as_default(), pytest.raises(error):
        tf.contrib.tpu.while_loop(condition, body, [placeholder()])
