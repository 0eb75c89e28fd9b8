"""The named lists of a graph."""

import pytest

import everflow as tf


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
