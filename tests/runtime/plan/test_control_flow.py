"""Branches and loops: what the planner makes of Switch, Merge, Enter, Exit and NextIteration."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw


def branch(predicate, x):
    """if predicate: 2 * x else: -x"""
    switched = raw.Switch(data=x, pred=predicate)
    pivot = raw.Identity(input=raw.Switch(data=predicate, pred=predicate)[1])
    with tf.control_dependencies([pivot.op]):
        two = tf.constant(2.0)
    yes = raw.Mul(x=switched[1], y=two)
    no = raw.Neg(x=switched[0])
    return yes, no, raw.Merge(inputs=[no, yes])


def loop(x, limit, body, frame="loop"):
    """i = 0; while i < limit: x = body(i, x); i += 1"""
    counter = raw.Enter(data=tf.constant(0), frame_name=frame)
    value = raw.Enter(data=x, frame_name=frame)
    i = raw.Merge(inputs=[counter, counter])[0]
    v = raw.Merge(inputs=[value, value])[0]
    end = raw.Enter(data=limit, frame_name=frame, is_constant=True)
    go = raw.LoopCond(input=raw.Less(x=i, y=end))
    i_switch, v_switch = raw.Switch(data=i, pred=go), raw.Switch(data=v, pred=go)
    i_in = raw.Identity(input=i_switch[1])
    with tf.control_dependencies([i_in.op]):
        one = tf.constant(1)
        result = body(i_in, raw.Identity(input=v_switch[1]))
    i.op._update_input(1, raw.NextIteration(data=raw.AddV2(x=i_in, y=one)))
    v.op._update_input(1, raw.NextIteration(data=result))
    return raw.Exit(data=i_switch[0]), raw.Exit(data=v_switch[0])


def test_a_branch():
    predicate, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
    yes, no, merged = branch(predicate, x)
    after = raw.AddV2(x=merged[0], y=x)
    with tf.Session() as sess:
        assert sess.run([merged[0], merged[1], after], {predicate: True, x: 3.0}) == [6.0, 1, 9.0]
        assert sess.run([merged[0], merged[1], after], {predicate: False, x: 3.0}) == [-3.0, 0, 0.0]
        assert sess.run(yes, {predicate: True, x: 3.0}) == 6.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
            sess.run(yes, {predicate: False, x: 3.0})
        assert sess.run(yes.op, {predicate: False, x: 3.0}) is None
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
            sess.run(raw.AddV2(x=yes, y=no), {predicate: True, x: 3.0})


def test_a_branch_within_a_branch():
    outer, inner, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
    switched = raw.Switch(data=x, pred=outer)
    inner_switched = raw.Switch(data=inner, pred=outer)[1]
    _, _, merged = branch(inner_switched, switched[1])
    result = raw.Merge(inputs=[raw.Exp(x=switched[0]), merged[0]])[0]
    with tf.Session() as sess:
        assert sess.run(result, {outer: True, inner: True, x: 3.0}) == 6.0
        assert sess.run(result, {outer: True, inner: False, x: 3.0}) == -3.0
        assert sess.run(result, {outer: False, inner: True, x: 0.0}) == 1.0


def test_only_the_taken_branch_runs():
    predicate = tf.placeholder(tf.bool, [])
    x = tf.placeholder(tf.float32, [None])
    switched = raw.Switch(data=x, pred=predicate)
    fails = raw.Reshape(tensor=switched[1], shape=tf.constant([7, 7]))
    merged = raw.Merge(inputs=[switched[0], fails])[0]
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(merged, {predicate: False, x: [1.0]}), [1.0])
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(merged, {predicate: True, x: [1.0]})


def test_a_loop():
    x, limit = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])
    i, v = loop(x, limit, lambda i, v: raw.AddV2(x=v, y=v))
    total = raw.AddV2(x=v, y=x)
    with tf.Session() as sess:
        assert sess.run([i, v, total], {x: 1.0, limit: 5}) == [5, 32.0, 33.0]
        assert sess.run([i, v], {x: 1.0, limit: 0}) == [0, 1.0]
        assert sess.run(v, {x: 3.0, limit: 1}) == 6.0


def test_a_branch_in_a_loop_and_a_loop_in_a_loop():
    x = tf.placeholder(tf.float32, [])

    def body(i, v):
        _, _, merged = branch(raw.Equal(x=i, y=tf.constant(1)), v)
        limit = raw.Identity(input=tf.constant(2))
        return loop(merged[0], limit, lambda j, w: raw.AddV2(x=w, y=w), "inner")[1]

    _, v = loop(x, tf.constant(3), body)
    expected = 1.0
    for i in range(3):
        expected = expected * 2 if i == 1 else -expected
        expected *= 4
    with tf.Session() as sess:
        assert sess.run(v, {x: 1.0}) == expected


def test_a_loop_in_a_branch():
    predicate, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
    switched = raw.Switch(data=x, pred=predicate)
    _, v = loop(switched[1], tf.constant(3), lambda i, w: raw.AddV2(x=w, y=w))
    merged = raw.Merge(inputs=[switched[0], v])[0]
    with tf.Session() as sess:
        assert sess.run(merged, {predicate: True, x: 1.0}) == 8.0
        assert sess.run(merged, {predicate: False, x: 1.0}) == 1.0


def test_writes_in_a_loop_happen_each_time():
    count = raw.VariableV2(shape=[], dtype=tf.float32)
    init = raw.Assign(ref=count, value=tf.constant(0.0))

    def body(i, v):
        with tf.control_dependencies(None):
            entered = raw.RefEnter(data=count, frame_name="loop", is_constant=True)
        with tf.control_dependencies([raw.AssignAdd(ref=entered, value=v).op]):
            return raw.Identity(input=v)

    _, v = loop(tf.constant(2.0), tf.constant(3), body)
    with tf.Session() as sess:
        sess.run(init)
        sess.run(v)
        assert sess.run(count) == 6.0


def test_a_run_that_never_ends_can_be_stopped():
    _, v = loop(tf.constant(1.0), tf.constant(2**31 - 1), lambda i, v: raw.Identity(input=v))
    with tf.Session() as sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(v, options=tf.RunOptions(timeout_in_ms=50))


def test_cycles_and_broken_loops_are_told():
    x = tf.placeholder(tf.float32, [])
    a = raw.Neg(x=x, name="a")
    b = raw.Neg(x=a, name="b")
    a.op._update_input(0, b)
    entered = raw.Enter(data=x, frame_name="endless")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="cycle that is not a while loop"):
            sess.run(b, {x: 1.0})
        assert sess.run(raw.Exit(data=entered), {x: 1.0}) == 1.0  # entered and left, never gone round


def test_a_loop_imported_several_times():
    """All of them have frames of the same name, and one may take what another gave."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")

        def outer(i, v):
            return i + 1, tf.while_loop(lambda j, w: j < i, lambda j, w: (j + 1, w * 2), [0, v])[1]

        tf.identity(tf.while_loop(lambda i, v: i < 3, outer, [0, x])[1], name="y")
    loops = graph.as_graph_def()
    first, second = (
        tf.import_graph_def(loops, {"x:0": tf.constant(v)}, ["y:0"], name=n)[0] for v, n in ((1.0, "a"), (10.0, "b"))
    )
    (third,) = tf.import_graph_def(loops, {"x:0": first + second}, ["y:0"], name="c")
    with tf.Session() as sess:
        assert sess.run([first, second, third]) == [8.0, 80.0, 704.0]


def test_a_state_that_a_run_writes_stays_for_the_gradient_of_the_loop_that_began_with_it():
    """What the loop read goes onto a stack and comes back only in the gradient; the write must not reach it."""
    state = tf.get_variable("state", initializer=[1.0, 2.0], use_resource=True)
    w = tf.constant([3.0, 4.0])
    loop = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * w), [tf.constant(0), state.read_value()])
    write = state.assign(loop[1])
    (grad,) = tf.gradients(tf.reduce_sum(loop[1]), [w])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found, _ = sess.run([grad, write.op])
        np.testing.assert_array_equal(found, [6.0, 16.0])
        np.testing.assert_array_equal(sess.run(state), [9.0, 32.0])


def test_none_is_no_loop_variable():
    with tf.Graph().as_default():
        variables = [tf.constant(0), None]
        with pytest.raises(AttributeError, match="None"):
            tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x), variables)
        with pytest.raises(TypeError, match="None"):
            tf.while_loop(
                lambda i, x: i < 3, lambda i, x: (i + 1, x), variables, shape_invariants=[tf.TensorShape([])] * 2
            )
