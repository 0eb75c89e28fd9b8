"""What a kernel may ask for besides its inputs and attributes: its `node`, the `session`'s state, the `step` it runs
in.

The classes are the runtime's and eager execution's; here is what kernels rely on of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.graph import Graph
    from everflow.framework.shapes import TensorShape
    from everflow.kernels.tensors import Value
    from everflow.protos.attr_value_pb2 import NameAttrList

_T = TypeVar("_T")


class Node(Protocol):
    """The op that is computed, as far as it is known when a plan is made."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def device(self) -> str: ...

    @property
    def attrs(self) -> Mapping[str, Any]:
        """Attributes in the form kernels get them."""
        ...

    @property
    def inputs(self) -> Sequence[tuple[Node, int]]:
        """The node behind each input, and which of its outputs it is."""
        ...

    @property
    def input_dtypes(self) -> Sequence[DType]: ...

    @property
    def output_dtypes(self) -> Sequence[DType]: ...

    @property
    def output_shapes(self) -> Sequence[TensorShape | None]: ...

    def attribute(self, name: str) -> Any:
        """An attribute's value, or the definition's default where a file left it out."""
        ...

    def constant_input(self, position: int) -> Value | None:
        """The value of an input that is known when planning."""
        ...


class Resources(Protocol):
    """Objects that live longer than a run, by container, kind and name."""

    def lookup_or_create(self, container: str, kind: str, name: str, factory: Callable[[], _T]) -> _T: ...

    def lookup(self, container: str, kind: str, name: str) -> Any: ...

    def delete(self, container: str, kind: str, name: str) -> bool: ...

    def remove(self, value: object) -> bool: ...


class RandomStreams(Protocol):
    """The generators of random ops, one for each node."""

    def stream(self, node_name: str, factory: Callable[[], _T]) -> _T: ...


class Functions(Protocol):
    """The functions of a graph in forms of their own."""

    def for_many(
        self, name: str, captured: int, lists: tuple[bool, ...] = ()
    ) -> tuple[Callable[..., list[Value]], tuple[bool, ...]] | None:
        """A function that takes many elements at once, but of its last inputs one value, and which of its results are
        lists; None where there is none. `lists`: which of its inputs are. A list is two values, see `Lists`.
        """
        ...

    def apart(
        self, name: str, captured: int = 0
    ) -> tuple[Callable[..., list[Value]], Callable[..., list[Value]]] | None:
        """A function as two: the first draws the random numbers that the second takes after its inputs but the last
        ones.
        """
        ...

    def for_so_many(
        self, name: str, captured: int, count: int
    ) -> tuple[Callable[..., list[Value]], Callable[..., list[Value]]] | None:
        """A function for `count` elements at once, images among them, and for one. Both take random numbers, if it
        draws any, after their inputs but the last ones. None where there is no such form of it.
        """
        ...

    def drawing(self, name: str) -> Callable[..., list[Value]] | None:
        """What draws a function's random numbers for several calls at once."""
        ...

    def seeded(self, name: str, captured: int = 0) -> Callable[..., list[Value]]:
        """A function that draws uniform numbers once, taking what to draw from after its inputs but the last ones."""
        ...


class Session(Protocol):
    """What stays between the runs of a session."""

    graph: Graph
    private: dict[tuple[str, str], Any]
    derivatives: dict[str, Any]

    @property
    def resources(self) -> Resources: ...

    @property
    def random(self) -> RandomStreams: ...

    def own(self, kind: str, name: str, factory: Callable[[], _T]) -> _T:
        """What belongs to a node of this session alone, made the first time."""
        ...

    def function(self, name_or_attr: str | NameAttrList, fresh: bool = False) -> Callable[..., list[Value]]:
        """A function of the graph: `call(*values, step=step)`."""
        ...

    @property
    def functions(self) -> Functions: ...


class _Lock(Protocol):
    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...

    def release(self) -> None: ...


class Step(Protocol):
    """One run: its objects, and whether it should stop."""

    container: dict[Any, Any]
    locks: list[Any]

    def cancel(self) -> None:
        """Let it stop."""
        ...

    @property
    def cancelled(self) -> bool: ...

    def detached(self) -> Step:
        """For what goes on in a thread of its own when this run is over."""
        ...

    def check(self) -> None:
        """Raise when this run should stop."""
        ...

    def patience(self) -> float:
        """How long to wait, in seconds, before looking again whether this run should stop."""
        ...

    def wait_for(self, condition: threading.Condition, predicate: Callable[[], bool]) -> None: ...

    def holding(self, lock: _Lock) -> AbstractContextManager[None]: ...

    def sleep(self, seconds: float) -> None: ...
