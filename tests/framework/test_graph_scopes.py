"""Scopes of a graph: devices, colocations, attributes and so on of what is made inside them."""

import threading

import pytest

import everflow as tf
from everflow.framework.graph_scopes import read_dtype, reading_as


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def const(name=None):
    return tf.constant(1, name=name)


def test_devices_of_nested_scopes():
    with tf.device("/job:a/gpu:1"):
        assert const().device == "/job:a/device:GPU:1"
        with tf.device("/task:2/cpu:0"):
            assert const().device == "/job:a/task:2/device:CPU:0"
        with tf.device(None):
            assert const().device == ""
        with tf.device(""):
            assert const().device == "/job:a/device:GPU:1"
    with tf.device(lambda op: "/job:z" if op.type == "Const" else ""), tf.device("/cpu:1"):
        assert [const().device, tf.no_op().device] == ["/job:z", ""]


@pytest.mark.parametrize("answer", [None, 3])
def test_a_device_function_answers_with_a_name(answer):
    with tf.device(lambda op: answer), pytest.raises(TypeError):
        const()


def test_colocation_is_stronger_than_devices():
    with tf.device("/cpu:1"):
        a = const("a")
    b = const("b")
    found = {}
    with tf.device("/gpu:0"), tf.colocate_with(a):
        found["one"] = const()
        with tf.colocate_with(b):
            found["two"] = const()
        with tf.colocate_with(b, ignore_existing=True):
            found["other"] = const()
        with tf.colocate_with(None, ignore_existing=True):
            found["none"] = const("alone")
        with tf.device("/cpu:3"):
            found["device inside"] = const()
    assert {case: (t.device, t.op.colocation_groups()) for case, t in found.items()} == {
        "one": ("/device:CPU:1", [b"loc:@a"]),
        "two": ("/device:CPU:1", [b"loc:@a", b"loc:@b"]),
        "other": ("", [b"loc:@b"]),
        "none": ("", [b"loc:@alone"]),
        "device inside": ("/device:CPU:1", [b"loc:@a"]),
    }
    with pytest.raises(ValueError, match="ignore_existing"), tf.colocate_with(None):
        pass


def test_colocation_with_a_resource_variable_reads_nothing(graph):
    variable = tf.Variable(1.0, use_resource=True, name="v")
    count = len(graph.get_operations())
    with tf.colocate_with(variable):
        assert const().op.colocation_groups() == [b"loc:@v"]
    assert len(graph.get_operations()) == count + 1


def test_containers_are_for_what_has_a_state():
    with tf.container("k"):
        assert tf.FIFOQueue(1, tf.int32).queue_ref.op.get_attr("container") == b"k"
        with tf.container(""):
            assert tf.FIFOQueue(1, tf.int32).queue_ref.op.get_attr("container") == b""
        assert "container" not in const().op.attrs


def test_attributes_of_scopes(graph):
    with graph._attr_scope({"_a": tf.AttrValue(i=3), "_b": lambda node: tf.AttrValue(s=node.name.encode())}):
        made = const("mine").op
        with graph._attr_scope({"_a": None}):
            assert "_a" not in const().op.attrs
    assert (made.get_attr("_a"), made.get_attr("_b")) == (3, b"mine")
    assert "_a" not in const().op.attrs
    with graph.gradient_override_map({"Neg": "Mine"}), graph._kernel_label_map({"Neg": "label"}):
        made = (-const()).op
    assert (made.get_attr("_gradient_op_type"), made.get_attr("_kernel")) == (b"Mine", b"label")
    assert "_kernel" not in (-const()).op.attrs


def test_maps_have_text_in_them(graph):
    for wrong in ({"Neg": 3}, {3: "Neg"}, ["Neg"]):
        with pytest.raises(TypeError), graph.gradient_override_map(wrong):
            pass
    with pytest.raises(TypeError), graph._attr_scope(["_a"]):
        pass


def test_creators_of_variables_are_asked_by_priority(graph):
    asked = []

    def creator(name):
        def create(next_creator, **kwargs):
            asked.append(name)
            return next_creator(**kwargs)

        return create

    with graph._variable_creator_scope(creator("low"), priority=50), graph._variable_creator_scope(creator("high")):
        tf.Variable(1.0)
    tf.Variable(1.0)
    assert asked == ["high", "low"]


def test_device_scopes_are_left_in_order(graph):
    outer, inner = graph.device("/cpu:0"), graph.device("/cpu:1")
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="nesting"):
        outer.__exit__(None, None, None)


def test_threads_with_scopes_of_their_own():
    graph, seen = tf.Graph(), []

    def draw():
        with graph.as_default():
            made = tf.constant(1)
            seen.append((made.name, made.device, made.op.control_inputs))

    with graph.as_default():
        first = tf.no_op(name="first")
        graph.switch_to_thread_local()
        graph.switch_to_thread_local()  # is so already
        with tf.name_scope("a"), tf.device("/cpu:0"), tf.control_dependencies([first]):
            here = tf.constant(1)
            thread = threading.Thread(target=draw)
            thread.start()
            thread.join()
    assert seen == [("Const:0", "", [])]
    assert (here.name, here.device, here.op.control_inputs) == ("a/Const:0", "/device:CPU:0", [first])
    assert isinstance(graph, tf.Graph)


def test_the_innermost_type_counts_where_variables_are_cast():
    assert read_dtype() is None
    with reading_as("float16"):
        assert read_dtype() == tf.float16
        with tf.Graph()._enable_auto_casting_variables(None):
            assert read_dtype() is None
        assert read_dtype() == tf.float16
    assert read_dtype() is None
