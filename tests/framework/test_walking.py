"""Walks over graphs that may be deeper than Python's calls."""

import sys

import pytest

from everflow.framework import walking


def order(graph, root="root"):
    return walking.inputs_first(root, lambda node: graph.get(node, ()))


def cyclic(graph, root="root"):
    return walking.has_cycle(root, lambda node: graph.get(node, ()))


def recursively(graph, node, seen=None):
    seen = seen if seen is not None else []
    for following in graph.get(node, ()):
        if following not in seen:
            recursively(graph, following, seen)
    seen.append(node)
    return seen


@pytest.mark.parametrize(
    "graph",
    [
        {},
        {"root": "ab", "a": "c", "b": "c"},
        {"root": "ba", "b": "a", "a": "dc", "c": "d"},
        {"root": "aab", "b": "a"},
    ],
)
def test_inputs_come_first_each_once_as_recursion_meets_them(graph):
    assert order(graph) == recursively(graph, "root")


def test_a_walk_ends_in_a_circle():
    assert sorted(order({"root": "a", "a": "b", "b": "a"})) == ["a", "b", "root"]


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        ({"root": "ab", "a": "c", "b": "c"}, False),
        ({"root": "a", "a": "b", "b": "a"}, True),
        ({"root": ["root"]}, True),
        ({"root": "a", "b": "b"}, False),  # a circle that nothing here leads to
    ],
)
def test_circles(graph, found):
    assert cyclic(graph) is found


def test_depth_does_not_matter():
    deep = 2 * sys.getrecursionlimit()
    inputs = lambda n: [n + 1] if n < deep else []  # noqa: E731
    assert walking.inputs_first(0, inputs) == list(range(deep, -1, -1))
    assert not walking.has_cycle(0, inputs) and walking.has_cycle(0, lambda n: [(n + 1) % deep])
