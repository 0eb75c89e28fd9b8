"""Nested `control_dependencies` scopes: which ops a new op must run after. And scopes that every thread has for itself."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar

from everflow.framework.operation import Operation, Tensor

if TYPE_CHECKING:
    from everflow.framework.graph import Graph


class _Scope:
    """One `with control_dependencies(...)`: its ops, and the ops made inside, which imply them."""

    def __init__(self, control_inputs: list[Operation]) -> None:
        self.control_inputs = control_inputs
        self.made_inside = set()


class ControlDependencies:
    """The stack of open scopes of one graph."""

    def __init__(self) -> None:
        self._scopes: list[_Scope] = []

    def copied(self) -> ControlDependencies:
        """The same open scopes, to which others may be added."""
        made = ControlDependencies()
        made._scopes = list(self._scopes)
        return made

    def current(self) -> set[Operation]:
        """All ops that the open scopes name."""
        return {op for scope in self._scopes for op in scope.control_inputs}

    def for_inputs(self, input_ops: set[Operation]) -> list[Operation]:
        """The control inputs of a new op: a scope adds none where an input was made inside it and so implies them."""
        found = []
        for scope in self._scopes:
            if scope.made_inside.isdisjoint(input_ops):
                found.extend(op for op in scope.control_inputs if op not in input_ops)
        return list(dict.fromkeys(found))

    def record(self, op: Operation) -> None:
        """Note a new op in every open scope."""
        for scope in self._scopes:
            scope.made_inside.add(op)

    def entered(self, graph: Graph, control_inputs: Iterable[Any] | None) -> AbstractContextManager[None]:
        """Open a scope on these (ops, tensors, names, variables); None hides all open ones and the control flow
        context.
        """
        if control_inputs is None:
            return self._hidden(graph)
        return self._opened(_Scope(self._new_ops(graph, control_inputs)))

    @contextlib.contextmanager
    def _hidden(self, graph: Graph) -> Iterator[None]:
        saved, self._scopes = self._scopes, []
        context = graph._get_control_flow_context()
        graph._set_control_flow_context(None)
        try:
            yield
        finally:
            self._scopes = saved
            graph._set_control_flow_context(context)

    @contextlib.contextmanager
    def _opened(self, scope: _Scope) -> Iterator[None]:
        self._scopes.append(scope)
        try:
            yield
        finally:
            self._scopes = [s for s in self._scopes if s is not scope]

    def _new_ops(self, graph: Graph, control_inputs: Iterable[Any]) -> list[Operation]:
        present, new = self.current(), []
        for item in control_inputs:
            op = _operation_of(graph, item)
            if op not in present:
                present.add(op)
                new.append(op)
        return new


def _operation_of(graph: Graph, item: Any) -> Operation:
    # A resource variable stands for its handle, so that waiting for it reads nothing.
    if hasattr(item, "dense_shape") or hasattr(item, "_handle"):
        return item.op
    item = graph.as_graph_element(item)
    if isinstance(item, Tensor):
        return item.op
    if isinstance(item, Operation):
        return item
    raise TypeError(f"Control input must be Operation or Tensor: {item}")


def give_threads_scopes(graph: Graph) -> None:
    """From here on every thread has scopes of its own in a graph; those that are open stay open in this thread."""
    if not isinstance(graph, _ScopesOfThreads):
        open_here = {name: getattr(graph, name) for name in _ScopesOfThreads.fresh}
        graph.__class__ = type(type(graph).__name__, (_ScopesOfThreads, type(graph)), {})
        graph._of_thread = threading.local()
        graph._of_thread.__dict__.update(open_here)


class _ScopeOfThread:
    """An attribute of a graph of which every thread has its own."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, graph: Graph, kind: type) -> Any:
        return graph._of_thread.__dict__.setdefault(self._name, _ScopesOfThreads.fresh[self._name]())

    def __set__(self, graph: Graph, value: Any) -> None:
        setattr(graph._of_thread, self._name, value)


class _ScopesOfThreads:
    """Mix-in of graphs after `switch_to_thread_local`; other graphs don't pay for what few programs ask for."""

    fresh: ClassVar[dict[str, Callable[[], Any]]] = {
        "_name_stack": str,
        "_device_stack": list,
        "_colocation_stack": list,
        "_control": ControlDependencies,
    }


for _name in _ScopesOfThreads.fresh:
    setattr(_ScopesOfThreads, _name, _ScopeOfThread(_name))
