"""Clusters: what is marked, what comes in how, what is lifted out."""

import pytest

import everflow as tf
from everflow.ops.control_flow.clusters import CLUSTER_MARK, ClusterContext, new_cluster

compile = tf.xla.experimental.compile


def test_loops_and_branches_inside_are_marked_with_all_their_nodes():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [4], name="x")

        def computation(a):
            looped = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + x), (0, a))[1]
            return tf.cond(tf.reduce_sum(a) > 0, lambda: looped + x, lambda: looped - x)

        compile(computation, [x])
        first = graph.get_operation_by_name("input_0")._id
        inside = graph.get_operations()[first:]
        unmarked = [op.name for op in inside if CLUSTER_MARK not in op.node_def.attr]
        assert unmarked == ["output0", "output_0"]


def test_control_dependencies_from_outside_come_in_as_data():
    with tf.Graph().as_default():
        outside, nothing = tf.identity(tf.ones([2]), name="outside"), tf.no_op()

        def computation():
            with tf.control_dependencies([outside, nothing]):
                return tf.constant(3.0, name="late")

        compile(computation)
        late = tf.get_default_graph().get_operation_by_name("late")
        assert sorted(op.name for op in late.control_inputs) == ["Identity", "cluster/pivot"]


def test_clusters_are_not_nested():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="nested"):
        compile(lambda: compile(lambda: tf.constant(1.0)))


def test_what_is_lifted_out_has_no_mark():
    with tf.Graph().as_default(), ClusterContext(*new_cluster()):
        with tf.control_dependencies(None):
            free = tf.constant(1.0)
        assert CLUSTER_MARK not in free.op.node_def.attr
        assert CLUSTER_MARK in tf.constant(2.0).op.node_def.attr
