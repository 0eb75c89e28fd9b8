"""Debuggers elsewhere, played by a server of the test's own: what reaches them, and what they ask for."""

import numpy as np
import pytest

import everflow as tf
from everflow import debug as tf_debug
from everflow.protos import debug_service_pb2
from tests.debug.listener import CHANGE, listening


@pytest.fixture
def listener():
    with listening() as found:
        yield found


@pytest.fixture
def doubled():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2], name="x")
        yield x, tf.multiply(x, 2.0, name="doubled")


def test_everything_computed_is_sent(listener, doubled):
    x, y = doubled
    sess = tf_debug.GrpcDebugWrapperSession(tf.Session(), listener.address)
    np.testing.assert_array_equal(sess.run(y, {x: [1, 2]}), [2, 4])
    np.testing.assert_array_equal(listener.tensors()["doubled:0:DebugIdentity"], [2, 4])
    assert {node.name for node in listener.graphs()[0].node} >= {"doubled"}


def test_the_graph_is_sent_once_and_runs_are_counted(listener, doubled):
    x, y = doubled
    sess = tf_debug.GrpcDebugWrapperSession(tf.Session(), "grpc://" + listener.address)
    for _ in range(3):
        sess.run(y, {x: [1, 2]})
    assert len(listener.graphs()) == 1
    assert [run["executor_step_index"] for run in listener.runs()] == [0, 1, 2]
    assert listener.runs()[0]["input_names"] == ["x:0"] and listener.runs()[0]["output_names"] == ["doubled:0"]


def test_large_tensors_come_in_parts(listener):
    with tf.Graph().as_default():
        y = tf.identity(tf.reshape(tf.range(1_100_000), [1100, 1000]), name="large")
        tf_debug.GrpcDebugWrapperSession(
            tf.Session(),
            [listener.address],
            watch_fn=lambda *_: tf_debug.WatchOptions(node_name_regex_whitelist="large"),
        ).run(y)
    np.testing.assert_array_equal(listener.tensors()["large:0:DebugIdentity"], np.arange(1_100_000).reshape(1100, 1000))
    assert sum(e.WhichOneof("what") == "summary" for e in listener.events) == 2


@pytest.mark.parametrize("state", [CHANGE.READ_ONLY, CHANGE.READ_WRITE])
def test_tensorboard_gets_what_it_asks_for(listener, doubled, state):
    x, y = doubled
    sess = tf_debug.TensorBoardDebugWrapperSession(tf.Session(), listener.address)
    sess.run(y, {x: [1, 2]})
    assert not listener.tensors()
    listener.wanted = {"doubled": state}
    sess.run(y, {x: [3, 4]})
    assert {name: list(value) for name, value in listener.tensors().items()} == {"doubled:0:DebugIdentity": [6, 8]}
    listener.wanted = {"doubled": CHANGE.DISABLED}
    before = len(listener.tensors())
    sess.run(y, {x: [5, 6]})
    assert len(listener.tensors()) == before


def test_tensorboard_gets_the_lines_that_drew_the_graph_once(listener, doubled):
    x, y = doubled
    sess = tf_debug.TensorBoardDebugWrapperSession(tf.Session(), listener.address)
    sess.run(y, {x: [1, 2]})
    sess.run(y, {x: [1, 2]})
    (call,) = listener.calls
    assert call.call_type == debug_service_pb2.CallTraceback.GRAPH_EXECUTION and call.graph_version == y.graph.version
    entry = next(e for e in call.graph_traceback.log_entries if e.name == "doubled")
    texts = call.graph_traceback.id_to_string
    assert any(
        texts[trace.file_id] == __file__ and "multiply" in texts[trace.line_id] for trace in entry.code_def.traces
    )
    (source,) = [s for s in listener.sources if s.file_path == __file__]
    assert source.lines[0].startswith('"""Debuggers elsewhere') and source.last_modified > 0
    assert not any("everflow/framework" in s.file_path for s in listener.sources)
    tf.add(y, 1.0)
    sess.run(y, {x: [1, 2]})
    assert len(listener.calls) == 2


def test_hooks_do_the_same(listener, doubled):
    x, y = doubled
    hooks = [tf_debug.GrpcDebugHook(listener.address), tf_debug.TensorBoardDebugHook([listener.address])]
    for hook in hooks:
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            np.testing.assert_array_equal(sess.run(y, {x: [1, 2]}), [2, 4])
    assert len(listener.runs()) == 2 and len(listener.calls) == 1
    assert "doubled:0:DebugIdentity" in listener.tensors()


def test_nobody_listening_is_an_error_of_the_run(doubled):
    x, y = doubled
    options = tf.RunOptions()
    tf_debug.watch_graph(options, y.graph, debug_urls="grpc://localhost:1")
    with pytest.raises(tf.errors.FailedPreconditionError, match="No debugger"):
        tf.Session().run(y, {x: [1, 2]}, options=options)


def test_addresses_are_text():
    with pytest.raises(TypeError, match="grpc_debug_server_addresses"):
        tf_debug.GrpcDebugWrapperSession(tf.Session(), 6064)
    with pytest.raises(TypeError, match="watch_fn"):
        tf_debug.GrpcDebugWrapperSession(tf.Session(), "localhost:1", watch_fn=3)
