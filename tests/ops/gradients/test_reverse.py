"""tf.gradients: which nodes it makes, how gradients are joined and stopped."""

import subprocess
import sys

import numpy as np
import pytest

import everflow as tf
from everflow.ops.functions import defun as function


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(tensors, feed=None):
    with tf.Session() as sess:
        if tf.global_variables():
            sess.run(tf.global_variables_initializer())
        return sess.run(tensors, feed)


def test_nodes_start_with_ones(graph):
    x = tf.placeholder(tf.float32, [2], name="x")
    before = len(graph.get_operations())
    tf.gradients(tf.exp(x, name="y"), x)
    assert [(op.name, op.type) for op in graph.get_operations()[before:]] == [
        ("y", "Exp"),
        ("gradients/Shape", "Const"),
        ("gradients/grad_ys_0", "Const"),
        ("gradients/Fill", "Fill"),
        ("gradients/y_grad/mul", "Mul"),
    ]


@pytest.mark.parametrize("method", [None, 1, 2])
def test_gradients_of_one_tensor_are_added(method):
    x = tf.constant([1.0, 2.0])
    y = tf.exp(x) + tf.square(x) + 3.0 * x
    (g,) = tf.gradients(y, x, aggregation_method=method)
    np.testing.assert_allclose(run(g), np.exp([1.0, 2.0]) + 2 * np.array([1.0, 2.0]) + 3.0, rtol=1e-6)


def test_gates_wait_for_all_gradients_of_an_op(graph):
    x, y = tf.constant(2.0), tf.constant(3.0)
    tf.gradients(x * y, [x, y], gate_gradients=True)
    gate = graph.get_operation_by_name("gradients/mul_grad/tuple/group_deps")
    assert [op.name for op in gate.control_inputs] == ["gradients/mul_grad/Mul", "gradients/mul_grad/Mul_1"]


def test_stops_and_unconnected():
    x = tf.constant(2.0)
    y = x * x
    z = y * x
    other = tf.constant([1.0, 2.0])
    assert run(tf.gradients(z, x, stop_gradients=[y])) == [4.0]
    assert run(tf.gradients(tf.stop_gradient(y) * x, x)) == [4.0]
    assert tf.gradients(z, other) == [None]
    (zeros,) = tf.gradients(z, other, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert run(zeros).tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="unconnected_gradients"):
        tf.gradients(z, x, unconnected_gradients="maybe")


def test_grad_ys():
    x = tf.constant([1.0, 2.0])
    assert run(tf.gradients([x * 2.0, x * 3.0], x, grad_ys=[None, [10.0, 20.0]]))[0].tolist() == [32.0, 62.0]
    with pytest.raises(ValueError, match="grad_ys for"):
        tf.gradients(x, x, grad_ys=[x, x])


def test_slices_are_joined():
    v = tf.Variable([[1.0], [2.0], [3.0]])
    y = tf.reduce_sum(tf.gather(v, [0, 2])) + 2.0 * tf.reduce_sum(tf.gather(v, [2]))
    (g,) = tf.gradients(y, v)
    assert isinstance(g, tf.IndexedSlices)
    values, indices = run([g.values, g.indices])
    assert values.ravel().tolist() == [1.0, 1.0, 2.0] and indices.tolist() == [0, 2, 2]
    assert run(tf.convert_to_tensor(g)).ravel().tolist() == [1.0, 0.0, 3.0]


def test_second_order_and_hessians():
    x = tf.constant([1.0, 2.0])
    y = tf.reduce_sum(x * x * x)
    (g,) = tf.gradients(y, x)
    assert run(tf.gradients(g, x)[0]).tolist() == [6.0, 12.0]
    assert run(tf.hessians(y, x)[0]).tolist() == [[6.0, 0.0], [0.0, 12.0]]


@pytest.mark.parametrize("use_resource", [False, True])
def test_through_variables(use_resource):
    v = tf.Variable(3.0, use_resource=use_resource)
    assert run(tf.gradients(v * v, v)) == [6.0]


def test_overrides(graph):
    @tf.RegisterGradient("TimesSevenForTest")
    def times_seven(op, grad):
        return 7.0 * grad

    x = tf.constant(1.0)
    with graph.gradient_override_map({"Exp": "TimesSevenForTest"}):
        y = tf.exp(x)
    assert run(tf.gradients(y, x)) == [7.0]


def test_missing_gradient_names_the_op():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(LookupError, match="No gradient defined for operation 'odd'"):
        tf.gradients(tf.raw_ops.Bucketize(input=x, boundaries=[1.5], name="odd"), x)


def test_a_second_gradient_is_refused_where_it_is_registered():
    code = "import everflow as tf\ntf.RegisterGradient('MaxPoolGrad')(lambda op, grad: grad)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "KeyError: \"Registering two gradients with name 'MaxPoolGrad'!\"" in done.stderr


@pytest.mark.parametrize("declared", [False, True])
def test_calls_of_functions_do_not_stop_gradients(declared):
    """As in TensorFlow: where the walk would stop at a call, its gradient is left to be worked out when it runs."""
    x = tf.constant(3.0)
    square = tf.function(lambda t: t * t, autograph=False)
    if declared:
        square = function.Defun(tf.float32, func_name="square")(lambda t: t * t)
    y = square(x)
    (dx,) = tf.gradients(y * 2.0, x, stop_gradients=[y])
    assert dx.op.type == "SymbolicGradient"
    (dy,) = tf.gradients(y * 2.0, y)
    assert tf.get_default_graph().get_operations()[-1].type == "SymbolicGradient"
    with tf.Session() as session:
        assert session.run([dx, dy]) == [12.0, 2.0]
