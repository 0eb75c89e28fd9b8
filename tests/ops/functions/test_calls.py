"""`If`, `While`, `For` and remote calls for those who have the functions already."""

import pytest

import everflow as tf
from everflow.ops.functions import calls
from everflow.ops.functions.defun import Defun

F, I = tf.float32, tf.int32  # noqa: E741
pytestmark = pytest.mark.usefixtures("own_graph")


def run(fetches, feed=None):
    with tf.Session() as session:
        return session.run(fetches, feed)


@pytest.mark.parametrize(("value", "expected"), [(1, 6.0), (0, 9.0), (True, 6.0), ("text", 6.0), ("", 9.0), ([], 9.0)])
def test_what_counts_as_true(value, expected):
    double, triple = Defun(F)(lambda x: x * 2.0), Defun(F)(lambda x: x * 3.0)
    assert run(calls.If(tf.constant(value), [3.0], double, triple)) == [expected]


def test_what_a_branch_captures_goes_in_behind():
    outside = tf.constant(10.0)
    add, subtract = Defun(F)(lambda x: x + outside), Defun(F)(lambda x: x - outside)
    assert run(calls.If(True, [3.0], add, subtract)) == [13.0]


def test_while():
    more = Defun(I, F)(lambda i, x: i < 3)
    double = Defun(I, F)(lambda i, x: (i + 1, x * 2.0))
    made = calls.While([0, tf.ones([2])], more, double, hostmem=[0])
    assert made[1].shape.as_list() == [2]
    assert run(made)[1].tolist() == [8.0, 8.0]
    op = made[0].op
    assert op.get_attr("_input_hostmem") == op.get_attr("_output_hostmem") == [0]


def test_a_loop_takes_nothing_of_the_graph_around():
    outside = tf.constant(1.0)
    more, again = Defun(F)(lambda x: x < 3.0), Defun(F)(lambda x: x + outside)
    with pytest.raises(ValueError):
        calls.While([0.0], more, again)


@pytest.mark.parametrize("rewrite", [False, True])
@pytest.mark.parametrize(("start", "limit", "delta"), [(0, 4, 1), (0, 4, 3), (5, 0, -2), (2, 2, 1)])
def test_for(start, limit, delta, rewrite):
    body = Defun(I, F, func_name="Body")(lambda i, x: x + tf.cast(i, F))
    made = calls.For(start, limit, delta, [100.0], body, rewrite_with_while=rewrite)
    assert run(made) == [100.0 + sum(range(start, limit, delta))]


def test_what_stays_on_the_host_in_a_for():
    body = Defun(I, F)(lambda i, x: x)
    op = calls.For(0, 3, 1, [1.0], body, hostmem=[0])[0].op
    assert (op.get_attr("_input_hostmem"), op.get_attr("_output_hostmem")) == ([3], [0])


def test_a_call_on_a_device():
    double = Defun(F)(lambda x: x * 2.0)
    made = calls.remote_call("/job:localhost/replica:0/task:0/device:CPU:0", [4.0], [F], double)
    assert run(made) == [8.0]


def test_loops_whose_bodies_use_the_graph_around():
    more = tf.constant(1.0)
    cond = Defun(F, F, func_name="cond")(lambda n, x: n > 0.0)
    body = Defun(F, F, func_name="body")(lambda n, x: (n - 1.0, x + n + more))
    step = Defun(I, F, func_name="step")(lambda i, x: x + more)
    whole = calls.While([tf.constant(3.0), tf.constant(0.0)], cond, body)
    counted = [calls.For(0, 3, 1, [tf.constant(0.0)], step, rewrite_with_while=r) for r in (False, True)]
    with tf.Session() as sess:
        assert sess.run(whole) == [0.0, 9.0] and sess.run(counted) == [[3.0], [3.0]]
    wrong = Defun(tf.float32)(lambda x: tf.cast(x, tf.int32))
    with pytest.raises(tf.errors.InvalidArgumentError):
        calls.While([tf.constant(1.0)], Defun(tf.float32)(lambda x: x > 0.0), wrong)


def test_calls_over_devices():
    both = Defun(tf.float32, tf.float32)(lambda a, b: (a + b, a * b))
    drawn = Defun(tf.float32)(lambda a: a * tf.random_uniform([]))
    results = calls.partitioned_call([tf.constant(2.0), tf.constant(3.0)], both)
    assert results[0].op.type == "PartitionedCall"
    assert calls.partitioned_call([tf.constant(2.0)], drawn)[0].op.type == "StatefulPartitionedCall"
    with tf.Session() as sess:
        assert sess.run(results) == [5.0, 6.0]
