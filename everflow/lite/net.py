"""A model while it is being converted: arrays by name, and the operators between them in the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Array:
    """A tensor of the model: `range` is (min, max) of its reals; `scale` and `zero` are set once quantized."""

    name: str
    dtype: np.dtype
    shape: tuple[int, ...] | None
    value: np.ndarray | None = None
    range: tuple[float, float] | None = None
    scale: np.ndarray | None = None
    zero: np.ndarray | None = None
    axis: int = 0
    narrow: bool = False
    is_variable: bool = False
    wish: str | None = None  # a name it takes if nothing else needs that


@dataclass
class Node:
    """An operator, built in or custom. Options that stay None aren't written; inputs that are None aren't there."""

    op: str
    inputs: list
    outputs: list
    options: dict | None = None
    custom: bytes | None = None  # what a custom op is told, where this is one
    is_custom: bool = False

    @property
    def output(self) -> str:
        return self.outputs[0]


@dataclass
class Net:
    """All of a model."""

    inputs: list = field(default_factory=list)
    outputs: list = field(default_factory=list)
    arrays: dict = field(default_factory=dict)
    nodes: list = field(default_factory=list)
    _found: tuple | None = None

    def add(self, op, inputs, outputs, options=None) -> Node:
        node = Node(op, list(inputs), list(outputs), options)
        self.nodes.append(node)
        self.changed()
        return node

    def remove(self, node) -> None:
        self.nodes = [other for other in self.nodes if other is not node]
        self.changed()

    def array(self, name, dtype, shape) -> str:
        """Make an array, under its name."""
        self.arrays[name] = Array(name, np.dtype(dtype), None if shape is None else tuple(shape))
        return name

    def constant(self, name, value) -> str:
        """Make an array that has a value, under this name or one like it that is free."""
        name = self.free_name(name)
        value = np.asarray(value)
        self.arrays[name] = Array(name, value.dtype, value.shape, value)
        return name

    def free_name(self, name) -> str:
        if name not in self.arrays:
            return name
        return next(f"{name}_{i}" for i in range(len(self.arrays) + 1) if f"{name}_{i}" not in self.arrays)

    def value(self, name):
        """The value of a constant, None of others."""
        return None if name is None else self.arrays[name].value

    def shape(self, name):
        return self.arrays[name].shape

    def producer(self, name) -> Node | None:
        return self._links()[0].get(name)

    def consumers(self, name) -> list:
        """The operators that take an array, each as often as it does."""
        return self._links()[1].get(name, [])

    def used_once(self, name) -> bool:
        """Whether one operator alone needs an array."""
        return name not in self.outputs and len(self.consumers(name)) == 1

    def changed(self) -> None:
        """To be called after operators were changed."""
        self._found = None

    def _links(self):
        if self._found is None:
            makers = {name: node for node in self.nodes for name in node.outputs}
            takers: dict = {}
            for node in self.nodes:
                for name in node.inputs:
                    takers.setdefault(name, []).append(node)
            self._found = makers, takers
        return self._found

    def replace_uses(self, old, new) -> None:
        for node in self.nodes:
            node.inputs = [new if name == old else name for name in node.inputs]
        self.changed()
        self.outputs = [new if name == old else name for name in self.outputs]

    def rename(self, old, new) -> None:
        """Give an array another name, in the place of an array that may have it."""
        array = self.arrays.pop(old)
        array.name = new
        self.arrays[new] = array
        self.replace_uses(old, new)
        for node in self.nodes:
            node.outputs = [new if name == old else name for name in node.outputs]
        self.changed()

    def settle_names(self) -> None:
        """Let arrays have the names they wish for."""
        for name, array in list(self.arrays.items()):
            if array.wish is not None and array.wish not in self.arrays:
                self.rename(name, array.wish)

    def prune(self) -> None:
        """Forget operators and arrays that no output needs."""
        needed, kept, waiting = set(self.inputs), set(), list(self.outputs)
        while waiting:
            name = waiting.pop()
            if name in needed and name not in self.inputs:
                continue
            needed.add(name)
            node = self.producer(name)
            if node is not None and id(node) not in kept:
                kept.add(id(node))
                needed.update(node.outputs)
                waiting.extend(n for n in node.inputs if n is not None and n not in needed)
        self.nodes = [node for node in self.nodes if id(node) in kept]
        self.changed()
        self.arrays = {name: array for name, array in self.arrays.items() if name in needed}
