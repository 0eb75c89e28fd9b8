"""tf.contrib.recurrent: a step over all inputs, with gradients; networks that run backwards."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.recurrent import Recurrent, bidirectional_functional_rnn, functional_rnn

VALUES = np.array([1.0, 2.0, 3.0, 4.0], "f")


@pytest.fixture(autouse=True)
def sess():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _run(sess, fetches):
    sess.run(tf.global_variables_initializer())
    return sess.run(fetches)


def _leaky(theta, state, here):
    return {"sum": theta * state["sum"] + here}, {"before": state["sum"]}


def test_states_and_their_gradients(sess):
    theta, start, values = tf.constant(0.5), tf.constant(8.0), tf.constant(VALUES)
    states, last = Recurrent(theta, {"sum": start}, values, _leaky)
    np.testing.assert_allclose(sess.run(states["sum"]), [5.0, 4.5, 5.25, 6.625])
    by_theta, by_start, by_value = sess.run(tf.gradients(last["sum"], [theta, start, values]))
    np.testing.assert_allclose(by_theta, 0.125 * 8 + 0.25 * 5 + 0.5 * 4.5 + 5.25)
    np.testing.assert_allclose(by_start, 0.0625)
    np.testing.assert_allclose(by_value, [0.125, 0.25, 0.5, 1.0])


def test_a_gradient_of_ones_own(sess):
    def backwards(theta, state, here, extras, dafter):
        return 100.0 * extras["before"] * dafter["sum"], {"sum": theta * dafter["sum"]}, None

    theta, values = tf.constant(0.5), tf.constant(VALUES)
    _, last = Recurrent(theta, {"sum": tf.constant(8.0)}, values, _leaky, cell_grad=backwards)
    by_theta, by_value = sess.run(tf.gradients(last["sum"], [theta, values]))
    np.testing.assert_allclose(by_theta, 975.0)
    np.testing.assert_array_equal(by_value, np.zeros(4))


@pytest.mark.parametrize("at_the_end, expected", [(False, [1, 3, 0, 0]), (True, [0, 0, 3, 7])])
def test_some_of_the_steps(sess, at_the_end, expected):
    states, last = Recurrent(
        (), tf.constant(0.0), VALUES, lambda _, s, x: (s + x, ()), max_input_length=2, aligned_end=at_the_end
    )
    np.testing.assert_array_equal(sess.run(states), expected)
    assert sess.run(last) == max(expected)


def _cell():
    constant = tf.constant_initializer(0.3)
    return tf.nn.rnn_cell.GRUCell(2, kernel_initializer=constant, bias_initializer=constant)


def test_backwards_is_forwards_of_what_is_turned(sess):
    inputs = np.random.RandomState(0).randn(3, 4, 2).astype("f")
    backwards, _ = functional_rnn(_cell(), inputs, [4, 1, 2], dtype=tf.float32, reverse=True, scope="a")
    forwards, _ = tf.nn.dynamic_rnn(_cell(), inputs[:, ::-1], dtype=tf.float32, scope="b")
    expected, made = _run(sess, [forwards, backwards])
    there = np.arange(4) < np.array([[4], [1], [2]])
    np.testing.assert_allclose(made, expected[:, ::-1] * there[..., None], rtol=1e-6)
    with pytest.raises(TypeError):
        functional_rnn(_cell(), inputs)


def test_both_directions(sess):
    inputs = np.random.RandomState(0).randn(3, 4, 2).astype("f")
    given = {"dtype": tf.float32, "sequence_length": [4, 1, 2]}
    exact = bidirectional_functional_rnn(_cell(), _cell(), inputs, scope="exact", **given)
    quick = bidirectional_functional_rnn(_cell(), _cell(), inputs, scope="quick", fast_reverse=True, **given)
    exact, quick = _run(sess, [exact, quick])
    np.testing.assert_allclose(exact[0][0], quick[0][0])
    np.testing.assert_allclose(exact[0][1][0], quick[0][1][0])  # nothing fills up the longest one
    assert not np.allclose(exact[0][1][1], quick[0][1][1])
