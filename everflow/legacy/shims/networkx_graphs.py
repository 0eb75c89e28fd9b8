"""What networkx 2 had, which graph networks of TensorFlow 1's years use: ordered graphs, `graph.node`, numpy's matrices."""

from __future__ import annotations

import functools

import numpy as np

from everflow.legacy.shims.on_import import when_imported


def _ordered(graph):
    """A kind of graph under its old name; every graph keeps nodes and edges in the order in which they came."""
    name = "Ordered" + graph.__name__
    return type(name, (graph,), {"__module__": "networkx", "__doc__": f"{graph.__name__}, whose order is kept."})


def _to_matrix(to_array):
    @functools.wraps(to_array)
    def to_numpy_matrix(*args, **kwargs):
        return np.asmatrix(to_array(*args, **kwargs))

    return to_numpy_matrix


def _from_matrix(from_array):
    @functools.wraps(from_array)
    def from_numpy_matrix(A, *args, **kwargs):
        return from_array(np.asarray(A), *args, **kwargs)

    return from_numpy_matrix


def _change(networkx) -> None:
    for kind in ("Graph", "DiGraph", "MultiGraph", "MultiDiGraph"):
        if not hasattr(networkx, "Ordered" + kind):
            setattr(networkx, "Ordered" + kind, _ordered(getattr(networkx, kind)))
    if not hasattr(networkx.Graph, "node"):
        networkx.Graph.node = property(lambda self: self.nodes, doc="The graph's nodes: `graph.nodes`.")
    if not hasattr(networkx, "to_numpy_matrix"):
        networkx.to_numpy_matrix = _to_matrix(networkx.to_numpy_array)
        networkx.from_numpy_matrix = _from_matrix(networkx.from_numpy_array)


def bring_back() -> None:
    when_imported("networkx", _change)
