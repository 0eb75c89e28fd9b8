"""How a dataset was made: the op, what went into it, and the names under which TensorFlow's iterators know it.

Whoever rewrites a pipeline reads this, and makes datasets anew from what it changed (`rewrites.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from everflow.protos.attr_value_pb2 import NameAttrList

if TYPE_CHECKING:
    from everflow.kernels.context import Node
    from everflow.kernels.data.datasets import Dataset

# By op type, what makes a dataset: `make(*inputs, **attributes)`.
MAKERS: dict[str, Callable[..., Any]] = {}
# Datasets over several others, which say whose turn it is: Zip[0].
_NUMBERED = frozenset(("ZipDataset", "ConcatenateDataset", "DirectedInterleaveDataset", "ChooseFastestDataset"))


class Origin(NamedTuple):
    """An op and what it was called with; attributes are those that its kernel asks for, its session among them."""

    op_type: str
    make: Callable[..., Any]
    inputs: tuple[Any, ...]
    attributes: Mapping[str, Any]
    node: Node | None = None  # the op in its graph, where it is one
    name: str = ""  # in statistics, where it is not the op's own
    names: tuple[str, ...] | None = None  # where one dataset does what several did, theirs, the first one first

    def values(self) -> Iterator[Any]:
        """What went in, one by one."""
        for value in self.inputs:
            yield from value if isinstance(value, list) else (value,)

    def functions(self) -> list[Any]:
        """The functions of the session's graph among its attributes."""
        session = self.attributes.get("session")
        if session is None:
            return []
        named = (value if isinstance(value, list) else [value] for value in self.attributes.values())
        called = (value.name for values in named for value in values if isinstance(value, NameAttrList))
        return [session.graph._functions.get(name) for name in called]

    def datasets(self) -> Iterator[Dataset]:
        """The datasets among them; also those that a function captured."""
        return (value for value in self.values() if hasattr(value, "origin"))

    def sources(self) -> Iterator[Dataset]:
        """The datasets that it is made of itself."""
        lists = self.op_type in _NUMBERED
        for value in self.inputs:
            if hasattr(value, "origin"):
                yield value
            elif lists and isinstance(value, list):
                yield from value

    def made_of(self, changed: Callable[[Dataset], Dataset]) -> Any:
        """The same of other datasets."""

        def replaced(value: Any) -> Any:
            if isinstance(value, list):
                return [replaced(part) for part in value]
            return changed(value) if hasattr(value, "origin") else value

        own = {} if self.node is None else {"node": self.node}
        made = self.make(*map(replaced, self.inputs), **{**self.attributes, **own})
        if made.origin is not None and made.origin.op_type == self.op_type:
            made.origin = made.origin._replace(name=self.name)
        return made

    def names_for(self, part: Dataset) -> Sequence[str]:
        """What an iterator over one of the datasets that went in is below, the nearest first."""
        if self.names is not None:
            return self.names
        name = _KINDS[self.op_type](self) if self.op_type in _KINDS else self.plain_name
        if self.op_type in _NUMBERED:
            siblings = self.inputs[-1] if isinstance(self.inputs[-1], list) else self.inputs
            name += f"[{next((i for i, d in enumerate(siblings) if d is part), 0)}]"
        return (name,)

    @property
    def told_name(self) -> str:
        """What statistics call it."""
        return self.name or (self.node.name if self.node is not None else self.op_type)

    @property
    def plain_name(self) -> str:
        return self.op_type.replace("Dataset", "")

    def attribute(self, *names: str) -> Any:
        """An attribute of the op, under the first of some names that it has; None where it has none of them."""
        attrs = self.node.attrs if self.node is not None else {}
        return next((attrs[name] for name in names if name in attrs), None)

    def number(self, at: int) -> int:
        """An input that is a number."""
        return int(self.inputs[at])


def _by_count(kind: str) -> Callable[[Origin], str]:
    """Names tell whether a count leaves nothing, something or, for a repetition, everything for ever."""
    nothing = {"Take": 0, "Repeat": 0, "Skip": -1}[kind]

    def name(origin: Origin) -> str:
        count = origin.number(1)
        if count == nothing:
            return f"Empty{kind}"
        return "ForeverRepeat" if kind == "Repeat" and count < 0 else f"Finite{kind}"

    return name


_KINDS: dict[str, Callable[[Origin], str]] = {
    **{f"{kind}Dataset": _by_count(kind) for kind in ("Take", "Repeat", "Skip")},
    "CacheDataset": lambda origin: "FileCacheImpl" if origin.inputs[1].item() else "MemoryCacheImpl",
}
