"""Functions that bring their own derivative."""

import numpy as np
import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(tensors, feed=None):
    with tf.Session() as sess:
        if tf.global_variables():
            sess.run(tf.global_variables_initializer())
        return sess.run(tensors, feed)


def test_custom_gradient():
    @tf.custom_gradient
    def double(x, y):
        return (x + y, x * y), lambda da, db: (2.0 * da, 3.0 * db)

    a, b = tf.constant(1.0), tf.constant(2.0)
    first, second = double(a, b)
    assert run([first, second]) == [3.0, 2.0]
    assert run(tf.gradients([first, second], [a, b])) == [2.0, 3.0]


def test_custom_gradient_with_variables():
    v = tf.get_variable("v", initializer=5.0, use_resource=True)

    @tf.custom_gradient
    def scaled(x):
        def grad(dy, variables):
            assert variables == [v]
            return dy * 10.0, [dy * 100.0]

        return x * v, grad

    x = tf.constant(2.0)
    assert run(tf.gradients(scaled(x), [x, v])) == [10.0, 100.0]

    @tf.custom_gradient
    def forgetful(x):
        return x * v, lambda dy: dy

    with pytest.raises(TypeError, match="variables"):
        forgetful(x)


def test_the_gradient_of_the_identity_in_place_of_none():
    x = tf.constant([0.4, 1.6])
    with tf.variable_scope("resources", use_resource=True):
        y = tf.grad_pass_through(tf.round)(x) * 3.0
    value, grad = run([y, tf.gradients(y, x)[0]])
    assert value.tolist() == [0.0, 6.0] and grad.tolist() == [3.0, 3.0]


def test_what_is_computed_again_gives_the_same_gradient(graph):
    @tf.recompute_grad
    def cube(x):
        return x * x * x

    x = tf.constant(2.0)
    with tf.variable_scope("resources", use_resource=True):
        y = cube(x)
    before = sum(op.type == "Mul" for op in graph.get_operations())
    (grad,) = tf.gradients(y, x)
    assert run([y, grad]) == [8.0, 12.0]
    assert sum(op.type == "Mul" for op in graph.get_operations()) >= before + 2


def test_structures_of_results():
    @tf.custom_gradient
    def both(x):
        return {"a": x, "b": (2.0 * x,)}, lambda da, db: da * 10.0 + db

    x = tf.constant(1.0)
    found = both(x)
    assert sorted(found) == ["a", "b"]
    assert run(tf.gradients(found["b"][0], x)) == [1.0]
    assert run(tf.gradients([found["a"], found["b"][0]], x)) == [11.0]


def test_a_stable_logarithm():
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)
        return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    x = tf.constant(100.0)
    assert run(tf.gradients(log1pexp(x), x)) == [1.0]
    plain = tf.log(1 + tf.exp(x))
    assert np.isnan(run(tf.gradients(plain, x)[0]))


def test_functions_keep_their_names_and_take_no_keywords():
    @tf.custom_gradient
    def mine(x):
        """Doc."""
        return x, lambda dy: dy

    assert (mine.__name__, mine.__doc__) == ("mine", "Doc.")
    with pytest.raises(ValueError):
        mine(x=tf.constant(1.0))


def test_variables_of_the_old_kind_are_made_outside():
    v = tf.get_variable("v", initializer=5.0, use_resource=False)

    @tf.custom_gradient
    def scaled(x):
        return x * v, lambda dy, variables: (dy * 10.0, [dy * 100.0 for _ in variables])

    x = tf.constant(2.0)
    assert run(tf.gradients(scaled(x), [x, v])) == [10.0, 100.0]

    @tf.custom_gradient
    def making(x):
        return x * tf.get_variable("w", initializer=5.0, use_resource=False), lambda dy, variables: (dy, [dy])

    with pytest.raises(TypeError):
        making(x)


def test_a_gradient_for_each_variable():
    v = tf.get_variable("v", initializer=5.0, use_resource=True)

    @tf.custom_gradient
    def scaled(x):
        return x * v, lambda dy, variables: (dy, [])

    x = tf.constant(1.0)
    with pytest.raises(ValueError):
        tf.gradients(scaled(x), x)
