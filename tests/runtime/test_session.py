"""Session.run, callables, defaults, partial runs, several sessions and threads."""

import threading

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw


def variable(value, name=None):
    value = tf.constant(value)
    ref = raw.VariableV2(shape=value.shape, dtype=value.dtype, name=name)
    return ref, raw.Assign(ref=ref, value=value)


def test_runs_constants_and_placeholders():
    x = tf.placeholder(tf.float32, [None])
    y = raw.Mul(x=x, y=tf.constant(2.0))
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(y, {x: [1.0, 2.0]}), np.float32([2, 4]))
        np.testing.assert_array_equal(sess.run(y, {x: [1.0, 2.0, 3.0]}), np.float32([2, 4, 6]))


def test_scalars_are_numpy_scalars_and_text_is_bytes():
    with tf.Session() as sess:
        values = sess.run(
            [tf.constant(1.5), tf.constant(1), tf.constant(True), tf.constant("a"), tf.constant(["a", "b"])]
        )
    assert [type(v) for v in values[:4]] == [np.float32, np.int32, np.bool_, bytes]
    assert values[4].dtype == object and list(values[4]) == [b"a", b"b"]


def test_arguments_are_checked():
    for arguments, text in [({"graph": 3}, "tf.Graph"), ({"target": 3}, "string"), ({"config": {}}, "ConfigProto")]:
        with pytest.raises(TypeError, match=text):
            tf.Session(**arguments)
    with pytest.raises(tf.errors.NotFoundError):
        tf.Session("nowhere://x")


def test_closed_and_empty_sessions():
    sess = tf.Session()
    with pytest.raises(RuntimeError, match="graph is empty"):
        sess.run([])
    a = tf.constant(1.0)
    call = sess.make_callable(a)
    sess.run(a)
    sess.close()
    sess.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        sess.run(a)
    with pytest.raises(tf.errors.CancelledError):
        call()
    with pytest.raises(tf.errors.CancelledError):
        sess.list_devices()


def test_defaults_and_nesting(graph):
    a = tf.constant(2.0)
    with tf.Session() as sess:
        assert tf.get_default_session() is sess and a.eval() == 2.0
        with pytest.raises(RuntimeError, match="not re-entrant"):
            sess.__enter__()
    assert tf.get_default_session() is None
    with pytest.raises(ValueError, match="No default session"):
        a.eval()


def test_interactive_session():
    a = tf.constant(4.0)
    sess = tf.InteractiveSession()
    try:
        assert tf.get_default_session() is sess and a.eval() == 4.0
    finally:
        sess.close()
    assert tf.get_default_session() is None


def test_graph_may_grow_between_runs():
    a = tf.constant(2.0)
    with tf.Session() as sess:
        assert sess.run(a) == 2.0
        assert sess.run(raw.Neg(x=a)) == -2.0
        assert sess.run(a) == 2.0


def test_sessions_hold_their_own_variables():
    v, init = variable([1.0, 2.0], "v")
    add = raw.AssignAdd(ref=v, value=tf.constant([1.0, 1.0]))
    one, two = tf.Session(), tf.Session()
    one.run(init)
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        two.run(v)
    two.run(init)
    one.run(add)
    assert list(one.run(v)) == [2, 3] and list(two.run(v)) == [1, 2]
    tf.Session.reset("")
    with pytest.raises(tf.errors.FailedPreconditionError):
        one.run(v)


def test_make_callable():
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    total = raw.AddV2(x=x, y=y)
    with tf.Session() as sess:
        call = sess.make_callable({"t": total, "x": x}, [x, y])
        assert call(1.0, 2.0) == {"t": 3.0, "x": 1.0}
        assert call(1.0, 2.0, 9.0) == {"t": 3.0, "x": 1.0}
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed"):
            call(1.0)
        with pytest.raises(TypeError):
            sess.make_callable(total, x)
        metadata = tf.RunMetadata()
        traced = sess.make_callable(total, [x, y], accept_options=True)
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        assert traced(1.0, 2.0, options=options, run_metadata=metadata) == 3.0
        assert metadata.step_stats.dev_stats
        sess.close()
        with pytest.raises(RuntimeError):
            call(1.0, 2.0)


def test_callable_from_options():
    from everflow.protos.config_pb2 import CallableOptions

    x = tf.placeholder(tf.float32, [], name="x")
    raw.Neg(x=x, name="y")
    with tf.Session() as sess:
        call = sess._make_callable_from_options(CallableOptions(feed=["x:0"], fetch=["y:0"], target=["y"]))
        assert call(2.0) == [-2.0]


def test_many_threads_on_one_session():
    x = tf.placeholder(tf.int32, [])
    square = raw.Mul(x=x, y=x)
    answers = {}
    with tf.Session() as sess:

        def work(k):
            for i in range(k * 50, k * 50 + 50):
                answers[i] = int(sess.run(square, {x: i}))
            assert tf.get_default_session() is None

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert answers == {i: i * i for i in range(200)}


def test_fetched_arrays_are_the_callers():
    x = tf.placeholder(tf.float32, [2])
    c = tf.constant([1.0, 2.0])
    v, init = variable([1.0, 2.0])
    view = raw.Reshape(tensor=raw.Neg(x=c), shape=tf.constant([2, 1]))
    with tf.Session() as sess:
        sess.run(init)
        mine = np.float32([5, 6])
        for fetch in (c, v, raw.Identity(input=x), raw.Identity(input=v), view, raw.Mul(x=x, y=tf.constant(1.0))):
            got = sess.run(fetch, {x: mine})
            before = got.copy()
            got += 100
            np.testing.assert_array_equal(sess.run(fetch, {x: mine}), before)
        assert list(mine) == [5, 6]
        both = sess.run([raw.Neg(x=c), raw.Identity(input=raw.Neg(x=c))])
        both[0][0] = 9
        assert both[1][0] == -1
        assert sess.run(x, {x: mine}) is mine


def test_thread_counts_reach_torch():
    import torch

    from everflow.runtime import threads

    before = torch.get_num_threads()
    threads.use(2)
    try:
        with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1)) as sess:
            sess.run(tf.placeholder_with_default(1.0, []) + 1.0)
        assert torch.get_num_threads() == 1
    finally:
        threads.use(before)


def test_explain_tells_every_stage():
    x = tf.placeholder(tf.float32, [None], name="x")
    y = raw.Mul(x=x, y=tf.constant(2.0), name="twice")
    with tf.Session() as sess:
        text = sess.explain(y, [x])
    for word in ("prune:", "rewrite:", "threads:", "memory:", "schedule:", "emit:", "# twice (Mul)"):
        assert word in text


@pytest.mark.parametrize("arguments", [{"options": 3}, {"run_metadata": 3}])
def test_options_of_a_run_are_of_their_classes(arguments):
    with tf.Session() as sess, pytest.raises(TypeError):
        sess.run(tf.constant(1.0), **arguments)


@pytest.mark.parametrize("arguments", [(3,), ("", [1]), ("", "ab")])
def test_what_can_not_be_reset(arguments):
    with pytest.raises(TypeError):
        tf.Session.reset(*arguments)


def test_containers_that_are_named_are_reset_and_no_others():
    variables = []
    for name in ("one", "other"):
        with tf.container(name):
            variables.append(tf.get_variable(name, initializer=1.0))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.Session.reset("", ["one"])
        assert sess.run(variables[1]) == 1.0
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(variables[0])


def test_a_session_that_was_entered_is_closed_when_it_is_left_and_one_made_the_default_is_not():
    x = tf.constant(1.0)
    sess = tf.Session()
    with sess.as_default():
        assert x.eval() == 1.0
    assert sess.run(x) == 1.0
    with pytest.raises(ZeroDivisionError), sess:
        1 / 0  # noqa: B018
    with pytest.raises(RuntimeError, match="closed"):
        sess.run(x)
    assert tf.get_default_session() is None


def test_an_interactive_session_warns_of_another_and_brings_its_graph(graph):
    other = tf.Graph()
    first = tf.InteractiveSession()
    with pytest.warns(UserWarning, match="open already"):
        second = tf.InteractiveSession(graph=other)
    assert tf.get_default_session() is second and tf.get_default_graph() is other
    second.close()
    assert tf.get_default_session() is first and tf.get_default_graph() is graph
    first.close()
    first.close()
    assert tf.get_default_session() is None


def test_targets_are_reached_by_those_who_registered_for_them(monkeypatch):
    from everflow.runtime import session

    monkeypatch.setattr(session, "_TARGETS", dict(session._TARGETS))
    session.register_target("mine://", "types", "SimpleNamespace")
    with pytest.raises(TypeError):  # what was registered is called with the target, a graph and the options
        tf.Session("mine://there")
    assert tf.Session(b"local").sess_str == b"local"


def test_the_graph_as_a_session_shows_it():
    tf.constant(1.0, name="a")
    with tf.Session() as sess:
        assert [node.name for node in sess.graph_def.node] == ["a"] and sess.graph is tf.get_default_graph()
