"""Functions that leave what they refuse to the forms of operators."""

import pytest

from everflow.ops.array import operator_forms


class Stand:
    pass


def test_a_form_answers_for_what_is_refused(monkeypatch):
    monkeypatch.setattr(operator_forms, "_kinds", ())
    monkeypatch.setattr(operator_forms, "_forms", {})

    @operator_forms.takes_operators
    def doubled(x, times=2):
        if not isinstance(x, int):
            raise TypeError("a number is wanted")
        return x * times

    operator_forms.register_operator_forms(Stand, {"doubled": lambda x, times=2: ("stands", times)})
    assert doubled(3) == 6 and doubled(Stand()) == ("stands", 2) and doubled(x=Stand(), times=5) == ("stands", 5)
    with pytest.raises(TypeError, match="number"):
        doubled("neither")
