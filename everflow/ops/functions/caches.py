"""The traces of a function as programs look at them: by keys that tell what each is for."""

from __future__ import annotations

import weakref
from collections import OrderedDict, namedtuple

from everflow.framework.scopes import outermost

# What tells traces of a function apart: the kind of its arguments, and in programs that draw graphs the graph it is
# called in.
CacheKey = namedtuple(
    "CacheKey", ["input_signature", "parent_graph", "device_functions", "colocation_stack", "in_cross_replica_context"]
)


def _parent(graph):
    return None if outermost(graph).executes else weakref.ref(graph)


class FunctionCache:
    """A function's traces as they are now: by kinds of arguments, and those that leave sizes open."""

    def __init__(self, traces_by_graph):
        self._traces_by_graph = traces_by_graph

    @staticmethod
    def key(kind, graph):
        """The key of a trace for arguments of a kind, in a graph."""
        return CacheKey(kind, _parent(graph), (), (), False)

    def _kept(self, relaxed):
        """{key: trace} of all traces of one sort; a relaxed one comes with the shapes it is for."""
        return OrderedDict(
            (self.key(kind, graph), trace)
            for graph, traces in self._traces_by_graph.items()
            for kind, trace in traces.items()
            if isinstance(trace, tuple) == relaxed
        )

    missed = property(lambda self: set(self._traces_by_graph), doc="The graphs in which it was called.")
    primary = property(lambda self: self._kept(relaxed=False))

    @property
    def arg_relaxed_shapes(self):
        return OrderedDict((kind, shapes) for kind, (shapes, _) in self._kept(relaxed=True).items())

    @property
    def arg_relaxed(self):
        return OrderedDict((kind, trace) for kind, (_, trace) in self._kept(relaxed=True).items() if trace is not None)

    def all_values(self):
        return {*self.primary.values(), *self.arg_relaxed.values()}
