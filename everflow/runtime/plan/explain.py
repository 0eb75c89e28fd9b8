"""A plan told to a person: what each stage did, what each rule changed, and the code that came out; for every plan that
a run has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from everflow.kernels.facts import Memory
from everflow.runtime.plan.lifetimes import find_releases
from everflow.runtime.plan.program import FEED, LOOP, VALUE, Edge, Program

if TYPE_CHECKING:
    from everflow.runtime.hints import PlanFunction

# Longer stories are cut: a graph of ten thousand nodes has as many changes.
MOST_CHANGES = 200


class Explanation(str):
    """The stages of a plan as text; notebooks show it as such, too."""

    __slots__ = ()


def explain(plan: Any, journal: Sequence[tuple[str, str, str]] = ()) -> Explanation:
    """The stages of a plan as text; `journal` says what its rules changed, where somebody wrote that down.

    >>> print(sess.explain(loss, [x, y]))
    prune: 7 of 31 nodes ...
    """
    shaped = getattr(plan, "plans", None)
    if shaped is None:
        return Explanation("\n".join(_lines(plan, journal)))
    parts = ["\n".join(_lines(plan.general, journal))]
    for key, special in shaped.items():
        names = [feed.name for feed in plan.program.feeds]
        shapes = ", ".join(f"{names[i]} {list(shape)}" for i, shape in plan.shapes_of(key).items())
        parts.append("\n".join([f"for {shapes}:", *(f"  {line}" for line in _lines(special, ()))]))
    return Explanation("\n".join(parts))


def _lines(plan: Any, journal: Sequence[tuple[str, str, str]]) -> list[str]:
    program = plan.program
    if not hasattr(plan, "emitted"):
        return [f"{len(program.nodes)} nodes run token by token: their control flow is not that of loops and branches"]
    graph = next((n.op.graph for n in program.nodes() if n.op is not None), None)
    total = len(graph.get_operations()) if graph is not None else 0
    lines = [f"prune: {program.size_before} of {total} nodes left, {len(program.feeds)} fed"]
    lines += [f"  {device}: {len(nodes)} nodes" for device, nodes in program.devices.items()]
    lines.append(f"schedule: {program.delayed} writes moved after uses, {plan.copies} reads copied")
    lines.append(
        "rewrite: " + (", ".join(f"{name} {count}" for name, count in plan.changes.items()) or "nothing to do")
    )
    lines += [f"  {rule}: {before} → {after}" for rule, before, after in journal[:MOST_CHANGES]]
    if len(journal) > MOST_CHANGES:
        lines.append(f"  and {len(journal) - MOST_CHANGES} more")
    lines.append(f"threads: {threads_of(plan.function)}")
    lines.append(f"memory: {memory_text(program)}")
    lines.append("emit:")
    told: set[int] = set()
    for number, line in enumerate(plan.emitted.source.splitlines(), 1):
        node = plan.emitted.node_at(number)
        comment = ""
        if node is not None and node.index not in told:
            told.add(node.index)
            comment = f"  # {node.name} ({node.type})"
        lines.append(f"  {line}{comment}")
    return lines


def threads_of(function: PlanFunction) -> str:
    """How many threads a plan's function takes, as far as that is decided."""
    return str(getattr(function, "threads", "as whoever calls it has"))


def memory_text(program: Program) -> str:
    """The most memory that values of a run take at once, as far as shapes are known."""
    peak, unknown = memory_peak(program)
    text = f"{peak / 1e6:.1f} MB of values at once" if peak >= 1e5 else f"{peak / 1e3:.1f} kB of values at once"
    return text + (f", besides {unknown} of unknown shape" if unknown else "")


def memory_peak(program: Program) -> tuple[int, int]:
    """Bytes that values of known shape take at most at one time, and how many values have none; one round of each loop
    counts.
    """
    releases = find_releases(program, _itself, lambda edge: edge[0].type not in (FEED, VALUE, "Const"))
    now = peak = unknown = 0
    for node in program.nodes():
        for output in range(len(node.output_dtypes)):
            size = _size((node, output))
            unknown += size is None and node.is_used()
            now += size or 0
        peak = max(peak, now)
        for edge in [*releases.sure.get(node, ()), *releases.maybe.get(node, ())]:
            now -= _size(edge) or 0
    return peak, unknown


def _itself(edge: Edge) -> Edge:
    return edge


def _size(edge: Edge) -> int | None:
    """The bytes of a value's own memory: none where it is somebody else's, None where its shape is not known."""
    node, output = edge
    if node.facts.result.memory is not Memory.FRESH or node.type in (FEED, VALUE, "Const", LOOP):
        return 0
    shape, dtype = node.shape(output), node.output_dtypes[output].base_dtype
    return None if shape is None else math.prod(shape) * (dtype.size or 8)
