"""Classes derived from the wrapper of sessions say how runs go, and hear of their ends."""

from __future__ import annotations

import pytest

import everflow as tf
from everflow.debug import requests
from everflow.debug.dumps import DebugDumpDir
from everflow.debug.wrappers import BaseDebugWrapperSession


class Told(BaseDebugWrapperSession):
    def __init__(self, session, action, urls=()):
        self.action, self.urls, self.heard = action, list(urls), []
        super().__init__(session)

    def on_run_start(self, request):
        self.heard.append((request.run_call_count, request.is_callable_runner))
        return requests.OnRunStartResponse(self.action, self.urls)

    def on_run_end(self, request):
        self.heard.append((request.performed_action, request.tf_error))
        return requests.OnRunEndResponse()


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        tf.add(tf.constant(3.0, name="a"), 1.0, name="b")
        yield graph


def test_runs_are_dumped_where_a_class_says(graph, tmp_path):
    session = Told(tf.Session(), "debug_run", [f"file://{tmp_path}"])
    assert session.run("b:0") == 4.0
    assert [datum.node_name for datum in DebugDumpDir(str(tmp_path)).dumped_tensor_data] == ["a", "b/y", "b"]
    assert session.heard == [(1, False), ("debug_run", None)]


def test_functions_of_a_session_are_told_apart(graph):
    session = Told(tf.Session(), "non_debug_run")
    assert session.make_callable("b:0", feed_list=["a:0"])(5.0) == 6.0
    assert session.heard == [(1, True), ("non_debug_run", None)]


def test_there_is_no_other_way_to_run(graph):
    with pytest.raises(ValueError, match="sideways"):
        Told(tf.Session(), "sideways").run("b:0")
    with pytest.raises(TypeError):
        requests.OnRunStartResponse("debug_run", "not a list")
