"""The table of lowerings."""

import pytest

from everflow.native import lowering
from everflow.native.values import apply, input_value

X = input_value(0, "f4", [3])


def test_a_lowering_is_found_by_its_op_type(monkeypatch):
    monkeypatch.setattr(lowering, "_lowerings", {})

    @lowering.lowers("Half", "Other", known=(1,))
    def half(x, sizes, *, rate, result_shape):
        return x * rate

    found = lowering.find("Half")
    assert found.known == (1,) and found.attribute_names == ("rate", "result_shape")
    assert found.function(X, None, rate=0.5, result_shape=(3,)) is X * 0.5
    assert lowering.op_types() == ["Half", "Other"]
    with pytest.raises(ValueError, match="Half"):
        lowering.lowers("Half")(half)


def test_functions_by_themselves_are_a_table(monkeypatch):
    monkeypatch.setattr(lowering, "_lowerings", {})
    lowering.lower_maps({"Tanh": "tanh", "Add": "add"})
    assert lowering.find("Tanh").function(X) is apply("tanh", X)
    assert lowering.find("Add").function(X, X) is X + X
    assert lowering.find("Sub") is None
