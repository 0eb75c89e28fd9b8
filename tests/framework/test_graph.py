"""Graphs: names, elements by name, and scopes that shape what is made inside them."""

import threading

import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def const(name=None):
    return tf.constant(1, name=name)


# --- names -------------------------------------------------------------------------------------


def test_names_are_numbered_until_they_are_free_whatever_their_case(graph):
    given = [graph.unique_name(n) for n in ("a", "A", "a", "a_1")]
    assert given == ["a", "A_1", "a_2", "a_1_1"]
    assert [graph.unique_name("a", mark_as_used=False), graph.unique_name("a")] == ["a_3", "a_3"]


def test_a_scope_is_numbered_unless_it_ends_in_a_slash():
    found = []
    for name in ("s", "s", "s/"):
        with tf.name_scope(name) as scope:
            found += [scope, const("x").op.name]
    assert found == ["s/", "s/x", "s_1/", "s_1/x", "s/", "s/x_1"]


def test_an_empty_scope_goes_back_to_the_root(graph):
    with graph.name_scope("outer"), graph.name_scope("") as scope:
        assert scope == "" and const("x").op.name == "x"
    with graph.name_scope(b"bytes") as scope:
        assert scope == "bytes/"


@pytest.mark.parametrize("name", ["_a", "a b", "a:b", "/a"])
def test_names_that_are_refused(graph, name):
    with pytest.raises(ValueError, match="not a valid node name"):
        const(name)
    with pytest.raises(ValueError, match="not a valid scope name"), graph.name_scope(name):
        pass
    assert graph.get_name_scope() == ""


@pytest.mark.parametrize("name", [".a", "a-b", "a/", "9"])
def test_names_that_are_not(name):
    assert const(name).op.name == name.rstrip("/")


def test_inside_of_a_scope_an_underscore_may_come_first(graph):
    with graph.name_scope("s"), graph.name_scope("_inner"):
        assert const("_x").op.name == "s/_inner/_x"


# --- elements ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "error"),
    [
        ("a:1", {}, KeyError),
        ("b", {}, KeyError),
        ("b:0", {}, KeyError),
        ("a:", {}, ValueError),
        ("a:x", {}, ValueError),
        ("a:0:0", {}, ValueError),
        (3, {}, TypeError),
        ("a", {"allow_operation": False}, ValueError),
        ("zz", {"allow_operation": False}, ValueError),
        ("a:0", {"allow_tensor": False}, ValueError),
        ("a", {"allow_tensor": False, "allow_operation": False}, ValueError),
    ],
)
def test_names_of_nothing(graph, name, options, error):
    const("a")
    with pytest.raises(error):
        graph.as_graph_element(name, **options)


def test_what_stands_for_an_element(graph):
    x, unique = const("a"), tf.unique([1], name="u")
    variable = tf.Variable(1.0, name="v")
    for given, found in [
        ("a", x.op),
        ("a:0", x),
        (b"a:0", x),
        ("u:1", unique[1]),
        (x, x),
        (variable, variable._variable),
    ]:
        assert graph.as_graph_element(given) is found
    assert graph.get_tensor_by_name("a:0") is x and graph.get_operation_by_name("a") is x.op
    for wrong in (graph.get_tensor_by_name, graph.get_operation_by_name):
        with pytest.raises(TypeError, match="int"):
            wrong(3)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="not an element of this graph"):
        tf.get_default_graph().as_graph_element(x)


def test_what_may_not_be_fed_or_fetched(graph):
    x, y = tf.placeholder(tf.int32), tf.placeholder(tf.int32)
    graph.prevent_feeding(x)
    graph.prevent_fetching(x.op)
    assert [graph.is_feedable(t) for t in (x, y)] == [False, True]
    assert [graph.is_fetchable(e) for e in (x, x.op, y, y.op)] == [False, False, True, True]


# --- making operations -------------------------------------------------------------------------


def test_a_finished_graph_takes_nothing(graph):
    const()
    graph.finalize()
    assert graph.finalized
    for change in (const, lambda: graph._add_function(None)):
        with pytest.raises(RuntimeError, match="finalized"):
            change()
    graph._unsafe_unfinalize()
    const()


def test_operations_made_without_a_build_function(graph):
    made = graph.create_op("AddV2", [const(), const()], name="z")
    assert made.name == "z" and [t.dtype for t in made.outputs] == [tf.int32]
    with pytest.raises(TypeError, match="Input #0 is not a tensor"):
        graph.create_op("AddV2", [1, 2])
    with pytest.raises(tf.errors.NotFoundError):
        graph.create_op("NoSuchOp", [])


def test_inputs_of_another_graph_are_refused(graph):
    with tf.Graph().as_default():
        other = const()
    with pytest.raises(ValueError, match="same graph"):
        graph.create_op("Neg", [other])
    assert graph.get_operations() == []


def test_a_refused_operation_leaves_nothing_but_its_place_among_the_seeds(graph):
    x = tf.ones([2, 3])
    operations, seed = graph.get_operations(), graph.next_op_seed()
    with pytest.raises(ValueError):
        graph.create_op("MatMul", [x, x])
    assert graph.get_operations() == operations and x.consumers() == []
    assert graph.next_op_seed() == seed + 1  # as TensorFlow counts


def test_graph_defs_have_what_was_asked_for(graph):
    const("a")
    version = graph.version
    tf.unique([1], name="u")
    later, now = graph._as_graph_def(from_version=version)
    assert [n.name for n in later.node] == ["u/x", "u"] and now == version + 2
    shaped = graph.as_graph_def(add_shapes=True)
    assert [len(n.attr["_output_shapes"].list.shape) for n in shaped.node][-1] == 2
    assert "_output_shapes" not in graph.as_graph_def().node[-1].attr
    assert graph.graph_def_versions.producer == shaped.versions.producer == 134


# --- scopes ------------------------------------------------------------------------------------


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
    with graph.gradient_override_map({"Neg": "Mine"}), graph._kernel_label_map_scope({"Neg": "label"}):
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
