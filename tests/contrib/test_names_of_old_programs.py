"""Names that libraries and programs took from contrib: they are there, and behave as on a machine without TPUs."""

import types

import numpy as np
import pytest

import everflow as tf
from everflow.legacy.inner.saved_model import object_loading
from everflow.legacy.inner.tpu_context import TPUContext
from everflow.saved_model.object_loading import LoadedResource


def test_a_context_of_tpus_tells_what_the_system_knows():
    system = types.SimpleNamespace(
        num_replicas=8,
        num_hosts=2,
        num_of_replicas_per_host=4,
        model_parallelism_enabled=False,
        device_assignment="cores",
        is_input_sharded_per_core=lambda: False,
        is_input_broadcast_with_iterators=lambda: False,
        is_replica_across_hosts=lambda: False,
        device_for_replica=lambda number: ("/device:TPU", number),
    )
    context = TPUContext(system, input_device="/cpu:0", invocation_index=1)
    assert (context.num_replicas, context.num_of_replicas_per_host, context.current_host) == (8, 4, 1)
    assert context.current_input_fn_deployment() == ("/cpu:0", 1, 2, 4)
    assert context.device_for_replica(3) == ("/device:TPU", 3)
    with pytest.raises(RuntimeError):
        context.device_assignment  # noqa: B018  The property raises.
    of_a_model = TPUContext(system, call_from_input_fn=False)
    assert of_a_model.device_assignment == "cores"
    with pytest.raises(RuntimeError):
        of_a_model.current_input_fn_deployment()


def test_resources_of_files_have_their_class():
    assert object_loading._RestoredResource is LoadedResource
    assert LoadedResource()._resource_device == ""


def test_whether_a_tower_optimizer_was_used_is_asked_of_the_graph():
    towers = tf.contrib.estimator.TowerOptimizer
    with tf.Graph().as_default():
        optimizer = towers(tf.train.GradientDescentOptimizer(0.1))
        assert not towers.has_been_used()
        variable = tf.get_variable("v", initializer=1.0)
        optimizer.apply_gradients([(tf.constant(1.0), variable)])
        assert towers.has_been_used()
    with tf.Graph().as_default():
        assert not towers.has_been_used()


def test_rows_of_a_factor_go_to_the_variable_they_are_in():
    with tf.Graph().as_default(), tf.Session() as session:
        factor = [tf.get_variable(name, [2, 1], initializer=tf.zeros_initializer()) for name in "ab"]
        update = tf.contrib.factorization.WALSModel.scatter_update(
            factor, tf.constant([0, 3], tf.int64), tf.ones([2, 1]), lambda ids: (tf.cast(ids % 2, tf.int32), ids // 2)
        )
        session.run(tf.global_variables_initializer())
        session.run(update)
        np.testing.assert_array_equal(session.run(factor), [[[1], [0]], [[0], [1]]])


def test_a_network_has_no_variables_of_its_own():
    with pytest.raises(RuntimeError, match="layer"):
        tf.contrib.eager.Network().add_variable("w", [2])
