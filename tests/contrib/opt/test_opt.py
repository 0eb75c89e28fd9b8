"""tf.contrib.opt: weight decay, Adam's relatives, wrappers, scipy's optimizers."""

import numpy as np
import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


O = tf.contrib.opt  # noqa: E741


def after(op, *fetches, steps=1):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            sess.run(op)
        return sess.run(list(fetches))


@pytest.mark.parametrize("use_resource", [False, True])
def test_decay_comes_before_the_update(use_resource):
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=use_resource)
    sgdw = O.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)
    op = sgdw(0.1, 1.0).minimize(tf.reduce_sum(v * [0.5, 0.25]))
    np.testing.assert_allclose(after(op, v)[0], [0.9 - 0.5, 1.8 - 0.25], rtol=1e-6)


@pytest.mark.parametrize("use_resource", [False, True])
def test_lazy_adam_leaves_other_rows_alone(use_resource):
    v = tf.get_variable("v", initializer=[[1.0], [1.0]], use_resource=use_resource)
    opt = O.LazyAdamOptimizer(0.1)
    first = opt.minimize(tf.reduce_sum(tf.gather(v, [0])))
    second = opt.minimize(tf.reduce_sum(tf.gather(v, [1])))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(first)
        m = sess.run(opt.get_slot(v, "m"))
        sess.run(second)
        np.testing.assert_allclose(sess.run(opt.get_slot(v, "m"))[0], m[0])


@pytest.mark.parametrize("make", [O.NadamOptimizer, O.AdaMaxOptimizer, O.AddSignOptimizer, O.PowerSignOptimizer])
def test_these_go_downhill(make):
    v = tf.Variable([3.0, -2.0])
    loss = tf.reduce_sum(v * v)
    op = make(0.05).minimize(loss)
    assert after(op, loss, steps=60)[0] < 2.0


def test_lars_scales_by_the_norms():
    v = tf.Variable([3.0, 4.0])
    op = O.LARSOptimizer(1.0, momentum=0.0, weight_decay=0.0, eeta=0.1).minimize(tf.reduce_sum(v * [0.0, 2.0]))
    np.testing.assert_allclose(after(op, v)[0], [3.0, 4.0 - 0.1 * 5.0 / 2.0 * 2.0], rtol=1e-6)


def test_clipping_of_variables():
    v = tf.Variable([[3.0, 4.0]])
    opt = O.VariableClippingOptimizer(tf.train.GradientDescentOptimizer(0.0), {v: [1]}, 1.0)
    np.testing.assert_allclose(after(opt.minimize(tf.reduce_sum(v)), v)[0], [[0.6, 0.8]], rtol=1e-6)


@pytest.mark.parametrize("use_resource", [False, True])
def test_scipy(use_resource):
    v = tf.Variable([5.0, -3.0], use_resource=use_resource)
    w = tf.Variable(2.0)
    loss = tf.reduce_sum(tf.square(v - [1.0, 2.0])) + tf.square(w + 1.0)
    optimizer = O.ScipyOptimizerInterface(loss, var_to_bounds={w: (0.0, np.inf)})
    seen = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        optimizer.minimize(sess, fetches=[loss], loss_callback=seen.append)
        np.testing.assert_allclose(sess.run(v), [1.0, 2.0], atol=1e-4)
        np.testing.assert_allclose(sess.run(w), 0.0, atol=1e-6)
    assert len(seen) > 1


def test_stale_gradients_are_counted_and_left_out():
    v = tf.Variable(1.0)
    step = tf.train.get_or_create_global_step()
    op = O.DropStaleGradientOptimizer(tf.train.GradientDescentOptimizer(0.1), staleness=2).minimize(
        v * v, global_step=step
    )
    began = tf.get_default_graph().get_tensor_by_name("add:0")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(op) == 0.0
        sess.run(step.assign(10))
        assert sess.run(op, {began: 5}) == 1.0
        np.testing.assert_allclose(sess.run(v), 0.8, rtol=1e-6)


def test_scipys_constraints_and_bounds():
    pytest.importorskip("scipy")
    with tf.Graph().as_default(), tf.Session() as sess:
        vector = tf.Variable([7.0, 7.0])
        loss = tf.reduce_sum(tf.square(vector))
        constrained = tf.contrib.opt.ScipyOptimizerInterface(
            loss, equalities=[vector[1] - 1.0], inequalities=[vector[0] - 2.0], method="SLSQP", options={"disp": False}
        )
        sess.run(vector.initializer)
        constrained.minimize(sess)
        np.testing.assert_allclose(sess.run(vector), [2.0, 1.0], atol=1e-4)
