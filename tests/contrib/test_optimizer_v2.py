"""Optimizers with a state: values after three steps are TensorFlow 1.15's, and one's own optimizer is given its state."""

import numpy as np
import pytest

import everflow as tf

v2 = tf.contrib.optimizer_v2
pytestmark = pytest.mark.usefixtures("own_graph")

# {class: (arguments, first values of a dense variable, of a row that is gathered twice, of a resource variable; slots)}
CASES = {
    "GradientDescentOptimizer": ({}, [0.512, 0.216, 0.512], []),
    "AdamOptimizer": ({}, [0.7015873, 0.7015873, 0.7015873], ["m", "v"]),
    "MomentumOptimizer": ({"momentum": 0.9}, [0.062, -0.54, 0.062], ["momentum"]),
    "RMSPropOptimizer": (
        {"momentum": 0.5, "centered": True},
        [0.02084088, 0.02084088, 0.02084088],
        ["mg", "momentum", "rms"],
    ),
    "AdagradOptimizer": ({}, [0.7822992, 0.78092223, 0.7822992], ["accumulator"]),
    "AdadeltaOptimizer": ({}, [0.99986434, 0.99986434, 0.99986434], ["accum", "accum_update"]),
}


@pytest.mark.parametrize("name", CASES)
def test_three_steps(name):
    arguments, expected, slots = CASES[name]
    dense = tf.get_variable("v", initializer=[1.0, 2.0, 3.0])
    rows = tf.get_variable("e", initializer=np.ones((3, 2), np.float32))
    resource = tf.get_variable("r", initializer=[1.0, -1.0], use_resource=True)
    loss = sum(tf.reduce_sum(x**2) for x in (dense, tf.gather(rows, [0, 2, 0]), resource))
    optimizer = getattr(v2, name)(learning_rate=0.1, **arguments)
    step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(loss, step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
        found = [value.flat[0] for value in sess.run([dense, rows, resource])]
        assert sess.run(step) == 3
        assert sess.run(rows)[1].tolist() == [1.0, 1.0]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert optimizer.get_slot_names() == slots


class Halving(v2.OptimizerV2):
    """Goes half of the way that gradients say, and counts how often."""

    def __init__(self):
        super().__init__(use_locking=False, name="Halving")
        self._set_hyper("share", lambda: 0.5)

    def _create_vars(self, var_list, state):
        for var in var_list:
            state.create_slot(var, tf.zeros([]), "count")

    def _apply_dense(self, grad, var, state):
        counted = state.get_slot(var, "count").assign_add(1.0)
        with tf.control_dependencies([counted]):
            return var.assign_sub(grad * state.get_hyper("share", grad.dtype.base_dtype)).op


def test_ones_own_optimizer():
    x = tf.get_variable("x", initializer=[8.0])
    optimizer = Halving()
    train = optimizer.minimize(tf.reduce_sum(x**2) / 2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        sess.run(train)
        assert sess.run([x, optimizer.get_slot(x, "count")]) == [2.0, 2.0]


def test_variables_without_gradients_are_refused():
    with pytest.raises(ValueError, match="No variables"):
        v2.GradientDescentOptimizer(0.1).apply_gradients([])
    with pytest.raises(ValueError, match="No gradients"):
        v2.GradientDescentOptimizer(0.1).apply_gradients([(None, tf.Variable(1.0))])
