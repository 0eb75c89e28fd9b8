"""Which names TensorFlow 1.15 has, so that a missing feature is told apart from a misspelt name."""

import types

import pytest

from everflow.framework import api_names


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("nn.relu", True),
        ("nn", True),
        ("nn.rely", False),
        ("relu6", False),
        ("relu", False),
        ("contrib.anything.at_all", True),  # what contrib has was never public
        ("", False),
    ],
)
def test_names_are_told_apart(name, known):
    assert api_names.in_tensorflow(name) is known


def test_a_name_is_found_by_its_last_part_and_the_shortest_comes_first():
    found = api_names.ending_in("relu")
    assert found[0] == "nn.relu" and "keras.backend.relu" in found
    assert [name.count(".") for name in found] == sorted(name.count(".") for name in found)
    assert api_names.ending_in("rely") == []


def test_a_path_is_followed_as_far_as_it_goes():
    root = types.SimpleNamespace(a=types.SimpleNamespace(b=3))
    assert api_names.resolve(root, "a.b") == 3
    assert api_names.resolve(root, "a.c.d") is None
