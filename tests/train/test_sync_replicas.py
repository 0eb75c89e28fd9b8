"""SyncReplicasOptimizer: gradients of several workers are averaged and applied together."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def _model(replicas):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    rows = tf.get_variable("rows", initializer=[[3.0, 1.0], [1.0, 1.0]])
    scale = tf.placeholder_with_default(1.0, [])
    loss = scale * (tf.reduce_sum(v * v) + tf.reduce_sum(tf.gather(rows, [0])))
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=replicas)
    with pytest.raises(ValueError, match="after apply_gradients"):
        optimizer.get_init_tokens_op()
    return v, rows, scale, step, optimizer, optimizer.minimize(loss, global_step=step)


def test_gradients_of_two_workers_are_averaged():
    v, rows, scale, step, optimizer, train = _model(2)
    apply = optimizer.get_chief_queue_runner().enqueue_ops[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(optimizer.chief_init_op)
        workers = [threading.Thread(target=sess.run, args=(train, {scale: s})) for s in (1.0, 3.0)]
        for worker in workers:
            worker.start()
        sess.run(apply)
        for worker in workers:
            worker.join(20)
            assert not worker.is_alive()
        # The mean of the factors is 2: v - 0.1 * 2 * 2v, and rows[0] - 0.1 * 2.
        np.testing.assert_allclose(sess.run(v), [0.6, 1.2], rtol=1e-6)
        np.testing.assert_allclose(sess.run(rows), [[2.8, 0.8], [1, 1]], rtol=1e-6)
        assert sess.run(step) == 1


def test_names_of_the_nodes(graph):
    _, _, _, _, optimizer, train = _model(1)
    assert train.op.name == "Assign_1"
    assert optimizer.chief_init_op.name == "sync_replicas/group_deps"
    assert optimizer.get_chief_queue_runner().name == "dummy_queue"
    names = {op.name for op in graph.get_operations()}
    assert {
        "sync_rep_local_step",
        "sync_replicas/conditional_accumulator",
        "sync_token_q_Dequeue",
        "sync_token_q_EnqueueMany",
    } <= names
    with pytest.raises(ValueError, match="Global step is required"):
        optimizer.apply_gradients([(None, tf.get_variable("w", []))])
    with pytest.raises(ValueError, match="at least one"):
        optimizer.apply_gradients([], global_step=tf.train.get_global_step())
