"""Replicated computations: graphs as TensorFlow 1.15.5 draws them, and what is refused."""

import pytest

import everflow as tf
from everflow.tpu.replication import split_compile_and_replicate
from tests.tpu.drawn import drawn, expected, placeholder

REPLICATED = """
x Placeholder()
x_1 Placeholder()
input0 TPUReplicatedInput(x, x_1)
cluster/pivot NoOp()
TPUReplicateMetadata TPUReplicateMetadata(^cluster/pivot) cluster
replicated_input_0 Identity(input0, ^TPUReplicateMetadata) in cluster
mul/y Const(^TPUReplicateMetadata) cluster
mul Mul(replicated_input_0, mul/y) cluster
NoOp NoOp(^TPUReplicateMetadata) cluster
NoOp_1 NoOp(^cluster/pivot) cluster
Identity Identity(mul) out cluster @/device:TPU_REPLICATED_CORE:0
TPUCompilationResult TPUCompilationResult(^TPUReplicateMetadata)
output0 TPUReplicatedOutput(Identity)
output_0_shard_0 Identity(output0, ^NoOp, ^NoOp_1)
output_0_shard_1 Identity(output0:1, ^NoOp, ^NoOp_1)
"""

STRUCTURED = """
cluster/pivot NoOp()
TPUReplicateMetadata TPUReplicateMetadata(^cluster/pivot) cluster
Const Const(^TPUReplicateMetadata) cluster
Identity Identity(Const) out cluster @/device:TPU_REPLICATED_CORE:0
Identity_1 Identity(Identity) cluster @/device:TPU_REPLICATED_CORE:0
TPUCompilationResult TPUCompilationResult(^TPUReplicateMetadata)
output0 TPUReplicatedOutput(Identity_1)
output_0_shard_0 Identity(output0)
"""


def test_replicas_share_nodes_and_have_inputs_and_outputs_of_their_own():
    def build():
        tf.tpu.replicate(lambda a: (a * 2.0, tf.no_op()), [[placeholder(4)], [placeholder(4)]])

    assert drawn(build) == expected(REPLICATED)


def test_structures_come_back_as_they_are():
    assert drawn(lambda: tf.tpu.rewrite(lambda: {"a": tf.constant(1.0)})) == expected(STRUCTURED)


def test_metadata():
    with tf.Graph().as_default() as graph:
        assignment = tf.tpu.experimental.DeviceAssignment(
            tf.contrib.tpu.Topology(mesh_shape=[1, 1, 2], device_coordinates=[[[0, 0, 0], [0, 0, 1]]]),
            [[[0, 0, 0], [0, 0, 1]]],
        )
        tf.tpu.rewrite(tf.no_op, device_assignment=assignment)
        metadata = graph.get_operation_by_name("TPUReplicateMetadata")
        assert metadata.get_attr("num_replicas") == 1 and metadata.get_attr("num_cores_per_replica") == 2
        assert metadata.get_attr("device_assignment") == [0, 0, 0, 0, 0, 1]
        assert metadata.get_attr("topology") == assignment.topology.serialized()
        assert metadata.get_attr("step_marker_location") == b"STEP_MARK_AT_ENTRY"


def test_compiling_can_be_waited_for():
    with tf.Graph().as_default():
        compiled, ((doubled,),) = split_compile_and_replicate(lambda a: a * 2.0, [[placeholder(4)]])
        assert (compiled.op.type, doubled.name) == ("TPUCompilationResult", "output_0_shard_0:0")
        assert doubled.shape.as_list() == [4]


def test_variables_are_resource_variables_outside_of_the_cluster():
    with tf.Graph().as_default() as graph:

        def build():
            return tf.get_variable("v", [2]) + tf.Variable([1.0, 2.0], name="w")

        tf.tpu.rewrite(build)
        kinds = {
            op.name: "_tpu_replicate" in op.node_def.attr for op in graph.get_operations() if op.type == "VarHandleOp"
        }
        assert kinds == {"v": False, "w": False}
        assert tf.get_variable_scope().use_resource is None


def test_what_is_lifted_out_has_no_mark():
    with tf.Graph().as_default():

        def build(a):
            with tf.control_dependencies(None):
                free = tf.constant(7.0)
            with tf.init_scope():
                lifted = tf.constant(8.0)
            for t in (free, lifted):
                assert "_tpu_replicate" not in t.op.node_def.attr and not t.op.control_inputs
            return a + free + lifted

        tf.tpu.rewrite(build, [placeholder(4)])


def test_control_dependencies_come_in_as_data():
    def build():
        outside = tf.identity(placeholder(4), name="outside")

        def computation():
            with tf.control_dependencies([outside]):
                return tf.constant(3.0)

        tf.tpu.rewrite(computation)

    lines = drawn(build)
    assert "Const Const(^Identity, ^TPUReplicateMetadata) cluster" in lines
    assert "Identity Identity(outside) cluster" in lines


@pytest.mark.parametrize(
    ("error", "build"),
    [
        (TypeError, lambda: tf.tpu.rewrite(lambda x: x, 3)),
        (TypeError, lambda: tf.tpu.rewrite(lambda x: x, [])),
        (TypeError, lambda: tf.tpu.replicate(lambda *a: a[0], [3])),
        (IndexError, lambda: tf.tpu.replicate(lambda: 1.0, [])),
        (ValueError, lambda: tf.tpu.replicate(lambda *a: a[0], [[tf.constant(1.0)], [tf.constant(1)]])),
        (ValueError, lambda: tf.tpu.replicate(lambda a, b: a, [[tf.constant(1.0), None]])),
        (ValueError, lambda: tf.tpu.rewrite(lambda: (tf.no_op(), tf.constant(1.0)))),
        (ValueError, lambda: tf.tpu.rewrite(object)),
        (ValueError, lambda: tf.tpu.rewrite(lambda: {"a": tf.constant(1.0), "b": tf.no_op()})),
        (ValueError, lambda: tf.tpu.rewrite(lambda: tf.tpu.rewrite(lambda: tf.constant(1.0)))),
    ],
)
def test_refusals(error, build):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


def test_ref_variables_are_refused():
    with tf.Graph().as_default(), pytest.raises(NotImplementedError, match="use_resource"):
        v = tf.Variable([1.0])
        tf.tpu.rewrite(lambda: tf.assign(v, [2.0]))


def test_running_needs_a_tpu():
    with tf.Graph().as_default(), tf.Session() as session:
        computed = tf.tpu.rewrite(lambda: tf.constant(1.0))
        for fetch in (computed, tf.tpu.initialize_system(), tf.tpu.shutdown_system(), tf.tpu.cross_replica_sum(1.0)):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(fetch)
