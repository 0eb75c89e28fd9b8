"""What programs import from tensorflow.python.util."""

import math

import pytest

from everflow.platform import compat, deprecation, exports, inspection, lazy_loader


def test_deprecated_warns_once(caplog):
    @deprecation.deprecated("2020-01-01", "Use other.")
    def old(x):
        """It doubles."""
        return 2 * x

    assert [old(1), old(2)] == [2, 4]
    assert len(caplog.records) == 1
    assert "test_util_modules.py" in caplog.text and "after 2020-01-01" in caplog.text and "Use other." in caplog.text
    assert old.__name__ == "old" and old.__doc__.startswith("It doubles.")


def test_deprecated_arguments_and_values(caplog):
    @deprecation.deprecated_args(None, "Use y.", "x")
    def first(x=None, y=None):
        return y

    @deprecation.deprecated_arg_values(None, "No.", flag=True)
    def second(flag=False):
        return flag

    assert first(y=3) == 3 and second() is False and not caplog.records
    first(x=1)
    second(True)
    name = "test_deprecated_arguments_and_values.<locals>.{}"
    assert caplog.records[0].args[1:] == (name.format("first"), __name__, "x", "in a future version", "Use y.")
    assert caplog.records[1].args[1:5] == (name.format("second"), __name__, "flag", True)
    assert first.__doc__.startswith("DEPRECATED FUNCTION ARGUMENTS\n\nWarning: ")
    assert len(caplog.records) == 2


def test_silence(caplog):
    @deprecation.deprecated(None, "x", warn_once=False)
    def old():
        pass

    with deprecation.silence():
        old()
    assert not caplog.records
    old()
    old()
    assert len(caplog.records) == 2


def test_two_names_of_an_argument():
    assert deprecation.deprecated_argument_lookup("axis", None, "dim", 2) == 2
    with pytest.raises(ValueError):
        deprecation.deprecated_argument_lookup("axis", 1, "dim", 2)


def test_getargspec():
    assert inspection.getargspec(lambda a, b=1, *c, **d: 0) == (["a", "b"], "c", "d", (1,))


def test_lazy_loader():
    names = {}
    names["m"] = lazy_loader.LazyLoader("m", names, "math")
    assert names["m"].pi == math.pi and names["m"] is math


def test_tf_export():
    @exports.tf_export("a.b", v1=["a.c"])
    def f():
        return 1

    assert f() == 1 and f._tf_api_names == ("a.b",)


@pytest.mark.parametrize(
    "mark",
    [
        lambda: deprecation.deprecated("soon", "use b"),
        lambda: deprecation.deprecated("2030-01-01", ""),
        lambda: deprecation.deprecated_args("2030-01-01", "use b"),
        lambda: deprecation.deprecated_arg_values("2030-01-01", "use b"),
        lambda: deprecation.deprecated_args("2030-01-01", "use b", "c")(lambda a: a),
    ],
)
def test_a_deprecation_says_when_what_and_what_instead(mark):
    with pytest.raises(ValueError):
        mark()


def test_horizon_of_compatibility(monkeypatch):
    assert not compat.forward_compatible(2019, 8, 21) and compat.forward_compatible(2019, 8, 20)
    monkeypatch.setenv(compat._FORWARD_COMPATIBILITY_DELTA_DAYS_VAR_NAME, "1")
    compat._update_forward_compatibility_date_number()
    assert compat.forward_compatible(2019, 8, 21)
    monkeypatch.undo()
    compat._update_forward_compatibility_date_number()
    with compat.forward_compatibility_horizon(2018, 1, 1):
        assert not compat.forward_compatible(2018, 1, 1)
    assert compat.forward_compatible(2018, 1, 1)
