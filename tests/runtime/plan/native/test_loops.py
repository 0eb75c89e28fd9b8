"""Loops as machine code: they give what kernels give, and leave to the plan what they were not made for."""

import numpy as np
import pytest

import everflow as tf
from everflow.runtime.plan.program import LOOP

pytestmark = pytest.mark.usefixtures("own_graph")
RANDOM = np.random.RandomState(0)


def session(native: bool = True) -> tf.Session:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = 1 if native else -1
    return tf.Session(config=config)


def native_loops(sess: tf.Session, fetches) -> list[bool]:
    """For each loop that runs for some fetches and is in no other, whether it is machine code."""
    sess.run(fetches)
    plan = sess._executor.prepare(tf.contrib.framework.nest.flatten(fetches), []).plan
    return [node.value is not None for node in plan._native[1].top if node.type == LOOP] if plan._native else []


def check(fetches, loops: int, rtol: float = 1e-5) -> None:
    """Compare machine code with kernels, over some steps; so many loops must be machine code."""
    shown = []
    for native in (False, True):
        with session(native) as sess:
            sess.run(tf.global_variables_initializer())
            if native:
                assert native_loops(sess, fetches) == [True] * loops
            else:
                sess.run(fetches)
            shown.append([sess.run(fetches) for _ in range(3)])
    for expected, found in zip(*shown, strict=True):
        for a, b in zip(
            tf.contrib.framework.nest.flatten(expected), tf.contrib.framework.nest.flatten(found), strict=True
        ):
            if a is not None:
                np.testing.assert_allclose(b, a, rtol, 1e-6)


@pytest.fixture(autouse=True)
def _same_numbers_in_every_session(own_graph):
    tf.set_random_seed(1)


def constant(*shape: int) -> tf.Tensor:
    return tf.constant(RANDOM.randn(*shape).astype("f"))


def test_numbers_and_tensors_go_round():
    x = constant(3, 4)
    check(tf.while_loop(lambda i, *_: i < 7, lambda i, x, y: (i + 1, y * 0.5, tf.tanh(x) + 1.0), [0, x, x]), 1)


@pytest.mark.parametrize("rounds", [0, 1, 2, 100])
def test_any_number_of_rounds_with_gradients(rounds):
    """A hundred are more than there is room for at first on the stacks."""
    v = tf.get_variable("v", initializer=RANDOM.randn(5).astype("f"))
    x = tf.while_loop(lambda i, x: i < rounds, lambda i, x: (i + 1, tf.sin(x) + 0.1 * v), [0, v * 1.0])[1]
    check([x, tf.gradients(x, v)], 2)


@pytest.mark.parametrize("cell", ["BasicRNNCell", "GRUCell", "BasicLSTMCell", "LSTMCell"])
@pytest.mark.parametrize("lengths", [None, [2, 6, 1, 6]])
def test_recurrent_networks_train(cell, lengths):
    made = getattr(tf.nn.rnn_cell, cell)(5)
    outputs, _ = tf.nn.dynamic_rnn(made, constant(4, 6, 3), lengths, dtype=tf.float32)
    loss = tf.reduce_mean((outputs - 0.3) ** 2)
    check([loss, tf.train.GradientDescentOptimizer(0.5).minimize(loss)], 2)


def test_many_thin_products_are_added_up_as_one():
    """130 rounds of 2 rows: twice the sum is made, and once what is left."""
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), constant(2, 130, 3), dtype=tf.float32)
    loss = tf.reduce_mean(outputs**2)
    check([loss, tf.train.AdamOptimizer(0.1).minimize(loss)], 2, rtol=1e-4)


def test_loops_and_branches_within():
    x = constant(4)

    def inner(x):
        return tf.while_loop(lambda j, x: j < 3, lambda j, x: (j + 1, x * 1.5 - 0.2), [0, x])[1]

    def body(i, x):
        return i + 1, tf.cond(tf.reduce_sum(x) > 4.0, lambda: x * 0.1, lambda: inner(x) + tf.cast(i, tf.float32))

    check(tf.while_loop(lambda i, x: i < 9, body, [0, x]), 1)


def test_products_of_all_kinds():
    a, b = constant(3, 4), constant(2, 4, 5)

    def body(i, x, y):
        x = tf.matmul(a, a, transpose_a=True) @ x * 0.1 + tf.matmul(x, a, transpose_b=True) @ a * 0.1
        return i + 1, x, tf.matmul(b, tf.matmul(b, y), transpose_a=True) * 0.1

    check(tf.while_loop(lambda i, *_: i < 4, body, [0, constant(4, 4), constant(2, 5, 4)]), 1)


def test_double_precision():
    x = tf.constant(RANDOM.randn(3, 3))
    check(tf.while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, tf.matmul(x, x) * 0.1), [0, x]), 1, rtol=1e-12)


def test_arrays_that_grow_and_are_written_backwards():
    def body(i, grown, turned):
        return i + 1, grown.write(i, tf.fill([2], i)), turned.write(39 - i, i * i)

    arrays = [tf.TensorArray(tf.int32, 0, dynamic_size=True), tf.TensorArray(tf.int32, 40)]
    _, grown, turned = tf.while_loop(lambda i, *_: i < 40, body, [0, *arrays])
    check([grown.stack(), turned.stack(), grown.size()], 1)


def test_an_array_of_which_only_some_is_written():
    array = tf.TensorArray(tf.float32, 5, element_shape=[])
    array = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i + 1, 2.5)), [0, array])[1]
    check(array.stack(), 1)


@pytest.mark.parametrize(
    "body, words",
    [
        (lambda i, a: (i + 1, a.write(i + 4, 1.0)), "size 5"),
        (lambda i, a: (i + 1, a.write(i - 1, 1.0)), "negative"),
        (lambda i, a: (i + 1, a.write(0, 1.0)), "already been written"),
    ],
)
def test_bad_indices_are_told_as_the_plan_tells_them(body, words):
    array = tf.while_loop(lambda i, a: i < 4, body, [0, tf.TensorArray(tf.float32, 5)])[1]
    with session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=words):
        sess.run(array.flow)


def test_an_element_that_is_read_twice():
    array = tf.TensorArray(tf.float32, 3).unstack(tf.constant([1.0, 2.0, 3.0]))
    total = tf.while_loop(lambda i, t: i < 4, lambda i, t: (i + 1, t + array.read(i // 2)), [0, 0.0])[1]
    with session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="twice"):
        sess.run(total)


def test_a_value_of_another_shape_than_the_graph_says():
    x = tf.placeholder(tf.float32)
    y = tf.identity(x)
    y.set_shape([3])
    looped = tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z + y), [0, tf.zeros([3])], [None, None])[1]
    with session() as sess:
        np.testing.assert_array_equal(sess.run(looped, {x: [1.0, 2.0, 3.0]}), [3, 6, 9])
        np.testing.assert_array_equal(sess.run(looped, {x: 2.0}), [6, 6, 6])


@pytest.mark.parametrize("what", ["a random draw", "text", "a variable that is written"])
def test_what_stays_with_the_plan(what):
    v = tf.get_variable("v", initializer=1.0)
    bodies = {
        "a random draw": lambda i, x: (i + 1, x + tf.random_uniform([])),
        "text": lambda i, x: (i + 1, x + tf.string_to_number(tf.as_string(x))),
        "a variable that is written": lambda i, x: (i + 1, x + v.assign_add(1.0)),
    }
    x = tf.while_loop(lambda i, x: i < 3, bodies[what], [0, 1.0], parallel_iterations=1)[1]
    with session() as sess:
        sess.run(v.initializer)
        assert native_loops(sess, x) in ([False], [])
        assert np.isfinite(sess.run(x))


def test_a_time_limit_ends_a_loop_that_would_not():
    endless = tf.while_loop(lambda i, x: tf.abs(x) < 100.0, lambda i, x: (i + 1, tf.sin(x)), [0, 1.0])
    with session() as sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(endless, options=tf.RunOptions(timeout_in_ms=300))
    with session() as sess:
        make = sess.make_callable(endless, accept_options=True)
        with pytest.raises(tf.errors.DeadlineExceededError):
            make(options=tf.RunOptions(timeout_in_ms=300))
