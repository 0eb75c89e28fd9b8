"""The named lists of a graph. Their names are part of files: they are TensorFlow's."""

import pytest

import everflow as tf
from everflow.framework.graph_keys import GraphKeys

pytestmark = pytest.mark.usefixtures("own_graph")


def test_no_two_keys_share_a_name_but_for_the_deprecated_one():
    named = {key: value for key, value in vars(GraphKeys).items() if isinstance(value, str) and key.isupper()}
    assert named.pop("VARIABLES") == named["GLOBAL_VARIABLES"]
    public = {key: value for key, value in named.items() if not key.startswith("_")}
    assert len(set(public.values())) == len(public)


@pytest.mark.parametrize(
    ("key", "name", "fill"),
    [
        ("GLOBAL_VARIABLES", "variables", lambda: tf.Variable(1.0)),
        ("TRAINABLE_VARIABLES", "trainable_variables", lambda: tf.Variable(1.0)),
        ("LOCAL_VARIABLES", "local_variables", lambda: tf.contrib.framework.local_variable(1.0)),
        ("TABLE_INITIALIZERS", "table_initializer", lambda: tf.contrib.lookup.index_table_from_tensor(["a"])),
        ("LOSSES", "losses", lambda: tf.losses.mean_squared_error([1.0], [2.0])),
        ("SUMMARIES", "summaries", lambda: tf.summary.scalar("s", 1.0)),
        ("GLOBAL_STEP", "global_step", tf.train.create_global_step),
        ("QUEUE_RUNNERS", "queue_runners", lambda: tf.train.string_input_producer(["a"])),
        ("SAVERS", "savers", lambda: tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver([tf.Variable(1.0)]))),
    ],
)
def test_what_the_library_makes_is_found_under_its_key(key, name, fill):
    fill()
    assert getattr(tf.GraphKeys, key) == name and len(tf.get_collection(name)) == 1


def test_keys_of_variables_are_keys():
    assert set(GraphKeys._VARIABLE_COLLECTIONS) <= {v for v in vars(GraphKeys).values() if isinstance(v, str)}


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_name_or_several_each_once(graph):
    graph.add_to_collections(["a", "b", "a"], 1)
    graph.add_to_collections("ab", 2)
    assert [graph.get_collection(name) for name in ("a", "b", "ab", "none")] == [[1], [1], [2], []]


def test_names_are_those_that_are_text(graph):
    for name in ("a", "__mine", ("a", "tuple")):
        graph.add_to_collection(name, 1)
    assert graph.get_all_collection_keys() == ["a", "__mine"]
    assert graph.collections == ["a", "__mine", ("a", "tuple")]
    assert "none" not in graph.collections


def test_a_copy_and_the_list_itself(graph):
    graph.get_collection_ref("a").append(3)
    graph.get_collection("a").append(4)
    assert graph.get_collection("a") == [3]
    graph.clear_collection("a")
    graph.clear_collection("never there")
    assert graph.get_collection("a") == []


def test_a_scope_matches_names_at_their_start(graph):
    with tf.name_scope("n"):
        inside = tf.constant(1, name="ab")
    outside = tf.constant(1, name="abn")
    for item in (inside, outside, "has no name"):
        graph.add_to_collection("all", item)
    assert graph.get_collection("all", "n") == [inside]
    assert graph.get_collection("all", ".*n") == [inside, outside]
    assert graph.get_collection("all", "") == [inside, outside]


def test_nothing_joins_a_graph_that_is_finished(graph):
    graph.add_to_collection("a", 1)
    graph.finalize()
    for change in (
        lambda: graph.add_to_collection("a", 2),
        lambda: graph.add_to_collections(["b"], 2),
        lambda: graph.clear_collection("a"),
    ):
        with pytest.raises(RuntimeError, match="finalized"):
            change()
    assert graph.get_collection("a") == [1]
