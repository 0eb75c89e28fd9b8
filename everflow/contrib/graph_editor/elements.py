"""Operations and tensors in lists: making, checking and naming them; what feeds and follows them."""

from __future__ import annotations

import collections.abc

from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor
from everflow.ops.array import placeholder


class ListView(collections.abc.Sequence):
    """A list that can be read only."""

    def __init__(self, items):
        self._items = list(items)

    def __getitem__(self, index):
        return self._items[index]

    def __len__(self):
        return len(self._items)

    def __add__(self, other):
        return self._items + list(other)


def check_type(item, *kinds):
    """Raise TypeError where something is of another kind than those wanted."""
    if not isinstance(item, kinds):
        raise TypeError(f"Expected a {' or a '.join(kind.__name__ for kind in kinds)}, got: {type(item)}")


def flatten_tree(tree):
    """The leaves of nested lists, tuples and dicts."""
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in flatten_tree(value)]
    if isinstance(tree, (list, tuple, set, frozenset, ListView)):
        return [leaf for value in tree for leaf in flatten_tree(value)]
    return [tree]


def unique(*lists):
    """The items of all lists, each once, in order."""
    return list(dict.fromkeys(item for items in lists for item in items))


def unique_graph(items):
    """The graph that all are in; ValueError where they are in several, or there are none."""
    graphs = unique([item if isinstance(item, Graph) else item.graph for item in items])
    if not graphs:
        raise ValueError("Nothing was given, so there is no graph it could be in")
    if len(graphs) > 1:
        raise ValueError(f"Operation or tensor {items[-1]} does not belong to the same graph as the others")
    return graphs[0]


def _as_list(given, kind, ignored, check_graph, allow_graph, of_graph):
    if isinstance(given, Graph):
        if not allow_graph:
            raise TypeError("A list of operations or tensors is wanted here, not a whole tf.Graph")
        return of_graph(given)
    items = unique(flatten_tree(given))
    for item in items:
        check_type(item, kind, *ignored)
    if check_graph and items:
        unique_graph(items)
    return [item for item in items if isinstance(item, kind)]


def make_list_of_op(ops, check_graph=True, allow_graph=True, ignore_ts=False):
    """A flat list of operations, each once; of a graph, all of them."""
    return _as_list(ops, Operation, (Tensor,) if ignore_ts else (), check_graph, allow_graph, Graph.get_operations)


def make_list_of_t(ts, check_graph=True, allow_graph=True, ignore_ops=False):
    """A flat list of tensors, each once; of a graph, all of them."""
    return _as_list(ts, Tensor, (Operation,) if ignore_ops else (), check_graph, allow_graph, get_tensors)


def get_tensors(graph):
    """All tensors of a graph."""
    check_type(graph, Graph)
    return [tensor for op in graph.get_operations() for tensor in op.outputs]


def get_generating_ops(ts):
    """The operations that make some tensors."""
    return unique(t.op for t in make_list_of_t(ts, allow_graph=False))


def get_consuming_ops(ts):
    """The operations that take some tensors."""
    return unique(op for t in make_list_of_t(ts, allow_graph=False) for op in t.consumers())


class ControlOutputs:
    """Which operations wait for an operation. It is as of when it was made: `update` looks again."""

    def __init__(self, graph):
        check_type(graph, Graph)
        self._graph = graph
        self.update()

    graph = property(lambda self: self._graph)

    def update(self):
        """Look at the graph as it is now."""
        self._waiting = {}
        for op in self._graph.get_operations():
            for control_input in op.control_inputs:
                self._waiting.setdefault(control_input, []).append(op)
        return self

    def get_all(self):
        """A dict of operations that something waits for."""
        return self._waiting

    def get(self, op):
        """The operations that wait for this one."""
        return self._waiting.get(op, ())


def scope_finalize(scope):
    """A scope with its slash."""
    return f"{scope}/" if scope and scope[-1] != "/" else scope or ""


def placeholder_name(t=None, scope=None, prefix="geph"):
    """A name for a placeholder: that of a tensor `s/x:0` is `s/geph__x_0`."""
    if scope is not None:
        scope = scope_finalize(scope)
    if t is None:
        return f"{scope or ''}{prefix}"
    check_type(t, Tensor)
    folder, slash, base = t.op.name.rpartition("/")
    return f"{folder + slash if scope is None else scope}{prefix}__{base}_{t.value_index}"


def make_placeholder_from_tensor(t, scope=None, prefix="geph"):
    """A placeholder like a tensor."""
    return placeholder(dtype=t.dtype, shape=t.get_shape(), name=placeholder_name(t, scope=scope, prefix=prefix))


def make_placeholder_from_dtype_and_shape(dtype, shape=None, scope=None, prefix="geph"):
    """A placeholder of a type and shape."""
    return placeholder(dtype=dtype, shape=shape, name=placeholder_name(scope=scope, prefix=prefix))


ph = make_placeholder_from_dtype_and_shape
