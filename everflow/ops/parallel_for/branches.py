"""What a branch becomes for many elements at once: both sides for all of them, of which each takes its own."""

from __future__ import annotations

from typing import Any

from everflow.framework.functions import body_of
from everflow.framework.importer import import_graph_def
from everflow.framework.scopes import name_scope
from everflow.ops import array
from everflow.ops.parallel_for.vectorizer import Inputs, Value, stacked


def branch(inputs: Inputs) -> list[Value]:
    """A StatelessIf whose sides are functions: nobody sees that the other side is computed as well."""
    if not inputs.is_stacked(0) or inputs.tensor(0).shape.rank != 1:
        raise ValueError("A condition for all elements, or several for each")
    then, otherwise = (_side(inputs, inputs.attrs[name].name) for name in ("then_branch", "else_branch"))
    return [_chosen(inputs, *pair) for pair in zip(then, otherwise, strict=True)]


def _side(inputs: Inputs, name: str) -> list[Value]:
    """The results of one side for all elements: its body, drawn for one here, is gone through as what is around it."""
    graph, vectorizer = inputs.op.graph, inputs.vectorizer
    function = graph._functions[name]
    given = inputs.values[1:]
    body = body_of(function.definition, function._library, shapes=[t.shape for t in inputs.op.inputs[1:]])
    if body.controls:
        raise ValueError("A side of a branch has ops that run in any case")
    with name_scope("side"):
        stand_ins = [array.placeholder(t.dtype, t.shape) for t in body.inputs]
    results: Any = import_graph_def(
        body.graph.as_graph_def(),
        {tensor.name: stand_in for tensor, stand_in in zip(body.inputs, stand_ins, strict=True)},
        [t.name for t in body.outputs],
        name="side",
    )
    vectorizer.also(_ops_behind(results, set(stand_ins)), dict(zip(stand_ins, given, strict=True)))
    return [vectorizer.value_of(t) for t in results]


def _ops_behind(results: list, stand_ins: set) -> list:
    """The ops that results are computed by, from what stands for inputs."""
    found, waiting = {}, [t.op for t in results if t not in stand_ins]
    while waiting:
        op = waiting.pop()
        if op not in found:
            found[op] = None
            waiting += [t.op for t in op.inputs if t not in stand_ins] + list(op.control_inputs)
    return list(found)


def _chosen(inputs: Inputs, then: Value, otherwise: Value) -> Value:
    for value in (then, otherwise):
        if not isinstance(value, Value):
            raise ValueError("A side of a branch gives lists of different lengths")
    sides = [v.tensor if v.stacked else inputs.vectorizer.repeated(v.tensor) for v in (then, otherwise)]
    rank = sides[0].shape.rank
    if rank is None or sides[1].shape.rank != rank:
        raise ValueError("Results of unknown, or different, ranks")
    condition = array.reshape(inputs.tensor(0), [-1] + [1] * (rank - 1))
    return stacked(array.where_v2(condition, *sides))
