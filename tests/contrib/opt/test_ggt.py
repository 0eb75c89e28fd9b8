"""GGT against numpy: the last few gradients stand for the whole matrix of second moments."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import opt

pytestmark = pytest.mark.usefixtures("own_graph")


def _direction(columns, gradient, eps, svd_eps, sigma_eps):
    squares, axes = np.linalg.eigh(columns.T @ columns + svd_eps * np.eye(columns.shape[1]))
    sigma = np.sqrt(squares)
    inside = columns @ (axes @ np.diag((sigma + sigma_eps) ** -3.0) @ axes.T @ (columns.T @ gradient))
    projected = columns @ (axes @ np.diag(1 / squares) @ axes.T @ (columns.T @ gradient))
    return inside + (gradient - projected) / sigma.min() if sigma.min() > eps else inside


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("eps", [1e-4, 10.0])
def test_steps(use_resource, eps):
    z = tf.get_variable("z", initializer=[1.0, 2.0], use_resource=use_resource)
    a = tf.get_variable("a", initializer=[[0.5], [3.0]], use_resource=use_resource)
    optimizer = opt.GGTOptimizer(lambda: 0.1, beta1=0.5, window=2, eps=eps, svd_eps=0.1, sigma_eps=0.2)
    loss = tf.reduce_sum(z * z) + 2 * tf.reduce_sum(a * a)
    step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(loss, step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        found = session.run([a, z, step])
        moment = session.run(optimizer.variables())[-1]

    values, average, buffer = np.array([0.5, 3.0, 1.0, 2.0]), np.zeros(4), np.zeros((2, 4))
    for i in range(3):
        average = 0.5 * average + 0.5 * values * [4, 4, 2, 2]
        buffer[i % 2] = average
        values = values - 0.1 * _direction(buffer.T / np.sqrt(min(i + 1, 2)), average, eps, 0.1, 0.2)
    np.testing.assert_allclose(np.concatenate([found[0].ravel(), found[1]]), values, rtol=1e-3)
    np.testing.assert_allclose(moment, average, rtol=1e-3)
    assert found[2] == 3


def test_names_and_refusals():
    v = tf.get_variable("v", initializer=tf.ones([3, 2]))
    optimizer = opt.GGTOptimizer(name="Mine")
    assert optimizer.minimize(tf.reduce_sum(v)).name == "Mine"
    assert [x.op.name for x in optimizer.variables()] == ["flat_grad", "global_step", "grad_buffer", "moment1"]
    assert optimizer.get_slot_names() == []
    doubled = v * 2
    ((gradient, _),) = optimizer.compute_gradients(tf.reduce_sum(doubled), stop_gradients=[doubled])
    assert gradient is None
    with pytest.raises(NotImplementedError, match="dense"):
        optimizer.minimize(tf.reduce_sum(tf.gather(v, [0])))
    with pytest.raises(ValueError, match="No variables provided"):
        optimizer.apply_gradients([])
    with pytest.raises(ValueError, match="No gradients provided"):
        optimizer.apply_gradients([(None, v)])
