"""Variables that regions write: what is part of one, what comes before and after, and what is left to kernels."""

import threading

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan.program import UPDATE

X = np.random.RandomState(0).randn(4, 6).astype(np.float32)
OPTIMIZERS = {
    "descent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda: tf.train.AdamOptimizer(0.01),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.01, momentum=0.5),
    "centered": lambda: tf.train.RMSPropOptimizer(0.01, centered=True),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "adadelta": lambda: tf.train.AdadeltaOptimizer(0.5),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02),
    "proximal": lambda: tf.train.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=0.01),
    "proximal adagrad": lambda: tf.train.ProximalAdagradOptimizer(0.1, l2_regularization_strength=0.01),
}


def config(level):
    made = tf.ConfigProto()
    made.graph_options.optimizer_options.global_jit_level = level
    return made


def both_ways(build, runs=3):
    """The results of some runs by kernels and by machine code, variables last, and the plan with machine code."""
    results = []
    for level in (-1, 1):
        with tf.Graph().as_default(), tf.Session(config=config(level)) as sess:
            tf.set_random_seed(1)
            x = tf.placeholder(tf.float32, X.shape)
            fetches = build(x)
            sess.run(tf.global_variables_initializer())
            shown = [sess.run(fetches, {x: X + i}) for i in range(runs)]
            shown.append(sess.run(tf.global_variables()))
            results.append([v for values in shown for v in values if v is not None])
            text = sess.explain(fetches, [x])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-6)
        assert np.shape(a) == np.shape(b) and a.dtype == b.dtype
    return text[text.index("emit:") :]


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_the_steps_of_an_optimizer_are_one_region(optimizer, resource):
    def build(x):
        with tf.variable_scope("net", use_resource=resource):
            w = tf.get_variable("w", [6, 3], initializer=tf.random_normal_initializer(seed=1))
            b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w) + b) - 0.3))
        step = tf.train.get_or_create_global_step()
        return [loss, optimizer().minimize(loss, global_step=step)]

    text = both_ways(build)
    assert text.count(f"({UPDATE})") == 1 and "(Apply" not in text and "(ResourceApply" not in text


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_a_gradient_goes_into_the_update_that_takes_it(resource):
    def build(x):
        v = tf.get_variable("v", [4, 6], initializer=tf.ones_initializer(), use_resource=resource)
        before = v * 2.0
        with tf.control_dependencies([before]):
            after = tf.assign_sub(v, tf.tanh(x) * 0.1)
        with tf.control_dependencies([after]):
            return [before, tf.identity(v) * 1.0]

    assert f"({UPDATE})" in both_ways(build)


def test_variables_that_change_places():
    def build(x):
        a, b = tf.Variable(X, use_resource=True), tf.Variable(2 * X, use_resource=True)
        old_a, old_b = a.read_value() * 1.5, tf.nn.relu(b.read_value()) + x
        with tf.control_dependencies([old_a, old_b]):
            return [tf.group(a.assign(old_b), b.assign(old_a)), old_a + old_b]

    assert f"({UPDATE})" in both_ways(build)


def test_what_was_read_before_an_earlier_write_is_not_the_buffer():
    def build(x):
        v = tf.Variable(X, use_resource=True)
        old = v.read_value()
        with tf.control_dependencies([old]):
            first = v.assign_add(tf.exp(x * 0.1) * 0.5, read_value=False)
        with tf.control_dependencies([first]):
            return [v.assign_add((old - x) * 0.25 + 1.0, read_value=False), old * 3.0]

    both_ways(build)


def test_a_view_of_a_variable_is_written_over_only_afterwards():
    def build(x):
        v = tf.Variable(X[:, :4].copy())
        return [v.assign_add(tf.transpose(v) * 2.0 + 1.0) * 1.0, v.assign_sub(v[::-1] * 0.5 + x[:, :4])]

    both_ways(build)


def test_what_fails_before_an_update_keeps_it_from_happening():
    for level in (-1, 1):
        with tf.Graph().as_default(), tf.Session(config=config(level)) as sess:
            x = tf.placeholder(tf.float32, [3])
            v, w = tf.Variable(tf.ones([3])), tf.Variable(tf.ones([3]))
            with tf.control_dependencies([tf.check_numerics(x, "no number")]):
                step = tf.group(v.assign_add(tf.exp(x) * 2.0), w.assign_sub(tf.nn.relu(x) + 1.0))
            sess.run(tf.global_variables_initializer())
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(step, {x: [1.0, np.nan, 1.0]})
            assert sess.run(v).tolist() == sess.run(w).tolist() == [1, 1, 1]
            sess.run(step, {x: [0.0, 0.0, 0.0]})
            assert sess.run(v).tolist() == [3, 3, 3] and sess.run(w).tolist() == [0, 0, 0]


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_a_variable_without_a_value_is_told_as_by_kernels(resource):
    told = []
    for level in (-1, 1):
        with tf.Graph().as_default(), tf.Session(config=config(level)) as sess:
            v = tf.get_variable("weights", [3], initializer=tf.ones_initializer(), use_resource=resource)
            train = tf.train.AdamOptimizer().minimize(tf.reduce_sum(tf.exp(v) * v))
            with pytest.raises(tf.errors.OpError, match="weights") as raised:
                sess.run(train)
            told.append(type(raised.value))
    assert told[0] is told[1]


def test_a_variable_of_another_shape_is_left_to_kernels():
    for level in (-1, 1):
        with tf.Graph().as_default(), tf.Session(config=config(level)) as sess:
            x = tf.placeholder(tf.float32, None)
            v, w = tf.Variable(tf.zeros([3])), tf.Variable(tf.zeros([3]))
            wider = tf.assign(v, x, validate_shape=False)
            step = [tf.assign_add(v, tf.exp(tf.zeros([3])) * 2.0).op, tf.assign(w, tf.sin(w) + 1.0).op]
            sess.run(tf.global_variables_initializer())
            sess.run(step)
            sess.run(wider, {x: np.zeros([2, 2])})
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(step)


def test_updates_that_exclude_others_lose_nothing():
    with tf.Graph().as_default(), tf.Session(config=config(1)) as sess:
        a, b = (tf.Variable(tf.zeros([8]), use_resource=True) for _ in range(2))
        ones = tf.exp(tf.placeholder_with_default(np.zeros(8, np.float32), [8]))
        step = tf.group(a.assign_add(ones * 1.0), b.assign_sub(ones * 2.0))
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        assert f"({UPDATE})" in sess.explain(step)
        threads = [threading.Thread(target=lambda: [sess.run(step) for _ in range(200)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sess.run(a).tolist() == [801] * 8 and sess.run(b).tolist() == [-1602] * 8


def test_what_is_fetched_beside_an_update_is_its_own():
    with tf.Graph().as_default(), tf.Session(config=config(1)) as sess:
        v = tf.Variable(tf.zeros([4]))
        new = tf.exp(v * 0.0) + v
        step = tf.assign(v, new)
        sess.run(tf.global_variables_initializer())
        first = sess.run([new, step])
        kept = [value.copy() for value in first]
        sess.run([new, step])
        assert f"({UPDATE})" in sess.explain([new, step])
        for a, b in zip(first, kept, strict=True):
            np.testing.assert_array_equal(a, b)
        assert sess.run(v).tolist() == [2, 2, 2, 2]


def test_two_names_of_one_buffer_are_left_to_kernels():
    def build(x):
        first, second = (raw.VariableV2(shape=[4, 6], dtype=tf.float32, shared_name="one") for _ in range(2))
        with tf.control_dependencies([tf.assign(first, tf.zeros([4, 6]))]):
            done = tf.assign_add(first, tf.exp(x * 0.0) * 2.0)
        with tf.control_dependencies([done]):
            return [tf.assign_add(second, tf.tanh(x) + 1.0)]

    assert f"({UPDATE})" not in both_ways(build)
