"""Tapes in graphs: what they watch, when they listen, and what they give."""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def run(fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def test_what_is_watched_and_what_is_not():
    x, other = tf.constant(3.0), tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * other
    assert run(tape.gradient(y, x)) == 12.0
    assert tape.gradient(y, other) is None
    assert run(tape.gradient(y, other, unconnected_gradients="zero")) == 0.0
    assert run(tape.gradient(y, [x], output_gradients=[10.0])) == [120.0]


def test_trainable_variables_are_watched_when_they_are_read():
    v = tf.get_variable("v", initializer=3.0, use_resource=True)
    w = tf.get_variable("w", initializer=3.0, use_resource=True, trainable=False)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v + w * w
    assert tape.watched_variables() == (v,)
    assert run(tape.gradient(y, v)) == 6.0 and tape.gradient(y, w) is None
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = v * v
    assert tape.watched_variables() == () and tape.gradient(y, v) is None


def test_structures_and_slices():
    table = tf.get_variable("t", initializer=[1.0, 2.0, 3.0], use_resource=True)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.gather(table, [0, 2])) * x
    grads = tape.gradient(y, {"table": table, "x": x})
    assert isinstance(grads["table"], tf.IndexedSlices)
    found = run([tf.convert_to_tensor(grads["table"]), grads["x"]])
    assert found[0].tolist() == [2.0, 0.0, 2.0] and found[1] == 4.0


def test_a_tape_gives_its_recording_away_once():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError):
        tape.gradient(y, x)


def test_when_a_tape_listens():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = y * x
        with pytest.raises(ValueError):
            tape.__enter__()
    assert tape.gradient(z, x) is None and run(tape.gradient(y, x)) == 6.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.reset()
    assert tape.gradient(y, x) is None
    with pytest.raises(RuntimeError), tf.GradientTape().stop_recording():
        pass


def test_tapes_within_tapes():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
    assert run([first, outer.gradient(first, x)]) == [27.0, 18.0]


def test_jacobians():
    x = tf.constant([1.0, 2.0])
    m = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.tensordot(m, x * x, 1)
    np.testing.assert_allclose(run(tape.jacobian(y, x)), [[2, 8], [6, 16], [10, 24]])
    assert tape.jacobian(y, tf.constant(1.0)) is None


def test_jacobians_of_batches():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    found = run(tape.batch_jacobian(y, x))
    np.testing.assert_allclose(found, [np.diag([2 * a, 2 * b]) for a, b in [(1, 2), (3, 4), (5, 6)]])
    assert run(tape.batch_jacobian(tf.ones([3, 2]), x)).tolist() == np.zeros([3, 2, 2]).tolist()
    with pytest.raises(ValueError):
        tape.batch_jacobian(y[:2], x)
    with pytest.raises(ValueError):
        tape.batch_jacobian(y[:, 0], x)


@pytest.mark.parametrize("wrong", [3, "x"])
def test_what_cannot_be_watched(wrong):
    with tf.GradientTape() as tape, pytest.raises(ValueError):
        tape.watch(wrong)


def test_whole_numbers_have_no_gradient():
    n = tf.constant(3)
    with tf.GradientTape() as tape:
        tape.watch(n)
        y = tf.cast(n, tf.float32) * 2.0
    assert tape.gradient(y, n) is None


def test_text_has_no_gradient():
    text, x = tf.constant("a"), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([text, x])
    assert tape.gradient(text, text) is None and tape.gradient(text, x) is None


def test_what_is_ready_first_comes_first():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.exp(tf.sin(x)) * tf.cos(x)
        drawn = len(graph.get_operations())
        tape.gradient(y, x)
        kinds = [op.type for op in graph.get_operations()[drawn:] if op.type != "Const"]
    assert kinds == ["Mul"] * 3 + ["Neg", "Sin", "Mul"] + ["Cos", "Mul", "AddN"]


def test_gradients_of_a_repeated_operand_are_added_in_its_order():
    with tf.Graph().as_default():
        v = tf.get_variable("v", [2], use_resource=True)
        with tf.GradientTape() as tape:
            y = v * v
        total = tape.gradient(y, v)
        assert [part.op.name for part in total.op.inputs] == ["Mul_1", "Mul_2"]


@pytest.mark.parametrize(
    ("function", "kinds"),
    [
        (lambda x: x + 2.0, []),
        (lambda x: x * 2.0, ["Mul"]),
        (lambda x: 2.0 - x, ["BroadcastGradientArgs", "Neg"]),
        (lambda x: x**2.0, ["Mul", "Sub", "Pow", "Mul"]),
        (lambda x: tf.maximum(x, 1.0), ["GreaterEqual", "Select"]),
        (lambda x: tf.matmul(tf.ones([1, 2]), x), ["MatMul"]),
    ],
)
def test_gradients_that_nobody_asks_for_are_not_drawn(function, kinds):
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2, 2])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        drawn = len(graph.get_operations())
        gradient = tape.gradient(y, x)
        assert [op.type for op in graph.get_operations()[drawn:] if op.type != "Const"] == kinds
        fed = {x: [[1.5, 2.0], [3.0, 4.0]]}
        np.testing.assert_allclose(*sess.run([gradient, tf.gradients(y, x)[0]], fed))
