"""What is the default now: graphs and sessions of a thread, and scopes over them."""

import threading

import pytest

import everflow as tf
from everflow.framework import scopes


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_the_innermost_graph_is_the_default(graph):
    with tf.Graph().as_default() as inner:
        assert tf.get_default_graph() is inner
    assert tf.get_default_graph() is graph and scopes.has_default_graph()
    with pytest.raises(AssertionError, match="as_default"):
        tf.reset_default_graph()


def test_every_thread_has_a_graph_of_its_own_and_may_start_anew(graph):
    found = {}

    def work():
        found["first"] = tf.get_default_graph()
        found["same"] = tf.get_default_graph() is found["first"]
        found["entered"] = scopes.has_default_graph()
        tf.reset_default_graph()
        found["second"] = tf.get_default_graph()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found["same"] and not found["entered"]
    assert len({graph, found["first"], found["second"]}) == 3


def test_defaults_are_left_in_order():
    stack = scopes._DefaultStack()
    outer, inner = stack.push("outer"), stack.push("inner")
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(AssertionError, match="Nesting violated"):
        outer.__exit__(None, None, None)
    loose = scopes._DefaultStack(enforce_nesting=False)
    outer, inner = loose.push("outer"), loose.push("inner")
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    assert loose.get() == "inner"


def test_a_session_of_another_graph_computes_nothing_here():
    x = tf.constant(1)
    with tf.Session(graph=tf.Graph()) as other:
        with pytest.raises(ValueError, match="another graph"):
            x.eval()
        with pytest.raises(ValueError, match="another graph"):
            x.eval(session=other)
        with pytest.raises(ValueError, match="another graph"):
            x.op.run()


def test_the_graph_that_inputs_are_in(graph):
    here = tf.constant(1)
    with tf.Graph().as_default() as there:
        other = tf.constant(1)
    assert scopes.graph_from_inputs([1, "a"]) is graph
    assert scopes.graph_from_inputs([1, other, other.op]) is there
    assert scopes.graph_from_inputs([tf.IndexedSlices(other, other)]) is there
    for element in (other, tf.IndexedSlices(other, other)):
        with pytest.raises(ValueError, match="same graph"):
            scopes.graph_from_inputs([here, element])
    with pytest.raises(ValueError, match="passed-in graph"):
        scopes.graph_from_inputs([other], graph)
    with pytest.raises(TypeError, match="needs to be a Graph"):
        scopes.graph_from_inputs([], 3)


def test_a_name_scope_goes_to_the_graph_of_its_values(graph):
    with tf.Graph().as_default() as there:
        other = tf.constant(1)
    with tf.name_scope("s", values=[other]):
        assert tf.get_default_graph() is there and there.get_name_scope() == "s"
    assert tf.get_default_graph() is graph and there.get_name_scope() == ""


def test_names_and_defaults_of_a_name_scope(graph):
    with tf.name_scope(None, "standard") as scope:
        assert scope == "standard/"
    with tf.name_scope("given", "standard", []) as scope:
        assert scope == "given/"
    assert tf.name_scope("given").name == "given"
    with tf.op_scope([], None, "old") as scope:
        assert scope == "old/"
    with pytest.raises(ValueError, match="needs a name"), tf.name_scope(None, None, [1]):
        pass
    with pytest.raises(ValueError, match="valid scope name"), tf.name_scope("a b"):
        pass
    assert tf.get_default_graph() is graph


def test_init_scope_lifts_control_dependencies_and_keeps_the_name():
    with tf.name_scope("outer"), tf.control_dependencies([tf.no_op()]), tf.init_scope():
        made = tf.constant(1).op
    assert made.name == "outer/Const" and made.control_inputs == []


def test_init_scope_leaves_the_bodies_of_functions(graph):
    from everflow.framework.functions import FuncGraph

    body = FuncGraph("inner", FuncGraph("outer", graph))
    with body.as_default(), tf.init_scope():
        assert tf.get_default_graph() is graph


def test_forms_for_the_default_graph(graph):
    tf.add_to_collection("a", 1)
    tf.add_to_collections(["a", "b"], 2)
    tf.get_collection_ref("b").append(3)
    assert tf.get_collection("a") == [1, 2] and tf.get_collection("b") == [2, 3]
    assert scopes.get_all_collection_keys() == graph.get_all_collection_keys() == ["a", "b"]
    with tf.device("/cpu:1"), tf.container("k"):
        queue = tf.FIFOQueue(1, tf.int32).queue_ref.op
    assert queue.device == "/device:CPU:1" and queue.get_attr("container") == b"k"
    with tf.control_dependencies([queue]), tf.colocate_with(queue):
        made = tf.constant(1).op
    assert made.control_inputs == [queue] and made.device == queue.device


def test_collections_in_files(monkeypatch):
    monkeypatch.setattr(scopes, "_proto_functions", {})
    scopes.register_proto_function("k", int, str, float)
    assert scopes.get_collection_proto_type("k") is int
    assert scopes.get_to_proto_function("k") is str and scopes.get_from_proto_function("k") is float
    assert scopes.get_collection_proto_type("z") is scopes.get_to_proto_function("z") is None
    with pytest.raises(KeyError, match="'k'"):
        scopes.register_proto_function("k")
    for wrong in ({"to_proto": 3}, {"from_proto": 3}):
        with pytest.raises(TypeError):
            scopes.register_proto_function("other", **wrong)
