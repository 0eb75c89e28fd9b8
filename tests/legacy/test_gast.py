"""`import gast` where none is installed: trees in the form of its release 0.2."""

from __future__ import annotations

import copy

import pytest

from everflow.legacy import gast
from everflow.legacy.companions import PATHS


def test_programs_import_it_by_its_name():
    assert PATHS["gast"] == gast.__name__


def test_constants_and_parameters_have_nodes_of_their_own():
    function = gast.parse("def f(a, *b):\n    return a[1], 'x', None, b'y'").body[0]
    assert [type(given).__name__ for given in (*function.args.args, function.args.vararg)] == ["Name", "Name"]
    subscript, *others = function.body[0].value.elts
    assert isinstance(subscript.slice, gast.Index) and subscript.slice.value.n == 1
    assert [type(node).__name__ for node in others] == ["Str", "NameConstant", "Bytes"]


def test_nodes_are_made_with_all_fields_or_none():
    assert gast.dump(gast.Name("a", gast.Load(), None)) == "Name(id='a', ctx=Load(), annotation=None)"
    with pytest.raises(AssertionError):
        gast.Name("a")
    with pytest.raises(AssertionError):
        gast.Num(m=1)


def test_trees_are_copied_and_carried_to_pythons_own():
    tree = gast.parse("x = [1, {'a': (2.5, ...)}]")
    again = copy.deepcopy(tree)
    assert gast.dump(again) == gast.dump(tree)
    assert gast.literal_eval(gast.parse("[1, {'a': 2}]", mode="eval").body) == [1, {"a": 2}]
    exec(compile(gast.gast_to_ast(gast.fix_missing_locations(again)), "<tree>", "exec"), names := {})
    assert names["x"] == [1, {"a": (2.5, ...)}]
