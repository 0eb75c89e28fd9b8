"""Graphs: names, and elements by name."""

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
