"""Parameters that functions share, and objects that keep their arguments."""

import inspect

import pytest

from everflow.contrib.framework.kept_arguments import keep
from everflow.contrib.framework.shared_parameters import inserted, parameters_of, taking

TABLE = {"rate": 1, "scope": None}


@taking(TABLE)
def layer(inputs, units=2, *, last=0, **given):
    """A layer."""
    return inputs, units, last, given


def test_a_function_shows_and_takes_what_the_table_has():
    assert str(inspect.signature(layer)) == "(inputs, units=2, rate=1, scope=None, last=0)"
    assert layer("x") == ("x", 2, 0, {"rate": 1, "scope": None})
    assert layer("x", 3, 5, "here", 7) == ("x", 3, 7, {"rate": 5, "scope": "here"})
    assert layer(inputs="x", scope="here", last=1) == ("x", 2, 1, {"rate": 1, "scope": "here"})
    assert (layer.__name__, layer.__doc__) == ("layer", "A layer.")


@pytest.mark.parametrize("arguments", [{}, {"inputs": 1, "other": 2}])
def test_what_the_signature_lacks_is_an_error(arguments):
    with pytest.raises(TypeError):
        layer(**arguments)


def test_tables_come_from_functions_and_grow():
    assert parameters_of(layer, ["units"], scope="there") == {"rate": 1, "scope": "there", "last": 0}
    assert list(inserted(TABLE, rate={"size": 3})) == ["rate", "size", "scope"]
    own = taking(layer)(lambda inputs, rate=4, **given: given)
    assert str(inspect.signature(own)) == "(inputs, rate=4, units=2, scope=None, last=0)"


def test_objects_keep_their_arguments():
    class Cell:
        def __init__(self, units, bias=True, other=None, name=None):
            keep(self, locals(), "other")

    assert vars(Cell(3)) == {"_units": 3, "_bias": True}
