"""The table of kernels: what a function is told, and that no two kernels claim one op type."""

from types import SimpleNamespace

import pytest
import torch

from everflow.framework import op_defs
from everflow.kernels import registry
from everflow.kernels.facts import FRESH, Effect


@pytest.fixture
def own_table(monkeypatch):
    registry.names()
    monkeypatch.setattr(registry, "_kernels", dict(registry._kernels))
    monkeypatch.setattr(registry, "_specializers", {k: list(v) for k, v in registry._specializers.items()})


@pytest.mark.usefixtures("own_table")
def test_attributes_and_context_are_told_apart():
    @registry.fresh("MadeUp", effect=Effect.READS)
    def made_up(x, y=None, *, alpha, node, step, beta):
        return x

    entry = registry.lookup("MadeUp")
    assert entry.attribute_names == ("alpha", "beta") and entry.context_names == ("node", "step")
    assert entry.facts.result == FRESH and entry.facts.effect is Effect.READS and not entry.once
    assert registry.function_of("MadeUp") is made_up and "MadeUp" in registry.names()


@pytest.mark.usefixtures("own_table")
def test_an_op_type_has_one_kernel():
    with pytest.raises(ValueError, match="Op type 'MatMul' has a kernel already"):
        registry.kernel("MatMul")(lambda a, b: a)
    with pytest.raises(TypeError):
        registry.kernel("MadeUp", promises="anything")


@pytest.mark.usefixtures("own_table")
def test_the_first_answer_of_the_specializers_counts():
    asked = []
    registry.specialize("MadeUp")(lambda node: asked.append("first"))
    registry.specialize("MadeUp")(lambda node: torch.neg)
    registry.specialize("MadeUp")(lambda node: asked.append("third"))
    assert registry.specialized(SimpleNamespace(type="MadeUp")) is torch.neg and asked == ["first"]
    assert registry.specialized(SimpleNamespace(type="NoSuchOp")) is None


def test_functions_of_torch_are_told_nothing():
    assert registry.lookup("Exp").attribute_names == () == registry.lookup("Exp").context_names
    assert registry.lookup("NoSuchOp") is None
    with pytest.raises(KeyError):
        registry.function_of("NoSuchOp")


def test_attributes_that_kernels_name_are_in_the_definitions():
    for name in registry.names():
        definition = op_defs.find(name)
        if definition is not None:
            assert set(registry.lookup(name).attribute_names) <= set(definition.attr_by_name), name
