"""The reference, which runs the nodes of a graph one by one."""

import numpy as np
import pytest

import everflow as tf
from everflow.runtime.plan.interpret import interpret
from everflow.runtime.state import Step


def test_an_endless_loop_stops_when_its_time_is_over():
    loop = tf.while_loop(lambda i: True, lambda i: i + 1, [0])
    with tf.Session() as sess:
        executor = sess._executor
        executor.extend()
        plan = interpret([loop], [], executor.state, executor._placer, copying=True)
        with pytest.raises(tf.errors.DeadlineExceededError):
            plan([], Step(executor.state, 50))


def test_errors_name_the_op_and_what_it_was_given():
    x = tf.placeholder(tf.float32, None, name="x")
    y = tf.matmul(x, tf.ones([3, 2]), name="y")
    reference = tf.ConfigProto()
    reference.experimental.executor_type = "REFERENCE"
    messages = []
    for config in None, reference:
        with tf.Session(config=config) as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(y, {x: np.ones([2, 2])})
        assert caught.value.op is y.op
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_the_environment_chooses_the_reference(monkeypatch):
    monkeypatch.setenv("EVERFLOW_EXECUTOR", "REFERENCE")
    with tf.Session() as sess:
        assert type(sess._executor.compile([tf.constant(1)], [])).__name__ == "Interpreted"


@pytest.fixture
def run():
    """Runs fetches node by node, as the reference does or without its copies."""

    def run(fetches, feeds=None, copying=True, **options):
        with tf.Session() as sess:
            executor = sess._executor
            executor.extend()
            plan = interpret(
                list(fetches), list(feeds or {}), executor.state, executor._placer, copying=copying, **options
            )
            return plan([executor.feeder(k).feed(v) for k, v in (feeds or {}).items()])

    return run


def test_every_node_runs_as_it_was_drawn(run):
    heard = []
    y = tf.identity(tf.constant(1.0, name="a") + tf.constant(2.0, name="b"), name="y")
    assert run([y], recorder=lambda node, start, end, values: heard.append(node.name)) == [3.0]
    assert heard == ["a", "b", "add", "y"]


@pytest.mark.parametrize("copying", [True, False])
def test_what_was_read_of_a_variable_stays_as_it_was(run, copying):
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    with tf.control_dependencies([v.initializer]):
        value = v.read_value()
    rows = tf.reshape(value, [2, 1])
    with tf.control_dependencies([rows]):
        written = v.assign_add([10.0, 10.0])
    with tf.control_dependencies([written.op]):
        late = tf.identity(rows)
    assert run([late], copying=copying)[0].tolist() == [[1.0], [2.0]]


def test_a_kernel_that_writes_over_its_input_harms_nobody(run, monkeypatch):
    from everflow.kernels import registry

    registry.load_all()
    monkeypatch.setitem(registry._kernels, "Cos", registry.Kernel(lambda x: x.zero_(), (), ()))
    x = tf.placeholder(tf.float32, [2])
    doubled = x * 2.0
    spoilt = tf.raw_ops.Cos(x=doubled)
    with tf.control_dependencies([spoilt]):
        late = tf.identity(doubled) + 0.0
    assert run([late], {x: [1.0, 2.0]})[0].tolist() == [2.0, 4.0]


def test_operations_and_feeds_have_no_value_of_their_own(run):
    x = tf.placeholder(tf.float32, [])
    assert run([x, tf.no_op()], {x: 1.0}) == [None, None]
    kept = run([x], {x: 1.0}, to_numpy=False)[0]
    assert kept.item() == 1.0


def test_unfed_unknown_and_uninitialized(run, monkeypatch):
    from everflow.kernels import registry

    with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value for placeholder tensor 'x'"):
        run([-tf.placeholder(tf.float32, [], name="x")])
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        run([tf.Variable(1.0, name="v") + 1.0])
    registry.load_all()
    monkeypatch.delitem(registry._kernels, "Cos")
    with pytest.raises(tf.errors.UnimplementedError, match="'Cos'"):
        run([tf.raw_ops.Cos(x=tf.placeholder_with_default(1.0, []))])


def test_a_mistake_in_a_kernel_is_kept_as_the_cause(run, monkeypatch):
    from everflow.kernels import registry

    registry.load_all()
    monkeypatch.setitem(registry._kernels, "Cos", registry.Kernel(lambda x: x.no_such_thing, (), ()))
    with pytest.raises(tf.errors.InternalError) as caught:
        run([tf.raw_ops.Cos(x=tf.placeholder_with_default(1.0, []))])
    assert isinstance(caught.value.__cause__, AttributeError)
