"""Bodies of graph functions as plans: what `PartitionedCall`, a function used as an op, and datasets' functions call."""

from __future__ import annotations

from everflow.framework import errors
from everflow.runtime.state import Step


def compile_function(name: str, graph, session, placer, rules):
    """A callable on kernel values for a function of the graph: `call(*values, step=step)` returns the list of results."""
    from everflow.runtime.plan.compile import compile_shaped

    function = graph._functions.get(name) or session.derivatives.get(name)
    if function is None:
        raise errors.NotFoundError(None, None, f"Function {name} is not defined.")
    inputs, outputs = function.body_tensors()
    controls = function.body_controls()
    plan = compile_shaped([*outputs, *controls], list(inputs), session.for_function(), placer, rules, to_numpy=False)
    count = len(outputs)

    def call(*values, step: Step | None = None) -> list:
        results = plan(values, step)
        return results[:count] if controls else results

    return call
