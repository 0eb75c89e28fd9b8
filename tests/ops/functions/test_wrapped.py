"""Functions written for graphs, wrapped: their variables, their arguments, and parts of them."""

import pytest

import everflow as tf
from everflow.ops.functions.initial_values import UnliftableError
from everflow.ops.functions.wrapped import WrappedGraph

pytestmark = pytest.mark.usefixtures("own_graph")
SCALAR = tf.TensorSpec([], tf.float32)


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_variables_are_made_once_and_kept():
    made = []

    def scaled(x):
        made.append(1)
        return x * tf.get_variable("v", initializer=2.0)

    wrapped = tf.wrap_function(scaled, [SCALAR])
    assert run([wrapped(3.0), wrapped(tf.constant(4.0))]) == [6.0, 8.0]
    assert made == [1] and [v.name for v in wrapped.graph.get_collection("variables")] == ["v:0"]
    assert [v.name for v in wrapped.graph.get_collection("trainable_variables")] == ["v:0"]


def test_a_graph_of_its_own_has_no_variables_yet():
    tf.get_variable("outer", [])
    seen = []
    tf.wrap_function(lambda: seen.extend(tf.global_variables()), [])
    assert seen == []


def test_structures_of_arguments_and_results():
    wrapped = tf.wrap_function(
        lambda pair, n: {"sum": pair["a"] + pair["b"], "n": (n,)}, [{"a": SCALAR, "b": SCALAR}, SCALAR]
    )
    found = run(wrapped(*map(tf.constant, (1.0, 2.0, 5.0))))
    assert found == {"sum": 3.0, "n": (5.0,)}


@pytest.mark.parametrize(("feeds", "fetches", "arguments", "expected"), [
    ("a:0", "c:0", [2.0], 7.0),
    (["a:0"], {"b": "b:0", "c": "c:0"}, [1.0], {"b": 3.0, "c": 4.0}),
    ("b:0", "c:0", [10.0], 11.0),
    (["a:0", "b:0"], "c:0", [0.0, 5.0], 6.0),
])  # fmt: skip
def test_parts_between_tensors(feeds, fetches, arguments, expected):
    def drawn():
        a = tf.placeholder(tf.float32, [], "a")
        b = tf.multiply(a, 3.0, name="b")
        tf.add(b, 1.0, name="c")

    part = tf.wrap_function(drawn, []).prune(feeds, fetches)
    assert run(part(*map(tf.constant, arguments))) == expected


def test_parts_keep_the_variables_they_read():
    wrapped = tf.wrap_function(lambda x: tf.identity(x * tf.get_variable("v", initializer=5.0), "out"), [SCALAR])
    part = wrapped.prune(wrapped.inputs[0], "out:0")
    assert run(part(tf.constant(2.0))) == 10.0


def test_what_is_refused():
    wrapped = tf.wrap_function(lambda: tf.placeholder(tf.float32, [], "a") + 1.0, [])
    with pytest.raises(UnliftableError):
        wrapped.prune([], wrapped.outputs[0].name)
    with pytest.raises((KeyError, ValueError)):
        wrapped.prune("a:0", "nowhere:0")
    with pytest.raises(ValueError):
        wrapped.prune("a", "a:0")
    with pytest.raises(NotImplementedError):
        tf.wrap_function(lambda x: x, [SCALAR])(x=1.0)
    with pytest.raises(TypeError):
        tf.wrap_function(lambda x: x, [3])


def test_functions_of_one_graph_share_its_variables():
    graph = WrappedGraph()
    scaled = graph.wrap_function(lambda x: x * tf.get_variable("v", initializer=2.0), [SCALAR], name="scaled")

    def added(x):
        with tf.variable_scope(tf.get_variable_scope(), reuse=True):
            return x + tf.get_variable("v")

    assert run([scaled(3.0), graph.wrap_function(added, [SCALAR])(3.0)]) == [6.0, 5.0]
    assert list(graph.variables) == ["v"] and list(graph.functions) == ["scaled", "added"]
