"""tf.contrib.integrate: circles, by adapted and by given steps."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import integrate

TIMES = np.linspace(0, 2, 5)
CIRCLE = np.stack([np.cos(TIMES), -np.sin(TIMES)], axis=1)

pytestmark = pytest.mark.usefixtures("own_graph")


def _turn(y, t):
    return tf.stack([y[1], -y[0]])


def test_adapted_steps():
    start = tf.constant([1.0, 0.0], tf.float64)
    y, info = integrate.odeint(_turn, start, TIMES, full_output=True)
    (slope,) = tf.gradients(y, start)
    with tf.Session() as session:
        found, told, slope = session.run([y, info, slope])
    np.testing.assert_allclose(found, CIRCLE, atol=1e-6)
    assert told["num_func_evals"] == 79 and told["integrate_points"].shape == (13,)
    np.testing.assert_allclose(told["error_ratio"][:3], [455.91066, 1.88159, 0.74211], rtol=1e-5)
    np.testing.assert_allclose(slope, [-1.155214, 5.300164], rtol=1e-5)


@pytest.mark.parametrize(("method", "error"), [("midpoint", 0.03), ("rk4", 1e-4)])
def test_given_steps(method, error):
    with tf.Session() as session:
        found = session.run(
            integrate.odeint_fixed(_turn, tf.constant([1.0, 0.0], tf.float64), TIMES, dt=0.3, method=method)
        )
    np.testing.assert_allclose(found, CIRCLE, atol=error)


def test_complex_values():
    with tf.Session() as session:
        found = session.run(integrate.odeint(lambda y, t: 1j * y, tf.constant(1 + 0j, tf.complex128), [0.0, 1.0]))
    np.testing.assert_allclose(found[1], np.exp(1j), atol=1e-6)


def test_wrong_arguments():
    start = tf.constant([1.0, 0.0])
    with pytest.raises(ValueError, match="without specifying `method`"):
        integrate.odeint(_turn, start, TIMES, options={"first_step": 1.0})
    with pytest.raises(TypeError, match="floating point"):
        integrate.odeint(_turn, tf.constant([1, 2]), TIMES)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="monotonic"):
        session.run(integrate.odeint(_turn, start, [0.0, 2.0, 1.0]))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="max_num_steps"):
        session.run(integrate.odeint(_turn, start, TIMES, method="dopri5", options={"max_num_steps": 2}))
