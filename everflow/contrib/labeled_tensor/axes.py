"""Axes: the dimensions of labeled tensors, with names, and labels for their entries where they have some."""

from __future__ import annotations

import collections
import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from everflow.framework.shapes import Dimension

_scopes = threading.local()


class AxisOrderError(ValueError):
    """Axes that are in another order than is asked for, or have none that fits."""


class Axis:
    """A name, and a size or labels: `Axis("x", 3)`, `Axis("channel", ["red", "green"])`."""

    def __init__(self, name: str, value: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"The name of an axis is a string, not {name!r}")
        self._name = name
        self._labels: tuple | None = None
        if isinstance(value, (np.ndarray, range, list, tuple)):
            self._labels = tuple(value.tolist() if isinstance(value, np.ndarray) else value)
            if len(set(self._labels)) < len(self._labels):
                raise ValueError(f"The labels of an axis differ from each other; {name!r} was given {self._labels}")
            self._value: Any = self._labels
        else:
            self._value = value if isinstance(value, Dimension) else Dimension(value)

    name = property(lambda self: self._name)
    value = property(lambda self: self._value, doc="The labels, or the size as a Dimension.")
    labels = property(lambda self: self._labels, doc="The labels of its entries, or None.")

    @property
    def dimension(self) -> Dimension:
        """The size, as a Dimension."""
        return self._value if self._labels is None else Dimension(len(self._labels))

    @property
    def size(self) -> int | None:
        """The size; None where it is not known."""
        return self.dimension.value

    def index(self, value: Any) -> int:
        """The position of a label."""
        if self._labels is None:
            raise ValueError(f"Axis {self._name!r} has no labels")
        positions = {label: position for position, label in enumerate(self._labels)}
        return positions[value]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Axis):
            return False
        if self.size is None and other.size is None:
            return self._name == other._name and self._labels == other._labels
        same = self._name == other._name and self._labels == other._labels and self.size == other.size
        return same

    def __hash__(self) -> int:
        return hash((self._name, self.size, self._labels))

    def __len__(self) -> int:
        if self.size is None:
            raise ValueError(f"The size of axis {self._name!r} is not known")
        return self.size

    def __repr__(self) -> str:
        return f"Axis({self._name!r}, {self._value!r})"


def as_axis(axis_data: Any) -> Axis:
    """An axis from itself, or from a name with a size or labels."""
    if isinstance(axis_data, Axis):
        return axis_data
    if isinstance(axis_data, tuple) and len(axis_data) == 2:
        return Axis(*axis_data)
    raise TypeError(f"An axis is an Axis or (name, size or labels), not {axis_data!r}")


def concat_axes(axes: Sequence[Any]) -> Axis:
    """Axes of one name, one behind the other: with labels where all have them, of unknown size where any is."""
    parts = [as_axis(axis) for axis in axes]
    names = {part.name for part in parts}
    if len(names) != 1:
        raise ValueError(f"Axes are joined that have one name, not {sorted(names)}")
    labels, sizes = [part.labels for part in parts], [part.size for part in parts]
    if all(each is not None for each in labels):
        return Axis(parts[0].name, [label for each in labels for label in each])
    return Axis(parts[0].name, None if None in sizes else sum(sizes))


class Axes(Mapping):
    """The axes of a tensor by name, in the order of its dimensions."""

    def __init__(self, axes: Iterable[Any]) -> None:
        self._axes: collections.OrderedDict[str, Axis] = collections.OrderedDict()
        for axis in map(as_axis, axes):
            if axis.name in self._axes:
                raise ValueError(f"Two axes have the name {axis.name!r}")
            self._axes[axis.name] = axis

    def __iter__(self) -> Iterator[str]:
        return iter(self._axes)

    def __getitem__(self, name: str) -> Axis:
        return self._axes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._axes

    def __len__(self) -> int:
        return len(self._axes)

    def remove(self, axis_name: str) -> Axes:
        """The axes but one."""
        if axis_name not in self:
            raise KeyError(axis_name)
        return Axes(axis for axis in self.values() if axis.name != axis_name)

    def __repr__(self) -> str:
        lines = ",\n      ".join(f"({axis.name!r}, {axis.value!r})" for axis in self.values())
        return f"Axes([{lines}])"


# --- orders ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def axis_order_scope(axis_order: Sequence[str] | None = None) -> Iterator[None]:
    """A context in which the axes of results are in this order, those of them that there are."""
    before = current_order()
    _scopes.order = axis_order
    try:
        yield
    finally:
        _scopes.order = before


def current_order() -> Sequence[str] | None:
    """The order that the scope around asks for, or None."""
    return getattr(_scopes, "order", None)


get_axis_order = current_order


def wanted_order(axis_order: Sequence[str] | None) -> Sequence[str]:
    """An order that is given, or that of the scope around; AxisOrderError where there is neither."""
    order = current_order() if axis_order is None else axis_order
    if order is None:
        raise AxisOrderError("No order of axes is given: pass `axis_order`, or use an axis_order_scope")
    return order


def merged_order(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """An order of the names of both that keeps the order of each."""
    merged: list[str] = []
    i = j = 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            merged.append(one[i])
            i, j = i + 1, j + 1
        elif one[i] not in other:
            merged.append(one[i])
            i += 1
        elif other[j] not in one:
            merged.append(other[j])
            j += 1
        else:
            raise AxisOrderError(f"No order of axes keeps both {list(one)} and {list(other)}: transpose one of them")
    return [*merged, *one[i:], *other[j:]]
