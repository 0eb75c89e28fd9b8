"""Shampoo: each axis preconditioned by a root of its outer products, checked against numpy."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import opt

pytestmark = pytest.mark.usefixtures("own_graph")

GRADIENT = np.array([[1.0, -2.0, 0.5], [0.5, 1.0, 3.0]], np.float32)


def _root(matrix, exponent, epsilon=0.5):
    values, vectors = np.linalg.eigh(matrix + epsilon * np.eye(len(matrix)))
    return vectors * values**exponent @ vectors.T


def _after(steps, gradient=GRADIENT, use_resource=False, **arguments):
    v = tf.get_variable("v", initializer=tf.zeros(np.shape(gradient)), use_resource=use_resource)
    step = tf.train.get_or_create_global_step()
    optimizer = opt.ShampooOptimizer(step, epsilon=0.5, **arguments)
    train = optimizer.apply_gradients([(tf.constant(gradient), v)], step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(train)
        return (
            optimizer,
            session.run(v),
            {name: session.run(optimizer.get_slot(v, name)) for name in optimizer.get_slot_names()},
        )


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("use_iterative_root", [False, True])
def test_matrices_precondition_both_axes(use_resource, use_iterative_root):
    _, moved, slots = _after(2, use_resource=use_resource, use_iterative_root=use_iterative_root)
    expected = 0
    for step in (1, 2):
        left = step * GRADIENT @ GRADIENT.T
        right = step * GRADIENT.T @ GRADIENT
        expected = expected - _root(left / 2, -0.25) @ GRADIENT @ _root(right / 3, -0.25)
    np.testing.assert_allclose(moved, expected, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(slots["Gbar_0"], left, rtol=1e-5)
    np.testing.assert_allclose(slots["Gbar_1"], right, rtol=1e-5)


def test_long_axes_keep_a_diagonal():
    _, moved, slots = _after(1, max_matrix_size=2, mat_gbar_weight=0.5)
    diagonal = 0.5 * (GRADIENT**2).sum(0) / 3
    np.testing.assert_allclose(slots["Gbar_1"], diagonal, rtol=1e-5)
    np.testing.assert_allclose(moved, -_root(GRADIENT @ GRADIENT.T / 4, -0.25) @ GRADIENT * diagonal**-0.25, rtol=1e-4)


def test_roots_wait_for_their_interval_and_gradients_are_averaged():
    vector = np.array([1.0, 2.0], np.float32)
    optimizer, moved, slots = _after(
        3,
        vector,
        svd_interval=2,
        precond_update_interval=2,
        gbar_decay=0.5,
        gbar_weight=0.5,
        learning_rate=lambda t: 0.1 * t,
    )
    assert optimizer.get_slot_names() == ["Gbar_0", "H_0", "gbar"]
    outer = 2 * np.outer(vector, vector)  # one update stands for two
    np.testing.assert_allclose(slots["Gbar_0"], outer)
    np.testing.assert_allclose(slots["H_0"], _root(outer / 2, -0.5), rtol=1e-4)
    averages = [0.5 * vector, 0.75 * vector, 0.875 * vector]
    roots = [np.eye(2), slots["H_0"], slots["H_0"]]
    np.testing.assert_allclose(moved, -sum(0.1 * (t + 1) * averages[t] @ roots[t] for t in range(3)), rtol=1e-4)


def test_sparse_gradients_touch_their_rows_only():
    v = tf.get_variable("v", initializer=tf.ones([3, 1]))
    optimizer = opt.ShampooOptimizer(max_matrix_size=2, epsilon=0.5)
    train = optimizer.minimize(tf.reduce_sum(tf.square(tf.gather(v, [0, 2, 0]))))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run(optimizer.get_slot(v, "Gbar_0")), [16, 0, 4])
        np.testing.assert_allclose(session.run(v)[1], [1.0])
    with pytest.raises(AssertionError, match="mat_gbar_decay"):
        opt.ShampooOptimizer(max_matrix_size=2, mat_gbar_decay=0.5).minimize(tf.reduce_sum(tf.gather(v, [0])))


def test_roots_by_products_have_a_whole_degree():
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    with pytest.raises(AssertionError, match="whole degree"):
        opt.ShampooOptimizer(use_iterative_root=True, alpha=0.3).minimize(tf.reduce_sum(v))
