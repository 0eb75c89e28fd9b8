"""A plan told to a person: what each stage did, and the code that came out."""

from __future__ import annotations

from everflow.runtime.plan.program import FEED, VALUE


def explain(plan) -> str:
    """The stages of a plan as text.

    >>> print(sess.explain(loss, [x, y]))
    prune: 7 of 31 nodes ...
    """
    program = plan.program
    graph = next((n.op.graph for n in program.nodes), None)
    total = len(graph.get_operations()) if graph is not None else 0
    kept = [n for n in program.nodes if n.type not in (FEED, VALUE)]
    lines = [f"prune: {len(kept)} of {total} nodes left, {len(program.feeds)} fed"]
    lines.append("rewrite: " + (", ".join(f"{name} {count}" for name, count in plan.changes.items()) or "nothing to do"))
    lines.append("place, partition:")
    lines += [f"  {device}: {len(nodes)} nodes" for device, nodes in plan.partitions.by_device.items()]
    schedule = plan.schedule
    lines.append(f"schedule: {schedule.delayed} writes moved after uses, {len(schedule.copies)} reads copied")
    lines.append("emit:")
    numbers = {}
    for number, line in enumerate(plan.emitted.source.splitlines(), 1):
        node = plan.emitted.node_at(number)
        comment = ""
        if node is not None and node.index not in numbers:
            numbers[node.index] = True
            comment = f"  # {node.name} ({node.type})"
        lines.append(f"  {line}{comment}")
    return "\n".join(lines)
