"""A graph as a picture for notebooks: scopes are boxes that unfold when they are clicked. The page needs nothing from
elsewhere; the script in it (`graph_view.js`) lays out what is open.
"""

from __future__ import annotations

import collections
import html
import importlib.resources
import json

from everflow.framework.graph import Graph

# More nodes than this would make notebooks slow to save: then scopes deep inside don't unfold.
_MOST = 3000


def page(graph: Graph, height: int = 420) -> str:
    """A frame with the picture, for an output cell."""
    script = importlib.resources.files(__package__).joinpath("graph_view.js").read_text()
    data = json.dumps(_tree(graph)).replace("</", "<\\/")  # a name can't end the script
    document = f"<!doctype html><meta charset=utf-8><body><script>const graph = {data};\n{script}</script></body>"
    style = f"box-sizing:border-box;width:100%;height:{height}px;border:1px solid #8884;border-radius:6px"
    return f'<iframe srcdoc="{html.escape(document)}" sandbox="allow-scripts" style="{style}"></iframe>'


def _tree(graph: Graph) -> dict:
    """{nodes: [[name, op type, shape of the first output]], edges: [[from, to, control]]}, with deep scopes as one node
    where there are too many.
    """
    ops = graph.get_operations()
    depth = _depth([op.name for op in ops])

    def shown(name: str) -> str:
        return "/".join(name.split("/")[:depth])

    nodes: dict[str, list] = {}
    for op in ops:
        kind = op.type if shown(op.name) == op.name else "scope"
        nodes.setdefault(shown(op.name), [shown(op.name), kind, str(op.outputs[0].shape) if op.outputs else ""])
    edges = {(shown(t.op.name), shown(op.name), 0) for op in ops for t in op.inputs}
    edges |= {(shown(c.name), shown(op.name), 1) for op in ops for c in op.control_inputs}
    return {"nodes": list(nodes.values()), "edges": sorted([a, b, c] for a, b, c in edges if a != b)}


def _depth(names: list[str]) -> int:
    """How many parts of names are shown so that there aren't too many nodes."""
    longest = max((name.count("/") + 1 for name in names), default=1)
    for depth in range(longest, 1, -1):
        if len(collections.Counter("/".join(name.split("/")[:depth]) for name in names)) <= _MOST:
            return depth
    return 1
