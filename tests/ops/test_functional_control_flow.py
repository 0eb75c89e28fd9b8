"""Branches and loops as `If`, `Case` and `While` ops: values and gradients."""

from __future__ import annotations

import resource

import numpy as np
import pytest

import everflow as tf
from everflow.ops.functions.defun import Defun


@pytest.fixture(autouse=True)
def functional():
    tf.enable_control_flow_v2()
    with tf.Graph().as_default() as graph:
        yield graph
    tf.disable_control_flow_v2()


def run(fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def test_branches_and_what_they_compute_are_differentiated():
    x = tf.placeholder(tf.float32, [2])
    y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.exp(tf.sin(x)), lambda: x * tf.tanh(x) * 2.0)
    assert y.op.inputs[0].op.type == "StatelessIf"
    (dx,) = tf.gradients(y, x)
    for value in ([0.5, 1.0], [-0.5, -1.0]):
        v = np.float32(value)
        expected = np.exp(np.sin(v)) * np.cos(v) if v.sum() > 0 else 2 * (np.tanh(v) + v / np.cosh(v) ** 2)
        np.testing.assert_allclose(run(dx, {x: v}), expected, rtol=1e-5)


def test_only_the_chosen_branch_assigns():
    v = tf.Variable(1.0, use_resource=True)
    p = tf.placeholder(tf.bool, [])
    op = tf.cond(p, lambda: tf.group(v.assign_add(10.0)), lambda: tf.no_op())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(op, {p: False})
        assert session.run(v) == 1.0
        session.run(op, {p: True})
        assert session.run(v) == 11.0


def test_switch_case():
    x, i = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])
    y = tf.switch_case(i, [lambda: x * x, lambda: tf.sin(x)], default=lambda: 3.0 * x)
    (dx,) = tf.gradients(y, x)
    got = [run(dx, {x: 2.0, i: index}) for index in (0, 1, 2, -1)]
    np.testing.assert_allclose(got, [4.0, np.cos(2.0), 3.0, 3.0], rtol=1e-6)
    with pytest.raises(ValueError, match="contiguous"):
        tf.switch_case(i, {0: lambda: x, 3: lambda: x})


def test_loops_and_nested_branches_are_differentiated():
    x = tf.placeholder(tf.float32, [])

    def body(i, t):
        return i + 1, tf.cond(i % 2 > 0, lambda: tf.sin(t) * x, lambda: t * t)

    _, y = tf.while_loop(lambda i, t: i < 3, body, [0, x])
    (dx,) = tf.gradients(y, x)
    v = 0.7
    a = v * v
    b, db = np.sin(a) * v, np.sin(a) + v * np.cos(a) * 2 * v
    np.testing.assert_allclose(run([y, dx], {x: v}), [b * b, 2 * b * db], rtol=1e-5)


def test_second_derivatives_of_a_loop():
    x = tf.placeholder(tf.float32, [])
    _, y = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * x), [0, 1.0])
    (dx,) = tf.gradients(y, x)
    (ddx,) = tf.gradients(dx, x)
    np.testing.assert_allclose(run([y, dx, ddx], {x: 2.0}), [8.0, 12.0, 12.0])


def test_arrays_in_loops():
    x = tf.placeholder(tf.float32, [2])
    array = tf.TensorArray(tf.float32, 3)
    _, array = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, tf.cast(i, tf.float32) * x)), [0, array]
    )
    stacked = array.stack()
    np.testing.assert_allclose(
        run([stacked[2], tf.gradients(stacked, x)[0]], {x: [1.0, 2.0]}), [[2.0, 4.0], [3.0, 3.0]]
    )


def test_a_traced_function_with_a_loop():
    w = tf.Variable(2.0, use_resource=True)

    @tf.function
    def power(x):
        return tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * w), [0, x])[1]

    x = tf.constant(1.5)
    y = power(x)
    assert run([y] + tf.gradients(y, [x, w])) == [12.0, 8.0, 18.0]


def test_shapes():
    x = tf.placeholder(tf.float32, [2])
    grown = tf.while_loop(
        lambda i, a: i < 3,
        lambda i, a: (i + 1, tf.concat([a, a[-1:] + 1.0], 0)),
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )[1]
    assert grown.shape.as_list() == [None]
    assert run(grown, {x: [0.0, 1.0]}).tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="shape_invariants"):
        tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.concat([a, a], 0)), [0, x])


@pytest.mark.parametrize("switch", [tf.enable_control_flow_v2, tf.disable_control_flow_v2])
def test_a_long_loop_without_back_propagation_keeps_nothing(switch):
    switch()
    x = tf.placeholder(tf.float32, [1000])
    last = tf.while_loop(lambda i, a: i < 20000, lambda i, a: (i + 1, a + x), [0, tf.zeros([1000])], back_prop=False)
    with tf.Session() as session:
        session.run(last, {x: np.zeros(1000)})
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        i, a = session.run(last, {x: np.ones(1000)})
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert i == 20000 and (a == 20000).all()
    assert after - before < 20000  # kilobytes; all values together are four times that


@pytest.mark.parametrize("switch", [tf.enable_control_flow_v2, tf.disable_control_flow_v2])
def test_a_failing_op_in_a_loop_is_told_with_the_users_line(switch):
    switch()
    x = tf.placeholder(tf.float32, [None])
    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    loop = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, tf.reshape(a, [i + 2])), [0, x], shapes, name="growing"
    )
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as failure:
        session.run(loop, {x: [1.0, 2.0]})
    assert "test_functional_control_flow.py" in str(failure.value) and 'name="growing"' in str(failure.value)


def test_branches_that_return_ops_give_what_was_chosen_by():
    v = tf.Variable(1.0, use_resource=True)
    p = tf.placeholder(tf.bool, [])
    chosen = tf.cond(p, lambda: v.assign(2.0).op, tf.no_op)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert not session.run(chosen, {p: False}) and session.run(v) == 1.0
        assert session.run(chosen, {p: True}) and session.run(v) == 2.0


def test_in_a_plain_graph_only_what_a_branch_returns_runs():
    v = tf.Variable(1.0, use_resource=True)

    def assigning():
        v.assign(2.0)
        return tf.constant(3.0)

    chosen = tf.cond(tf.placeholder_with_default(True, []), assigning, lambda: tf.constant(4.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(chosen) == 3.0 and session.run(v) == 1.0


def test_second_derivatives_within_a_branch_go_through_what_it_captured():
    x = tf.placeholder(tf.float32, [])
    y = tf.sin(x) * x

    def second():
        return tf.gradients(tf.gradients(y, x)[0], x)[0]

    found = tf.cond(tf.placeholder_with_default(True, []), second, lambda: tf.constant(0.0))
    assert run(found, {x: 0.5}) == pytest.approx(2 * np.cos(0.5) - 0.5 * np.sin(0.5), rel=1e-6)


def test_a_condition_is_one_bool():
    x = tf.placeholder(tf.float32, [2])
    for drawn in (
        tf.cond(tf.constant(2), lambda: x, lambda: -x),
        tf.while_loop(lambda v: v < 3.0, lambda v: v + 1.0, [x]),
        tf.while_loop(lambda i: i, lambda i: i - 1, [2]),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="single bool"):
            run(drawn, {x: [1.0, 2.0]})
    with pytest.raises(TypeError, match="enters the loop with type"):
        tf.while_loop(lambda v: True, lambda v: tf.cast(v, tf.int32), [x])


def test_raw_ops_know_the_shapes_they_are_told():
    double = Defun(tf.float32, func_name="Double")(lambda x: x * 2.0)
    more = Defun(tf.int32, tf.float32, func_name="More")(lambda i, x: i < 3)
    longer = Defun(tf.int32, tf.float32, func_name="Longer")(lambda i, x: (i + 1, tf.concat([x, x], 0)))
    x = tf.placeholder(tf.float32, [2])
    branches = {"input": [x], "Tout": [tf.float32]}
    for build, options in (
        (tf.raw_ops.If, {"cond": True, "then_branch": double, "else_branch": double}),
        (tf.raw_ops.StatelessIf, {"cond": True, "then_branch": double, "else_branch": double}),
        (tf.raw_ops.Case, {"branch_index": 0, "branches": [double, double]}),
    ):
        assert build(**branches, **options)[0].shape.rank is None
        assert build(**branches, **options, output_shapes=[[None]])[0].shape.as_list() == [None]
        with pytest.raises(ValueError, match="same length"):
            build(**branches, **options, output_shapes=[[2], [3]])
    for build in (tf.raw_ops.While, tf.raw_ops.StatelessWhile):
        assert [t.shape.as_list() for t in build(input=[0, x], cond=more, body=longer)] == [[], [2]]
        _, grown = build(input=[0, x], cond=more, body=longer, output_shapes=[[], [None]])
        assert grown.shape.as_list() == [None]
        with tf.Session() as sess:
            assert sess.run(grown, {x: [1.0, 2.0]}).shape == (16,)
