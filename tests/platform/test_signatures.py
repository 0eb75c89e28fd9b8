"""Parameters as data: functions that show and take what a table, a text or another function says."""

import functools
import inspect

import pytest

import everflow as tf
from everflow.platform import inspection
from everflow.platform.signatures import (
    REQUIRED,
    constructor,
    inserted,
    options_of,
    parameters_of,
    standing_for,
    takes,
    taking,
)

TABLE = {"rate": 1, "scope": None}


@takes(TABLE)
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
    assert options_of(layer, ["units"], scope="there") == {"rate": 1, "scope": "there", "last": 0}
    assert list(inserted(TABLE, rate={"size": 3})) == ["rate", "size", "scope"]
    own = takes(layer)(lambda inputs, rate=4, **given: given)
    assert str(inspect.signature(own)) == "(inputs, rate=4, units=2, scope=None, last=0)"


def test_parameters_by_position_and_by_name():
    def body(first, **named):
        return first, named

    function = taking({"a": REQUIRED, "b": 2, "**kwargs": REQUIRED}, body, "first")
    assert function("x", 1, c=3) == ("x", {"a": 1, "b": 2, "c": 3})
    assert str(inspect.signature(function)) == "(first, a, b=2, **kwargs)"
    with pytest.raises(TypeError, match="'a'"):
        function("x")
    with pytest.raises(TypeError, match="d"):
        taking({"a": 1}, body, "first")("x", d=4)


def test_another_constructor_with_changes():
    class Base:
        def __init__(self, size, kind="plain", *, colour=None):
            self.all = size, kind, colour

    class Derived(Base):
        __init__ = constructor(parameters_of(Base.__init__, without=("colour",), kind="derived"), Base.__init__)

    assert Derived(3).all == (3, "derived", None)
    assert Derived(3, "other").all == (3, "other", None)
    with pytest.raises(TypeError):
        Derived(3, colour="red")


def test_a_listed_parameter_stands_where_the_list_has_it():
    class Saver:
        @takes("path, step=None, **kwargs")
        def save(self, step, **given):
            return step, given

    assert str(inspect.signature(Saver.save)) == "(self, path, step=None, **kwargs)"
    assert Saver().save("here", 3, more=1) == (3, {"path": "here", "more": 1})


def test_wrappers_show_what_they_stand_for():
    def function(a, b=2):
        """Documented."""

    @standing_for(function)
    def wrapper(*args, **kwargs):
        return args, kwargs

    assert inspect.getfullargspec(wrapper).args == ["a", "b"] and wrapper.__doc__ == "Documented."
    assert wrapper(1) == ((1,), {})


@pytest.mark.parametrize(
    "name, taken",
    [
        ("rank", "input name"),
        ("one_hot", "indices depth on_value off_value axis dtype name"),
        ("identity", "input name"),
        ("nn.swish", "features"),
        ("train.cosine_decay", "learning_rate global_step decay_steps alpha name"),
        ("op_scope", "values name default_name"),
    ],
)
def test_ops_show_their_arguments(name, taken):
    function = functools.reduce(getattr, name.split("."), tf)
    assert list(inspect.signature(function).parameters) == taken.split()
    assert inspection.getfullargspec(function).args == taken.split()
