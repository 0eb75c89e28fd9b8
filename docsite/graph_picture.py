"""A graph as an SVG: ops in layers from top to bottom, scopes closed from a given depth on."""

from __future__ import annotations

import html
from collections.abc import Iterable

from everflow.framework.graph import Graph

BOX, GAP, ROW = 34, 26, 74  # height of a box, space between two, height of a layer
_COLOURS = {"Placeholder": "#d9ead3", "VariableV2": "#fce5cd", "Const": "#eeeeee", "scope": "#d9d2e9"}


def draw(graph: Graph, depth: int = 99, only: Iterable[str] = ()) -> str:
    """The picture of a graph, or of the boxes that `only` names. Constants inside of closed scopes are left out."""
    kinds, edges = _nodes_and_edges(graph, depth)
    if only:
        kinds = {name: kinds[name] for name in kinds if name in set(only)}
        edges = {(a, b) for a, b in edges if a in kinds and b in kinds}
    layers = in_layers(kinds, edges)
    widths = {name: 18 + 7.6 * max(len(name.split("/")[-1]), 4) for name in kinds}
    total = max(sum(widths[name] + GAP for name in layer) for layer in layers) + GAP
    places = {}
    for row, layer in enumerate(layers):
        x = (total - sum(widths[name] + GAP for name in layer) + GAP) / 2
        for name in layer:
            places[name] = (x + widths[name] / 2, 12 + row * ROW)
            x += widths[name] + GAP
    parts = [_edge(places[a], places[b]) for a, b in sorted(edges)]
    parts += [_box(name, kinds[name], places[name], widths[name]) for name in kinds]
    height = 24 + (len(layers) - 1) * ROW + BOX
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total:.0f} {height}" width="{total:.0f}" height="{height}" '
        'font-family="sans-serif" font-size="13">\n'
        '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">'
        '<path d="M0,0 L7,3 L0,6 z" fill="#666"/></marker></defs>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _nodes_and_edges(graph: Graph, depth: int) -> tuple[dict[str, str], set[tuple[str, str]]]:
    """What is drawn (a box's name → its kind) and the arrows between boxes."""

    def box(name: str) -> str:
        return "/".join(name.split("/")[:depth])

    ops = graph.get_operations()
    scopes = {box(op.name) for op in ops if box(op.name) != op.name}
    ops = [op for op in ops if op.type != "Const" or op.name.count("/") < depth]
    kinds = {box(op.name): "scope" if box(op.name) in scopes else op.type for op in ops}
    edges = {(box(tensor.op.name), box(op.name)) for op in ops for tensor in op.inputs}
    return kinds, {(a, b) for a, b in edges if a != b and a in kinds and b in kinds}


def in_layers(kinds: Iterable[str], edges: set[tuple[str, str]]) -> list[list[str]]:
    """Boxes below all that they take from; in each layer below what they take, as far as that goes."""
    level = dict.fromkeys(kinds, 0)
    for _ in level:
        for a, b in edges:
            level[b] = max(level[b], level[a] + 1)
    layers: list[list[str]] = [[] for _ in range(max(level.values()) + 1)]
    for name in level:
        layers[level[name]].append(name)
    place = {name: i - len(layer) / 2 for layer in layers for i, name in enumerate(layer)}
    for layer in layers[1:]:
        above = {name: [place[a] for a, b in edges if b == name] for name in layer}
        layer.sort(key=lambda name: sum(above[name]) / max(len(above[name]), 1))
        place |= {name: i - len(layer) / 2 for i, name in enumerate(layer)}
    return layers


def _box(name: str, kind: str, place: tuple[float, float], width: float) -> str:
    x, y = place
    return (
        f'<rect x="{x - width / 2:.0f}" y="{y}" width="{width:.0f}" height="{BOX}" rx="8" '
        f'fill="{_COLOURS.get(kind, "#cfe2f3")}" stroke="#666"/>'
        f'<text x="{x:.0f}" y="{y + BOX / 2 + 5:.0f}" text-anchor="middle" fill="#222">{html.escape(name.split("/")[-1])}</text>'
    )


def _edge(a: tuple[float, float], b: tuple[float, float]) -> str:
    (x1, y1), (x2, y2) = (a[0], a[1] + BOX), b
    middle = (y1 + y2) / 2
    return f'<path d="M{x1:.0f},{y1} C{x1:.0f},{middle:.0f} {x2:.0f},{middle:.0f} {x2:.0f},{y2}" fill="none" stroke="#666" marker-end="url(#head)"/>'
