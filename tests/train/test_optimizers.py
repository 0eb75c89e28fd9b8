"""Optimizers: updates against formulas written out in numpy, slots, learning rates, refusals."""

import numpy as np
import pytest

import everflow as tf

START = np.array([1.0, -2.0], np.float32)
GRAD = np.array([0.5, -0.25], np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def train(make, use_resource, sparse, steps=2):
    """The variable after some steps with a constant gradient; the sparse form has it for row 1 only."""
    v = tf.get_variable("v", initializer=np.stack([START, START]), use_resource=use_resource)
    if sparse:
        grad = tf.IndexedSlices(tf.constant(GRAD[None]), tf.constant([1]), tf.constant([2, 2]))
    else:
        grad = tf.constant(np.stack([GRAD, GRAD]))
    op = make().apply_gradients([(grad, v)])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            sess.run(op)
        return sess.run(v)


def sgd(w, s, g, t):
    return w - 0.1 * g


def momentum(w, s, g, t):
    s["a"] = 0.9 * s.get("a", 0) + g
    return w - 0.1 * s["a"]


def nesterov(w, s, g, t):
    s["a"] = 0.9 * s.get("a", 0) + g
    return w - 0.1 * (g + 0.9 * s["a"])


def adagrad(w, s, g, t):
    s["a"] = s.get("a", 0.1) + g * g
    return w - 0.1 * g / np.sqrt(s["a"])


def adadelta(w, s, g, t):
    s["a"] = 0.95 * s.get("a", 0) + 0.05 * g * g
    step = np.sqrt(s.get("u", 0) + 1e-6) / np.sqrt(s["a"] + 1e-6) * g
    s["u"] = 0.95 * s.get("u", 0) + 0.05 * step * step
    return w - 0.1 * step


def rmsprop(w, s, g, t):
    s["a"] = 0.9 * s.get("a", 1) + 0.1 * g * g
    s["m"] = 0.5 * s.get("m", 0) + 0.1 * g / np.sqrt(s["a"] + 1e-10)
    return w - s["m"]


def adam(w, s, g, t):
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
    return w - 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * s["m"] / (np.sqrt(s["v"]) + 1e-8)


def proximal(w, s, g, t):
    w = w - 0.1 * g
    return np.sign(w) * np.maximum(np.abs(w) - 0.1 * 0.2, 0) / (1 + 0.1 * 0.3)


def ftrl(w, s, g, t):
    a, z = s.get("a", 0.1), s.get("z", 0)
    s["a"] = a + g * g
    s["z"] = z + g - (np.sqrt(s["a"]) - np.sqrt(a)) / 0.1 * w
    return np.where(np.abs(s["z"]) > 0.01, (np.sign(s["z"]) * 0.01 - s["z"]) / (np.sqrt(s["a"]) / 0.1 + 2 * 0.02), 0)


CASES = {
    "sgd": (lambda: tf.train.GradientDescentOptimizer(0.1), sgd),
    "momentum": (lambda: tf.train.MomentumOptimizer(0.1, 0.9), momentum),
    "nesterov": (lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True), nesterov),
    "adagrad": (lambda: tf.train.AdagradOptimizer(0.1), adagrad),
    "adadelta": (lambda: tf.train.AdadeltaOptimizer(0.1, epsilon=1e-6), adadelta),
    "rmsprop": (lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.5), rmsprop),
    "adam": (lambda: tf.train.AdamOptimizer(0.1), adam),
    "proximal": (
        lambda: tf.train.ProximalGradientDescentOptimizer(
            0.1, l1_regularization_strength=0.2, l2_regularization_strength=0.3
        ),
        proximal,
    ),
    "ftrl": (
        lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02),
        ftrl,
    ),
}


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_updates(name, sparse, use_resource):
    make, rule = CASES[name]
    got = train(make, use_resource, sparse)
    w, slots = START.astype(np.float64), {}
    for t in (1, 2):
        w = rule(w, slots, GRAD.astype(np.float64), t)
    expected = np.stack([START if sparse else w, w])
    np.testing.assert_allclose(got, expected, rtol=2e-5, atol=1e-6)


def test_slots_and_names(graph):
    v = tf.Variable([1.0, 2.0], name="v")
    step = tf.train.get_or_create_global_step()
    opt = tf.train.AdamOptimizer()
    op = opt.minimize(tf.reduce_sum(v * v), global_step=step)
    assert op.name == "Adam" and op.type == "AssignAdd"
    assert [x.name for x in opt.variables()] == ["beta1_power:0", "beta2_power:0", "v/Adam:0", "v/Adam_1:0"]
    assert opt.get_slot_names() == ["m", "v"]
    assert opt.get_slot(v, "m").name == "v/Adam:0"
    assert graph.get_operation_by_name("Adam/update_v/ApplyAdam").get_attr("_class") == [b"loc:@v"]
    assert tf.get_collection(tf.GraphKeys.TRAIN_OP) == [op]


def test_repeated_rows_are_summed():
    v = tf.Variable([[1.0], [1.0]])
    loss = tf.reduce_sum(tf.gather(v, [1, 1, 1]))
    op = tf.train.AdagradOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(op)
        np.testing.assert_allclose(sess.run(v), [[1.0], [1.0 - 0.1 * 3.0 / np.sqrt(9.1)]], rtol=1e-6)


def test_constraints_follow_the_update():
    v = tf.Variable([1.0, 1.0], constraint=lambda t: tf.maximum(t, 0.0))
    op = tf.train.GradientDescentOptimizer(10.0).minimize(tf.reduce_sum(v * [1.0, -1.0]))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(op)
        assert sess.run(v).tolist() == [0.0, 11.0]


def test_half_precision():
    v = tf.Variable(np.ones(4, np.float16))
    op = tf.train.AdamOptimizer(0.125).minimize(tf.reduce_sum(v * v))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(op)
        np.testing.assert_allclose(sess.run(v), np.full(4, 0.875, np.float16), atol=2e-3)


def test_learning_rates_may_be_tensors_and_functions():
    v = tf.Variable(10.0)
    rate = tf.placeholder_with_default(1.0, [])
    fed = tf.train.GradientDescentOptimizer(rate).minimize(v * 2.0)
    called = tf.train.GradientDescentOptimizer(lambda: 0.5).minimize(v * 2.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(fed, {rate: 0.25})
        assert sess.run(v) == 9.5
        sess.run(called)
        assert sess.run(v) == 8.5


def test_refusals():
    opt = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match="No variables to optimize"):
        opt.minimize(tf.constant(1.0))
    v = tf.Variable(1.0)
    with pytest.raises(ValueError, match="No gradients provided"):
        opt.minimize(tf.constant(1.0))
    with pytest.raises(ValueError, match="gate_gradients"):
        opt.minimize(v * v, gate_gradients=7)
    with pytest.raises(ValueError, match="Invalid type"):
        opt.minimize(tf.cast(v, tf.int32))
    with pytest.raises(NotImplementedError):
        opt.apply_gradients([(tf.constant(1.0), tf.constant(1.0))])
    with pytest.raises(ValueError, match="name"):
        tf.train.GradientDescentOptimizer(0.1, name="")
