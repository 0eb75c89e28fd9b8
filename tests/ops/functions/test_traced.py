"""`tf.function` in graphs: traces, captures, order of assignments, gradients."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf


def run(*fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(list(fetches), feed)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_traces_once_for_each_kind_of_arguments():
    traces = []

    @tf.function
    def add(a, b):
        traces.append(a)
        return a + b

    add(tf.constant(1), tf.constant(2))
    add(tf.constant(3), tf.constant(4))
    assert len(traces) == 1
    add(tf.constant([1.0]), tf.constant(2.0))
    add(1, 2)
    add(1, 2)
    assert len(traces) == 3


def test_assignments_run_in_order():
    v = tf.Variable(1.0, use_resource=True)

    @tf.function
    def step(x):
        before = v.read_value()
        v.assign_add(x)
        middle = v.read_value()
        v.assign(v * 10.0)
        return {"before": before, "after": (middle, v.read_value())}

    out = step(tf.constant(2.0))
    assert out["before"].op.type == "StatefulPartitionedCall"
    assert run(out) == [{"before": 1.0, "after": (3.0, 30.0)}]


def test_a_function_without_results_runs():
    v = tf.Variable(1.0, use_resource=True)

    @tf.function
    def bump():
        v.assign_add(1.0)

    op = bump()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(op)
        assert session.run(v) == 2.0


def test_gradients_first_and_second():
    x = tf.placeholder(tf.float32, [2])
    w = tf.Variable(3.0, use_resource=True)

    @tf.function
    def cube(t):
        return t * t * t * w

    y = cube(x)
    (dx,) = tf.gradients(y, x)
    (ddx,) = tf.gradients(dx, x)
    (dw,) = tf.gradients(y, w)
    got = run(y, dx, ddx, dw, feed={x: [1.0, 2.0]})
    for value, expected in zip(got, ([3, 24], [9, 36], [18, 36], 9)):
        np.testing.assert_allclose(value, expected)


def test_nested_functions_and_their_gradients():
    @tf.function
    def square(x):
        return x * x

    @tf.function
    def outer(x):
        return square(x) + square(x + 1.0)

    x = tf.constant(3.0)
    y = outer(x)
    assert run(y, tf.gradients(y, x)[0]) == [25.0, 14.0]


def test_variables_made_on_the_first_call():
    class Lazy:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(tf.ones([]) * 10.0)
            return self.v.assign_add(x)

    assert run(Lazy()(tf.constant(1.0))) == [11.0]
    with pytest.raises(ValueError, match="non-first call"):
        tf.function(lambda: tf.Variable(1.0) + 1.0)()


def test_input_signature():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def total(x):
        return tf.reduce_sum(x)

    assert run(total(tf.constant([1.0, 2.0])), total([1.0, 2.0, 3.0])) == [3.0, 6.0]
    with pytest.raises(ValueError, match="incompatible"):
        total(tf.constant([1, 2]))
    concrete = total.get_concrete_function()
    assert concrete.inputs[0].shape.as_list() == [None]
    assert run(concrete(tf.constant([4.0]))) == [4.0]


def test_calls_may_ask_for_an_executor():
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        double = tf.function(lambda x: 2.0 * x)
        with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
            inside = double(tf.constant(1.0))
        outside = double(tf.constant(2.0))
        asked = [op.get_attr("executor_type") for op in graph.get_operations() if op.type == "PartitionedCall"]
        assert asked == [b"SINGLE_THREADED_EXECUTOR", b""]
        assert sess.run([inside, outside]) == [2.0, 4.0]


def test_a_call_waits_for_operations_outside():
    v = tf.Variable(1.0, use_resource=True)
    bump = v.assign_add(1.0)

    @tf.function
    def one():
        with tf.control_dependencies([bump]):
            return 1.0

    with tf.Session() as session:
        session.run(v.initializer)
        session.run(one())
        assert session.run(v) == 2.0


def test_a_tape_reads_variables_in_loops():
    v = tf.Variable(2.0, use_resource=True)

    def body(i, total):
        with tf.GradientTape() as tape:
            y = v * v
        return i + 1, total + tape.gradient(y, v)

    assert run(tf.while_loop(lambda i, _: i < 3, body, [0, 0.0])[1]) == [12.0]


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: tf.while_loop(lambda y: y < 9.0, lambda y: y * y, [x]),
        lambda x: tf.cond(x < 1.0, lambda: x, lambda: x * x),
    ],
)
def test_a_tape_refuses_what_loops_and_branches_of_a_graph_made(draw):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = draw(x)
    with pytest.raises(NotImplementedError, match=r"tf\.gradients"):
        tape.gradient(y, x)


def test_a_signature_and_arguments_by_keyword_only():
    def f(x, *, y):
        return x

    with pytest.raises(ValueError, match="keyword"):
        tf.function(f, input_signature=[tf.TensorSpec([], tf.float32)])
