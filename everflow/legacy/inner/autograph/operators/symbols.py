"""tensorflow.python.autograph.operators.symbols: parts of an expression that can be computed, or stand for no value."""

from __future__ import annotations

from typing import Any

from everflow.legacy.inner.autograph.operators.special_values import Undefined, is_undefined


class Symbol:
    """Something with a name. What `maybe_compute_value` gives is its value, or an `Undefined` of that name."""

    def __init__(self, name: str) -> None:
        self.name = name


class ValueSymbol(Symbol):
    """A name and its value."""

    def __init__(self, name: str, value: Any) -> None:
        super().__init__(name)
        self.value = value

    def maybe_compute_value(self) -> Any:
        return self.value


class AttributeAccessSymbol(Symbol):
    """`parent.attribute`"""

    def __init__(self, parent_symbol: Symbol, attr_name: str) -> None:
        super().__init__(f"{parent_symbol.name}.{attr_name}")
        self.attr_name, self.parent_symbol = attr_name, parent_symbol

    def maybe_compute_value(self) -> Any:
        parent = self.parent_symbol.maybe_compute_value()
        return Undefined(self.name) if is_undefined(parent) else getattr(parent, self.attr_name, Undefined(self.name))


class SubscriptSymbol(Symbol):
    """`parent[index]`"""

    def __init__(self, parent_symbol: Symbol, index_symbol: Symbol) -> None:
        super().__init__(f"{parent_symbol.name}[{index_symbol.name}]")
        self.index_symbol, self.parent_symbol = index_symbol, parent_symbol

    def maybe_compute_value(self) -> Any:
        parent, index = self.parent_symbol.maybe_compute_value(), self.index_symbol.maybe_compute_value()
        if is_undefined(parent) or is_undefined(index):
            return Undefined(self.name)
        try:
            return parent[index]
        except (IndexError, KeyError, TypeError):
            return Undefined(self.name)
